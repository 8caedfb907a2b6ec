package cloud

import (
	"context"
	"time"

	"github.com/planewright/planewright"
)

// Clusters is the port to an account's Kubernetes clusters. Its errors are
// [*CallError].
type Clusters interface {
	// Describe returns a cluster. The error matches planewright.ErrNotFound
	// if there is none of that name.
	Describe(ctx context.Context, name string) (Cluster, error)
	// NodeGroups returns the cluster's node groups (node pools), sorted by name.
	NodeGroups(ctx context.Context, name string) ([]NodeGroupState, error)
	// Access returns the credentials for the cluster's API, made of those for
	// the cloud. The token is short-lived; whoever keeps it asks again before
	// it ends.
	Access(ctx context.Context, name string) (Access, error)
	// Provision returns the steps that make the cluster and its node groups,
	// with ids below prefix. A cluster of that name that is there and not
	// ours blocks them, one of ours is completed.
	Provision(prefix string, spec ClusterSpec) ClusterProvision
}

// Cluster is what a cloud tells of a cluster. Fields that the cloud does not
// know yet (while it creates the cluster) are empty.
type Cluster struct {
	// Name is the cluster's name, ID the cloud's full name for it (an ARN, or
	// projects/P/locations/L/clusters/C).
	Name, ID string
	// AccountID and Location are where it is.
	AccountID, Location string
	// Status tells whether it can be used; StatusReason is the cloud's own word and reason.
	Status       ClusterStatus
	StatusReason string
	// Version is the Kubernetes version: "1.33".
	Version string
	// Endpoint is the URL of the API server, with https://.
	Endpoint string
	// CA is the PEM of the API server's authorities, empty if it is signed by a public one.
	CA []byte
	// PublicEndpoint tells whether the endpoint can be reached from outside
	// the cluster's network; PublicCIDRs restricts from where.
	PublicEndpoint bool
	PublicCIDRs    []string
	// Issuer is what the cloud's workload identity knows the cluster's
	// ServiceAccounts by: the OIDC issuer's URL on EKS, the workload pool on
	// GKE ("acme-ml.svc.id.goog"). Empty if workload identity is off.
	Issuer string
	// Network names the network it is in (a VPC id).
	Network string
	// Labels are the cluster's tags or labels.
	Labels map[string]string
}

// ClusterStatus tells whether a cluster can be used.
type ClusterStatus string

// The statuses.
const (
	ClusterCreating ClusterStatus = "creating"
	// ClusterReady is usable, also while it is being updated.
	ClusterReady ClusterStatus = "ready"
	// ClusterDegraded is there and something is wrong with it.
	ClusterDegraded ClusterStatus = "degraded"
	ClusterDeleting ClusterStatus = "deleting"
	ClusterFailed   ClusterStatus = "failed"
)

// NodeGroupState is what a cloud tells of a node group.
type NodeGroupState struct {
	Name         string
	MachineType  string
	Min, Max     int
	Desired      int
	Status       ClusterStatus
	StatusReason string
	// WorkloadIdentity tells whether pods on it get the cloud's workload
	// identity; on EKS always.
	WorkloadIdentity bool
}

// Access is how a cluster's API is reached.
type Access struct {
	// Endpoint is the URL with https://; CA is PEM, empty for a public authority.
	Endpoint string
	CA       []byte
	// Token is a bearer token that is good until Expires.
	Token   planewright.Secret
	Expires time.Time
}

// ClusterProvision is what makes a cluster.
type ClusterProvision struct {
	Steps  []planewright.Step
	Probes []planewright.Probe
	// Cluster is known once the cluster is usable.
	Cluster planewright.Output[Cluster]
	// Err is a *planewright.ValidationError if the spec is wrong.
	Err error
}
