// Package eks is the adapter of package cloud for AWS: EKS clusters, IAM roles
// as the identities of their pods, S3 buckets.
//
//	configuration, err := config.LoadDefaultConfig(ctx)
//	account, err := eks.Open(ctx, configuration)
//	env := flyte.NewEnv(main).WithCharts(charts).WithCloud("main", account.Cluster("acme-main"))
//
// or, with clients of one's own or the fake's (package eksfake):
//
//	account := eks.New(eks.Config{AccountID: "123456789012", Region: "us-east-1", IAM: …, EKS: …})
//
// # Identities
//
// An identity is a role with a managed policy for its buckets. By default
// ([IRSA]) it trusts, in one statement for each cluster, the ServiceAccounts
// that take it on, by the cluster's OIDC provider. A trust policy is shared
// with whoever else writes it: foreign statements stay byte for byte, and the
// document is read again before and after each write. In a statement of a
// cluster that somebody had bound before, ServiceAccounts are only added; one
// that this package made trusts exactly whom the specs name. Its length is bounded by
// the account; a plan says how many clusters still fit, and refuses a document
// that is too long. [PodIdentity] and [Hybrid] are the ways out.
//
// What is made carries the tag "planewright.dev/stack". What does not carry it
// is never written without the opt-in of cloud.IdentitySpec's Adopt.
//
// # Access
//
// ProvisionAccess makes roles and users administrators of a cluster by access
// entries; whoever makes a cluster is one.
//
// # Permissions
//
// Looking at identities takes eks:DescribeCluster,
// iam:GetOpenIDConnectProvider, iam:GetPolicy, iam:GetPolicyVersion,
// iam:GetRole, iam:ListAttachedRolePolicies and iam:GetAccountSummary.
//
// Making them takes iam:CreateOpenIDConnectProvider,
// iam:AddClientIDToOpenIDConnectProvider, iam:TagOpenIDConnectProvider,
// iam:CreatePolicy, iam:CreatePolicyVersion, iam:ListPolicyVersions,
// iam:DeletePolicyVersion, iam:TagPolicy, iam:CreateRole,
// iam:UpdateAssumeRolePolicy, iam:TagRole, iam:UntagRole,
// iam:AttachRolePolicy, iam:DetachRolePolicy, and
// iam:PutRolePermissionsBoundary where one is set; taking them away
// iam:DeleteRole and iam:DeletePolicy too.
//
// Pod Identity takes eks:ListPodIdentityAssociations,
// eks:DescribePodIdentityAssociation, eks:CreatePodIdentityAssociation,
// eks:UpdatePodIdentityAssociation, eks:DeletePodIdentityAssociation,
// eks:DescribeAddon, eks:TagResource, and iam:PassRole for the roles.
//
// Making clusters takes eks:CreateCluster, eks:CreateNodegroup,
// eks:DescribeNodegroup, eks:ListNodegroups, eks:TagResource, and iam:PassRole
// for the roles of control plane and nodes, with eks.amazonaws.com as
// iam:PassedToService. Access to clusters takes eks:DescribeAccessEntry,
// eks:ListAssociatedAccessPolicies, eks:CreateAccessEntry,
// eks:DeleteAccessEntry and eks:AssociateAccessPolicy.
//
// Looking at buckets takes s3:ListBucket, s3:GetBucketPublicAccessBlock,
// s3:GetBucketPolicyStatus, s3:GetEncryptionConfiguration and kms:DescribeKey.
package eks
