package cloud

import (
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud/iam"
)

// Identities is the port to an account's workload identities: cloud
// identities that pods take on by their Kubernetes ServiceAccounts.
type Identities interface {
	// Provision returns the steps that make the identities so, with ids below
	// prefix. What several identities share (a cluster's OIDC provider) is one
	// step. The identities come in the order of the specs and are computed
	// from the specs alone, so that what refers to them can be planned before
	// they exist.
	Provision(prefix string, specs ...IdentitySpec) IdentityProvision
}

// IdentitySpec is a cloud identity to be made: an IAM role, a Google service
// account. It says which ServiceAccounts take it on and what it may do.
type IdentitySpec struct {
	// Name is the role's name, or the part of a Google service account's
	// e-mail before the @. It is also the last part of the steps' ids.
	Name string
	// Subjects are the ServiceAccounts that may take it on.
	Subjects []Subject
	// Buckets is what it may do in object storage.
	Buckets []BucketAccess
	// Trust is merged over what is derived from Subjects. AWS only; refused elsewhere.
	Trust iam.TrustPolicy
	// Policies are ARNs of further managed policies (AWS) to attach, or
	// project roles are not granted elsewhere: refused.
	Policies []string
	// Owner marks what is made as the stack's: by the tag
	// "planewright.dev/stack" on AWS, in the description on Google. By default
	// it is the first two parts of the steps' prefix, joined by a dot
	// ("flyte.ml"); what has another owner is not pruned.
	Owner string
	// Adopt allows to take over an identity of that name that exists and
	// carries no such mark. Without it such a one blocks the plan.
	Adopt bool
}

// Subject is one ServiceAccount of one cluster, or a pattern of them.
type Subject struct {
	Cluster ClusterRef
	// Namespace and ServiceAccount are names, or with Pattern may hold '*' and '?'.
	Namespace, ServiceAccount string
	// Pattern says that they are patterns (StringLike). Google's workload
	// identity has none: refused there.
	Pattern bool
	// AnyNamespace is the opt-in that a pattern which covers every namespace needs.
	AnyNamespace bool
}

// BucketAccess is what an identity may do in one bucket.
type BucketAccess struct {
	Bucket string
	// Prefix restricts it to keys that begin so: "metadata/". Empty means the whole bucket.
	Prefix string
	// ReadOnly gives no right to write or delete.
	ReadOnly bool
	// KMSKey is the key that the bucket is encrypted with, if it is one of
	// the customer's own (an ARN). AWS only.
	KMSKey string
}

// IdentityProvision is what makes identities.
type IdentityProvision struct {
	Steps  []planewright.Step
	Probes []planewright.Probe
	// Identities are those of the specs, in their order.
	Identities []Identity
	// Err is a *planewright.ValidationError if a spec is wrong.
	Err error
}

// Identity is a cloud identity as Kubernetes needs to know it.
type Identity struct {
	// Principal is its full name: a role's ARN, a service account's e-mail.
	Principal string
	// Annotations are those that its ServiceAccounts must carry. Empty where
	// the cloud needs none (EKS Pod Identity).
	Annotations map[string]string
	// Needs are the ids of the steps that must be done before pods can use it.
	Needs []string
}
