package flyte

import "slices"

// executor is a cluster that runs workflows, as flyteadmin's clusterConfigs name it.
type executor struct {
	name, cluster string
	// inCluster marks the control plane's own.
	inCluster bool
	enabled   bool
}

// executors are the clusters that run workflows: the control plane's own first,
// then the data planes in their order.
func (d Deployment) executors() []executor {
	var list []executor
	if d.control.executes != "" {
		list = append(list, executor{d.control.executes, d.control.cluster, true, true})
	}
	for _, p := range d.dataplanes {
		list = append(list, executor{p.name, p.cluster, false, !p.disabled})
	}
	return list
}

// enabledExecutors are the names of those that take new executions.
func (d Deployment) enabledExecutors() []string {
	var names []string
	for _, e := range d.executors() {
		if e.enabled {
			names = append(names, e.name)
		}
	}
	return names
}

// defaultLabel is the one label of a deployment that names none and has one
// cluster to run on. flyteadmin mounts the credentials for other clusters only
// where there is a label.
const defaultLabel = "default"

// effectiveLabels are the labels that flyteadmin is given.
func (d Deployment) effectiveLabels() LabelMap {
	m := d.labels
	if len(m.labels) == 0 {
		if enabled := d.enabledExecutors(); len(enabled) == 1 && len(d.dataplanes) > 0 {
			return NewLabelMap().WithLabel(defaultLabel, Weight(enabled[0], 1)).WithDefault(defaultLabel)
		}
	}
	return m
}

// clusterValues are the values of configmap.clusters. Without a data plane
// there are none: flyteadmin then runs everything in its own cluster.
func (d Deployment) clusterValues(endpoints map[string]string) map[string]any {
	if len(d.dataplanes) == 0 {
		return nil
	}
	var configs []any
	for _, e := range d.executors() {
		if e.inCluster {
			configs = append(configs, map[string]any{"name": e.name, "enabled": true, "inCluster": true})
			continue
		}
		configs = append(configs, map[string]any{
			"name":     e.name,
			"endpoint": endpoints[e.name],
			"enabled":  e.enabled,
			"auth": map[string]any{
				"tokenPath": credentialsMount + "/" + tokenKeyOf(e.name),
				"certPath":  credentialsMount + "/" + caKeyOf(e.name),
			},
		})
	}
	labels := d.effectiveLabels()
	byLabel := map[string]any{}
	for _, l := range labels.labels {
		var list []any
		for i, share := range l.decimals() {
			list = append(list, map[string]any{"id": l.weights[i].Cluster, "weight": number(share)})
		}
		byLabel[l.name] = list
	}
	values := map[string]any{"clusterConfigs": configs, "labelClusterMap": byLabel}
	if labels.defaultLabel != "" {
		values["defaultExecutionLabel"] = labels.defaultLabel
	}
	return values
}

// number is a whole number where the share is one, so that it prints as "1".
func number(share float64) any {
	if share == float64(int64(share)) {
		return int64(share)
	}
	return share
}

// tokenKeyOf and caKeyOf are the keys of the credentials for a data plane.
func tokenKeyOf(name string) string { return name + "_token" }
func caKeyOf(name string) string    { return name + "_cacert" }

const (
	// credentialsSecret and credentialsMount are fixed in the chart's template
	// of syncresources.
	credentialsSecret = "cluster-credentials"
	credentialsMount  = "/var/run/credentials"
)

// dataplane returns the data plane of the given name.
func (d Deployment) dataplane(name string) (Dataplane, bool) {
	i := slices.IndexFunc(d.dataplanes, func(p Dataplane) bool { return p.name == name })
	if i < 0 {
		return Dataplane{}, false
	}
	return d.dataplanes[i], true
}
