package cloud

import (
	"maps"
	"slices"
)

// ClusterSpec is a cluster to be made. Start with [NewCluster].
type ClusterSpec struct {
	name, version, network string
	subnets                []string
	private                bool
	groups                 []NodeGroup
	noGroups               bool
	clusterRole, nodeRole  string
	labels                 map[string]string
	protect                bool
}

// NewCluster describes a cluster of the given name in the account that makes
// it, with one node group, [DefaultNodeGroup].
func NewCluster(name string) ClusterSpec { return ClusterSpec{name: name} }

// WithVersion sets the Kubernetes version ("1.33"). By default the cloud chooses.
func (s ClusterSpec) WithVersion(version string) ClusterSpec {
	s.version = version
	return s
}

// WithSubnets adds the subnets of the nodes and the control plane's
// interfaces. EKS needs at least two in different availability zones and
// private ones are right; GKE takes one, by its name.
func (s ClusterSpec) WithSubnets(subnets ...string) ClusterSpec {
	s.subnets = append(slices.Clone(s.subnets), subnets...)
	return s
}

// WithNetwork sets the VPC network on GKE. On EKS the subnets determine it.
func (s ClusterSpec) WithNetwork(network string) ClusterSpec {
	s.network = network
	return s
}

// WithPrivateEndpoint makes the API server reachable only from inside the network.
func (s ClusterSpec) WithPrivateEndpoint() ClusterSpec {
	s.private = true
	return s
}

// WithNodeGroups adds node groups, instead of the default one.
func (s ClusterSpec) WithNodeGroups(groups ...NodeGroup) ClusterSpec {
	s.groups = append(slices.Clone(s.groups), groups...)
	return s
}

// WithoutNodeGroups makes no node group: the nodes come from elsewhere.
func (s ClusterSpec) WithoutNodeGroups() ClusterSpec {
	s.noGroups, s.groups = true, nil
	return s
}

// WithRoles gives the ARNs of the IAM roles of an EKS control plane and of
// its nodes, instead of making them. An empty one is made.
func (s ClusterSpec) WithRoles(cluster, node string) ClusterSpec {
	s.clusterRole, s.nodeRole = cluster, node
	return s
}

// WithLabels adds tags (AWS) or resource labels (Google).
func (s ClusterSpec) WithLabels(labels map[string]string) ClusterSpec {
	merged := maps.Clone(s.labels)
	if merged == nil {
		merged = map[string]string{}
	}
	maps.Copy(merged, labels)
	s.labels = merged
	return s
}

// WithDeletionProtection has the cloud refuse to delete the cluster.
func (s ClusterSpec) WithDeletionProtection() ClusterSpec {
	s.protect = true
	return s
}

// Name is the cluster's name.
func (s ClusterSpec) Name() string { return s.name }

// Version is the Kubernetes version, empty for the cloud's choice.
func (s ClusterSpec) Version() string { return s.version }

// Subnets are the subnets of the nodes and the control plane's interfaces.
func (s ClusterSpec) Subnets() []string { return slices.Clone(s.subnets) }

// Network is the VPC network on GKE.
func (s ClusterSpec) Network() string { return s.network }

// PrivateEndpoint tells whether the API is reached from inside the network only.
func (s ClusterSpec) PrivateEndpoint() bool { return s.private }

// NodeGroups returns the node groups to make: the default one if none was
// named, none after WithoutNodeGroups.
func (s ClusterSpec) NodeGroups() []NodeGroup {
	if len(s.groups) == 0 && !s.noGroups {
		return []NodeGroup{DefaultNodeGroup()}
	}
	return slices.Clone(s.groups)
}

// ClusterRole is the given IAM role of the control plane, empty for one to be made.
func (s ClusterSpec) ClusterRole() string { return s.clusterRole }

// NodeRole is the given IAM role of the nodes, empty for one to be made.
func (s ClusterSpec) NodeRole() string { return s.nodeRole }

// Labels are the tags or resource labels.
func (s ClusterSpec) Labels() map[string]string { return maps.Clone(s.labels) }

// DeletionProtection tells whether the cloud is to refuse deletion.
func (s ClusterSpec) DeletionProtection() bool { return s.protect }
