// Package gke is the adapter of package cloud for Google Cloud: GKE clusters,
// Google service accounts as the identities of their pods, Cloud Storage.
//
//	account, closeAccount, err := gke.Open(ctx, "acme-ml", "europe-west4")
//	defer closeAccount()
//	env := flyte.NewEnv(main).WithCharts(charts).WithCloud("main", account.Cluster("acme-main"))
//
// or, with clients of one's own or the fake's (package gkefake), gke.New.
//
// # Identities
//
// An identity is a service account, the binding that lets Kubernetes
// ServiceAccounts take it on, and its roles in buckets. Policies are read in
// version 3, changed in bindings without a condition only, and written with
// the etag that was read; when somebody else has written in between, the whole
// cycle is made again.
//
// The workload pool is the project's: a ServiceAccount of the same namespace
// and name in any of its clusters has the same identity. A finding names the
// other clusters.
//
// A service account has no labels, so its description says which stack made it.
// In one that the stack made, the members of the workload identity binding are
// the stack's alone; in an adopted one they are only added.
// Its roles in a bucket are the stack's alone in the same way; they are taken
// away before it is, so that no policy goes on naming a deleted account.
//
// # Clusters
//
// A cluster that a stack made is completed: workload identity is switched on,
// on it and on the node pools that the spec names, and missing pools are made.
// Of a cluster of somebody else a finding says what is missing and how to
// switch it on. When GKE's answer to a creation is lost, its operation is
// looked for, not begun again.
//
// # Permissions
//
// Looking takes container.clusters.get, container.clusters.list,
// iam.serviceAccounts.get, iam.serviceAccounts.getIamPolicy,
// storage.buckets.get and storage.buckets.getIamPolicy. Making identities takes
// iam.serviceAccounts.create, iam.serviceAccounts.update,
// iam.serviceAccounts.delete, iam.serviceAccounts.setIamPolicy and
// storage.buckets.setIamPolicy; making clusters container.clusters.create,
// container.clusters.update, container.operations.get and
// container.operations.list.
package gke
