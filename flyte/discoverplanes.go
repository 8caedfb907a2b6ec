package flyte

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/planewright/planewright/kube"
	"sigs.k8s.io/yaml"
)

// clusterFile is clusters.yaml as flyteadmin reads it.
type clusterFile struct {
	Clusters struct {
		ClusterConfigs []struct {
			Name, Endpoint     string
			Enabled, InCluster bool
		}
		LabelClusterMap map[string][]struct {
			ID     string
			Weight float64
		}
		DefaultExecutionLabel string
	}
}

func (d *discoverer) dataplanes(ctx context.Context, found Deployment) (Deployment, error) {
	files, err := d.configFiles(ctx, "flyte-admin-clusters-config")
	if err != nil {
		return found, err
	}
	var file clusterFile
	if !readInto(files["clusters.yaml"], &file) {
		d.note("clusters.yaml cannot be read; use WithDataplanes and WithLabelMap")
		return found, nil
	}
	for _, config := range file.Clusters.ClusterConfigs {
		if config.InCluster {
			found = found.WithControlPlane(found.control.WithExecution(config.Name))
			continue
		}
		cluster, err := d.clusterAt(ctx, config.Endpoint)
		if err != nil {
			return found, err
		}
		plane := NewDataplane(config.Name, cluster.Name)
		if cluster.Name == "" {
			d.note("no cluster of the Env has the endpoint %s of data plane %s; add it, or use WithEndpoint", config.Endpoint, config.Name)
		} else if plane, err = d.planeOn(ctx, plane, cluster); err != nil {
			return found, err
		}
		if !config.Enabled {
			plane = plane.WithoutNewExecutions()
		}
		found = found.WithDataplanes(plane)
	}
	labels := NewLabelMap().WithDefault(file.Clusters.DefaultExecutionLabel)
	names := make([]string, 0, len(file.Clusters.LabelClusterMap))
	for name := range file.Clusters.LabelClusterMap {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		var shares []float64
		for _, entry := range file.Clusters.LabelClusterMap[name] {
			shares = append(shares, entry.Weight)
		}
		var weights []ClusterWeight
		for i, whole := range wholeWeights(shares) {
			weights = append(weights, Weight(file.Clusters.LabelClusterMap[name][i].ID, whole))
		}
		labels = labels.WithLabel(name, weights...)
	}
	if len(names) > 0 {
		found = found.WithLabelMap(labels)
	}
	return found, nil
}

// readInto reads values into a struct, and tells whether it could.
func readInto(values kube.Values, target any) bool {
	data, err := json.Marshal(values)
	return err == nil && yaml.Unmarshal(data, target) == nil
}

// wholeWeights are the smallest whole numbers in the proportion of shares,
// which are taken to a thousandth.
func wholeWeights(shares []float64) []int {
	weights := make([]int, len(shares))
	divisor := 0
	for i, share := range shares {
		weights[i] = int(math.Round(share * 1000))
		divisor = greatestDivisor(divisor, weights[i])
	}
	for i := range weights {
		if divisor > 0 {
			weights[i] /= divisor
		}
	}
	return weights
}

func greatestDivisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// clusterAt finds the cluster of the Env with an endpoint, by its cloud or its handle.
func (d *discoverer) clusterAt(ctx context.Context, endpoint string) (kube.Cluster, error) {
	for _, cluster := range d.env.clusters {
		if cluster.Name == d.control.Name {
			continue
		}
		at, err := cluster.Facts.Endpoint(ctx)
		if err == nil && sameEndpoint(at.URL, endpoint) {
			return cluster, nil
		}
		if where, ok := d.env.clouds[cluster.Name]; ok && where.Account.Clusters != nil {
			described, err := where.Account.Clusters.Describe(ctx, where.Name)
			if err != nil {
				return kube.Cluster{}, err
			}
			if sameEndpoint(described.Endpoint, endpoint) {
				return cluster, nil
			}
		}
	}
	return kube.Cluster{}, nil
}

// sameEndpoint compares URLs of API servers; 443 goes without saying.
func sameEndpoint(a, b string) bool {
	normal := func(url string) string {
		return strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(url, "/"), ":443"))
	}
	return a != "" && normal(a) == normal(b)
}

// planeOn reads a data plane's release and identity.
func (d *discoverer) planeOn(ctx context.Context, plane Dataplane, cluster kube.Cluster) (Dataplane, error) {
	list, err := cluster.Releases.List(ctx, d.namespace)
	if err != nil {
		return plane, err
	}
	for _, state := range list {
		if state.Chart == coreChart {
			plane = plane.WithRelease(state.Name)
		}
	}
	identity, err := d.identity(ctx, cluster, string(FlytePropeller))
	return plane.WithIdentity(identity), err
}
