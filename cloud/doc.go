// Package cloud is the port to a cloud: its Kubernetes clusters, the workload
// identities of their pods, and a look at what an installation presupposes
// (buckets, a database). It knows no vendor; cloud/eks and cloud/gke are the
// adapters, each with a fake in memory, and cloud/cloudtest is the contract
// that both fulfil.
//
// An [Account] is one AWS account or Google Cloud project in one region. Its
// ports describe what is there, and turn what should be there into steps:
//
//	backend := cloud.IdentitySpec{
//		Name:     "flyte-backend",
//		Owner:    "flyte.ml",
//		Subjects: []cloud.Subject{{Cluster: account.Cluster("main"), Namespace: "flyte", ServiceAccount: "flyte-backend-flyte-binary"}},
//		Buckets:  []cloud.BucketAccess{{Bucket: "acme-flyte"}},
//	}
//	identity := account.Identities.Provision("flyte/ml/identity", backend)
//	stack = stack.WithSteps(identity.Steps...)
//	annotations := identity.Identities[0].Annotations // for the ServiceAccount
//
// Which steps these are is the cloud's matter: on AWS the OIDC provider of the
// cluster, a managed policy and a role with its trust policy; on Google a
// service account, its bindings and the bucket's.
package cloud
