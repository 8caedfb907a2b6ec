package cloud

import "github.com/planewright/planewright"

// Provider is the vendor of a cloud.
type Provider string

// The providers for which there are adapters.
const (
	AWS Provider = "aws"
	GCP Provider = "gcp"
)

// Account is one account of a cloud in one region: an AWS account, a Google
// Cloud project. It is a plain value, so a caller can replace one port by a
// decorated one. Package cloud/eks and cloud/gke make Accounts, their fakes too.
//
// An Env may hold clusters of several accounts, regions and providers; each
// cluster knows its own.
type Account struct {
	// Provider is the vendor.
	Provider Provider
	// ID is the account's own name: "123456789012", or a project's id "acme-ml".
	ID string
	// Location is the region: "us-east-1", "europe-west4".
	Location string

	Clusters   Clusters
	Identities Identities
	Buckets    Buckets

	// Prune makes a step that deletes what an inventory entry names, if that
	// is a resource of this account; see [planewright.Pruner].
	Prune planewright.Pruner
}

// String names the account as errors and plans do: "aws account 123456789012 in us-east-1".
func (a Account) String() string {
	noun := "account"
	if a.Provider == GCP {
		noun = "project"
	}
	return string(a.Provider) + " " + noun + " " + a.ID + " in " + a.Location
}

// Cluster refers to a cluster of this account by its name in the cloud.
func (a Account) Cluster(name string) ClusterRef {
	return ClusterRef{Account: a, Name: name}
}
