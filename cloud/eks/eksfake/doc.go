// Package eksfake is an AWS account in memory: IAM, EKS, and what cloud/eks
// asks of S3, KMS and STS. It stands behind the interfaces of package eks, so
// that the real adapter runs on it.
//
//	aws := eksfake.New("123456789012", "us-east-1", "flyte-control", "flyte-dp-1")
//	aws.Fail(eksfake.Call("UpdateAssumeRolePolicy"), eksfake.Throttled, eksfake.Times(2))
//	account := aws.Account()
//
// It is stateful and as strict as AWS where an installation can meet it: five
// versions of a managed policy, quotas in characters that are no white space,
// role names that are unique whatever their case, delete conflicts, documents
// returned percent-encoded, pages that are empty, replicas that lag
// ([Fake.SetLag]), principals that must exist and turn into ids when they are
// deleted, partitions, clusters that take time ([Fake.SetPace]), access entries
// that let nobody in once their role was made again. [Fake.Handler] puts it
// behind HTTP, for the SDK's own clients ([Fake.ConfigAt]). [Fake.Fail]
// has calls meet faults, [Do] lets somebody else write in between, and
// [Fake.Calls] tells what was asked.
//
// # What is more lenient than AWS
//
// Permissions are not evaluated: whoever calls may do everything, but for
// [Denied]. Principals of accounts that were not introduced by [Fake.Knows]
// exist. Policy documents are checked for their form, not for every rule of
// IAM's grammar. Lag is counted in reads, not in time. Subnets exist.
package eksfake
