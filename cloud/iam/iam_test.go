package iam_test

import (
	"testing"

	"github.com/planewright/planewright/cloud/iam"
	"github.com/stretchr/testify/require"
)

// The clusters of the tests, as EKS names their issuers.
const (
	account = "123456789012"
	mainID  = "oidc.eks.us-east-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE"
	dp1ID   = "oidc.eks.us-east-1.amazonaws.com/id/1111111111111111111111111EXAMPLE"
	dp2ID   = "oidc.eks.us-east-1.amazonaws.com/id/2222222222222222222222222EXAMPLE"
)

func provider(id string) iam.OIDCProvider {
	return iam.NewOIDCProvider(iam.AWS, account, "https://"+id)
}

func parse(tb testing.TB, text string) iam.Document {
	tb.Helper()
	d, err := iam.ParseDocument(text)
	require.NoError(tb, err)
	return d
}

func merge(tb testing.TB, d iam.Document, trust iam.TrustPolicy, options ...iam.MergeOption) iam.Merged {
	tb.Helper()
	m, err := d.MergeTrust(trust, options...)
	require.NoError(tb, err)
	return m
}

// controlPlane trusts the control plane's ServiceAccounts.
func controlPlane() iam.TrustPolicy {
	return iam.NewTrustPolicy().WithServiceAccounts(provider(mainID), iam.ServiceAccount("flyte", "flyteadmin"), iam.ServiceAccount("flyte", "datacatalog"))
}

// dataPlane trusts a data plane's propeller and the user code of all projects.
func dataPlane(id string) iam.TrustPolicy {
	return iam.NewTrustPolicy().WithServiceAccounts(provider(id), iam.ServiceAccount("flyte", "flytepropeller"), iam.ServiceAccountPattern("*", "default")).AllowingAnyNamespace()
}
