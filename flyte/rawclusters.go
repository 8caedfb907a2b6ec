package flyte

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
)

// clusterFields are what flyteadmin reads of an entry of clusterConfigs. It
// drops anything else without a word.
func clusterFields() map[string][]string {
	return map[string][]string{
		"":                 {"name", "endpoint", "enabled", "inCluster", "auth", "kubeClientConfig"},
		"auth":             {"tokenPath", "certPath"},
		"kubeClientConfig": {"qps", "burst", "timeout"},
	}
}

// validateRawClusters checks what raw values make of the clusters: they lie
// over what the data planes and the label map say.
func (d Deployment) validateRawClusters(p *planewright.Problems, path string) {
	raw, ok := d.rawLayer().Get("configmap.clusters")
	if !ok {
		return
	}
	path += ".configmap.clusters"
	own := map[string]string{}
	for _, plane := range d.dataplanes {
		own[plane.name] = "https://" + strings.ToLower(foldName(plane.name)) + ".example"
	}
	over, ok := asMap(raw)
	if !ok && raw != nil {
		p.Add(path, fmt.Sprint(raw), "it is a map of clusterConfigs, labelClusterMap and defaultExecutionLabel", "write these below it")
		return
	}
	if value := over["clusterConfigs"]; value != nil {
		if _, ok := value.([]any); !ok {
			p.Add(path+".clusterConfigs", fmt.Sprint(value), "it is a list of clusters", "write each as an item, with name, endpoint, enabled and auth")
			return
		}
	}
	if value := over["labelClusterMap"]; value != nil {
		if _, ok := asMap(value); !ok {
			p.Add(path+".labelClusterMap", fmt.Sprint(value), "it is a map of labels to lists of clusters with their weights", "write each label as a key")
			return
		}
	}
	merged := kube.Values(d.clusterValues(own)).Merge(over)
	configs, _ := merged["clusterConfigs"].([]any)
	enabled := validateRawConfigs(p, path+".clusterConfigs", configs)
	labels, _ := asMap(merged["labelClusterMap"])
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		at := path + ".labelClusterMap." + name
		validateLabelName(p, at, name)
		entries, _ := labels[name].([]any)
		validateRawWeights(p, at, entries, enabled)
	}
	if label, ok := merged["defaultExecutionLabel"].(string); ok && label != "" && labels[label] == nil {
		p.Add(path+".defaultExecutionLabel", label, "there is no such label, and executions without one would run anywhere", "use a label of labelClusterMap")
	}
}

// validateRawConfigs checks the clusters and returns the names of those that take executions.
func validateRawConfigs(p *planewright.Problems, path string, configs []any) (enabled []string) {
	names := map[string]bool{}
	for i, item := range configs {
		at := fmt.Sprintf("%s[%d]", path, i)
		config, ok := asMap(item)
		if !ok {
			p.Add(at, fmt.Sprint(item), "a cluster is a map of fields", "write name, endpoint, enabled and auth")
			continue
		}
		validateFields(p, at, config, "")
		for _, below := range []string{"auth", "kubeClientConfig"} {
			if fields, ok := asMap(config[below]); ok {
				validateFields(p, at+"."+below, fields, below)
			}
		}
		name, _ := config["name"].(string)
		validateExecutor(p, at+".name", name)
		if names[foldName(name)] {
			p.Add(at+".name", name, fmt.Sprintf("duplicate cluster name %q: flyteadmin does not start", name), "name each cluster once")
		}
		names[foldName(name)] = true
		on, isSet := config["enabled"].(bool)
		if !isSet {
			p.Add(at+".enabled", "", "a cluster that does not say so is not used", "write enabled: true, beside name")
		}
		if on {
			enabled = append(enabled, name)
		}
		endpoint, _ := config["endpoint"].(string)
		inCluster, _ := config["inCluster"].(bool)
		switch problem := endpointProblem(endpoint); {
		case inCluster && (endpoint != "" || config["auth"] != nil):
			p.Add(at+".inCluster", "true", "flyteadmin then uses its own cluster, whatever endpoint and auth say", "leave endpoint and auth out")
		case !inCluster && problem != "":
			p.Add(at+".endpoint", endpoint, problem, "write the URL of the cluster's API server")
		}
	}
	return enabled
}

func validateFields(p *planewright.Problems, path string, fields map[string]any, kind string) {
	known := clusterFields()[kind]
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, key) {
			p.Add(path+"."+key, fmt.Sprint(fields[key]), "flyteadmin reads no such field here, and drops it", "use "+joinOr(known)+", or mend the indentation")
		}
	}
}

// tolerated is how far a label's weights may be from 1: flyteadmin divides by
// their sum, so that a sum that is far off is more likely a slip than a wish.
const tolerated = 0.02

func validateRawWeights(p *planewright.Problems, path string, entries []any, enabled []string) {
	sum := 0.0
	seen := map[string]bool{}
	for i, item := range entries {
		at := fmt.Sprintf("%s[%d]", path, i)
		entry, _ := asMap(item)
		id, _ := entry["id"].(string)
		switch {
		case !slices.Contains(enabled, id):
			p.Add(at+".id", id, "flyteadmin skips a cluster that it does not know or that takes no executions", orAny(enabled, "enable it"))
		case seen[id]:
			p.Add(at+".id", id, "a label names a cluster once", "add the weights up")
		}
		seen[id] = true
		weight, ok := fraction(entry["weight"])
		if !ok || weight < 0 || weight > 1 {
			p.Add(at+".weight", fmt.Sprint(entry["weight"]), "a weight is a number from 0 to 1; with any other flyteadmin does not start", "write 0.3 for 30 percent")
			return
		}
		sum += weight
	}
	if math.Abs(sum-1) > tolerated {
		p.Add(path, fmt.Sprint(sum), "the weights of a label add up to 1", "make them so, or use WithLabelMap, which takes whole numbers")
	}
}

// fraction is a number as YAML holds it.
func fraction(value any) (float64, bool) {
	switch n := value.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

// rawWeightFindings tell of labels whose weights nearly add up to 1.
func (d Deployment) rawWeightFindings() []planewright.Finding {
	raw, _ := d.rawLayer().Get("configmap.clusters.labelClusterMap")
	labels, _ := asMap(raw)
	var findings []planewright.Finding
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		entries, _ := labels[name].([]any)
		sum := 0.0
		for _, item := range entries {
			entry, _ := asMap(item)
			weight, _ := fraction(entry["weight"])
			sum += weight
		}
		if off := math.Abs(sum - 1); off > 1e-6 && off <= tolerated {
			findings = append(findings, planewright.Finding{Severity: planewright.SeverityInfo, Code: CodeWeights,
				Cause: fmt.Sprintf("the weights of label %s add up to %v; flyteadmin divides by that", name, sum),
				Fix:   "make them add up to 1"})
		}
	}
	return findings
}
