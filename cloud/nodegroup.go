package cloud

import "maps"

// NodeGroup is a group of equal nodes to be made: an EKS managed node group,
// a GKE node pool. Zero fields mean the documented defaults.
type NodeGroup struct {
	Name string
	// MachineType is the instance type. Default: t3.xlarge on AWS, e2-standard-4 on Google.
	MachineType string
	// Min and Max bound the number of nodes, Desired is where it starts.
	// Default: 2, 2 and 4 (a control plane with two flyteadmin replicas needs
	// a third node to roll; the autoscaler adds it). On GKE per zone.
	Min, Desired, Max int
	// DiskGiB is the size of a node's disk. Default: the cloud's.
	DiskGiB int
	// Spot buys interruptible capacity.
	Spot bool
	// Labels are Kubernetes labels of the nodes, Taints their taints.
	Labels map[string]string
	Taints []Taint
}

// Taint is a Kubernetes taint. Effect is spelled as Kubernetes does: "NoSchedule".
type Taint struct {
	Key, Value, Effect string
}

// DefaultNodeGroup is one group named "default" with the defaults of [NodeGroup].
func DefaultNodeGroup() NodeGroup { return NodeGroup{Name: "default"} }

// WithDefaults fills in sizes that are not set, and the machine type of the provider.
func (g NodeGroup) WithDefaults(provider Provider) NodeGroup {
	if g.MachineType == "" {
		g.MachineType = map[Provider]string{AWS: "t3.xlarge", GCP: "e2-standard-4"}[provider]
	}
	if g.Min == 0 && g.Desired == 0 && g.Max == 0 {
		g.Min, g.Desired, g.Max = 2, 2, 4
	}
	if g.Desired == 0 {
		g.Desired = g.Min
	}
	if g.Max == 0 {
		g.Max = max(g.Min, g.Desired)
	}
	g.Labels = maps.Clone(g.Labels)
	return g
}
