package eks

// The codes of the findings that this package makes. They are stable.
const (
	// CodeCrossAccount: a cluster is in another account than the roles that trust it.
	CodeCrossAccount = "aws-cross-account"
	// CodeProvisioner: a role belongs to CloudFormation or eksctl, which may change it back.
	CodeProvisioner = "aws-other-provisioner"
	// CodeBudget: how much of its quota a trust policy takes.
	CodeBudget = "aws-trust-budget"
	// CodeQuota: the account's quotas do not suffice, or may not be asked.
	CodeQuota = "aws-quota"
	// CodeClusterVersion: a cluster is of another version than is said.
	CodeClusterVersion = "aws-cluster-version"
	// CodePodIdentityAgent: a cluster has no EKS Pod Identity agent.
	CodePodIdentityAgent = "aws-pod-identity-agent"
)
