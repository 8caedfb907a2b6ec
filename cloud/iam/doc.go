// Package iam holds AWS policy documents as values: trust policies that let
// Kubernetes ServiceAccounts of EKS clusters assume a role, and the policies
// that say what the role may do. It talks to nobody, and needs no SDK.
//
//	main := iam.NewOIDCProvider(iam.AWS, "123456789012", "https://oidc.eks.us-east-1.amazonaws.com/id/MAIN")
//	trust := iam.NewTrustPolicy().
//		WithServiceAccounts(main, iam.ServiceAccount("flyte", "flyteadmin"), iam.ServiceAccount("flyte", "datacatalog"))
//
//	live, err := iam.ParseDocument(textFromIAM)
//	merged, err := live.MergeTrust(trust) // what others wrote stays byte for byte
//	fmt.Println(merged.Document, merged.Document.Budget(iam.DefaultTrustPolicyLimit))
//
// # Whose a statement is
//
// Statements carry no names of ours: each would cost characters of a quota
// that is short. A statement counts as ours by its shape: it allows one OIDC
// provider of the account to assume the role with a web identity, asks for one
// audience and for subjects, and does nothing else. That is what this package,
// eksctl and most guides write. In such a statement subjects are added; all
// others are kept as they are.
//
// # What is refused
//
// Trust that is wider than it seems, or narrower: wildcards where they stand
// for themselves, patterns that cover every namespace (without
// [TrustPolicy.AllowingAnyNamespace]), issuers from which no condition key
// that matches can be made, ARNs of several partitions. Documents that hold a
// key twice are refused too, since parsers do not agree on what they mean.
//
// Evaluate tells who may assume a role, and which condition decides.
package iam
