// Package gkefake is a Google Cloud project in memory: GKE, IAM's service
// accounts and their policies, Cloud Storage's buckets and theirs. It stands
// behind the interfaces of package gke, so that the real adapter runs on it.
//
//	google := gkefake.New("acme-ml", "europe-west4", "main")
//	google.Fail(gkefake.Call("SetIamPolicy"), gkefake.Aborted, gkefake.Times(2))
//	account := google.Account()
//
// It is stateful and as strict as Google where an installation can meet it:
// etags and ABORTED (412 in Cloud Storage), conditions that are hidden below
// version 3 and refused when they would be lost, 1,500 members, names of
// service accounts, operations that take time and may fail ([Fake.SetPace],
// [Fake.FailOperations]), one at a time on a cluster, service accounts that
// policies do not know at first ([Fake.SetLag]), and that policies of buckets
// go on naming after they were deleted. [Fake.Register] and
// [Fake.StorageHandler] put it behind gRPC and HTTP, for Google's own clients
// ([Fake.ConfigOver]). [Fake.Fail] has calls meet faults, [Do] lets somebody
// else write in between, and [Fake.Calls] tells what was asked.
//
// # What is more lenient than Google
//
// Permissions are not evaluated: whoever calls may do everything, but for
// [Denied]. Networks, versions and machine types exist. Faults of Cloud Storage
// are gRPC's.
package gkefake
