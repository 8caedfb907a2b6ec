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
package gke
