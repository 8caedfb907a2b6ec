package eks_test

import (
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/eks"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/planewright/planewright/cloud/iam"
	"github.com/stretchr/testify/require"
)

const accountID = "123456789012"

// world is an account with a control plane and two data planes.
type world struct {
	aws     *eksfake.Fake
	account cloud.Account
}

func newWorld(options ...eks.Option) world {
	aws := eksfake.New(accountID, "us-east-1", "control", "dp-1", "dp-2")
	return world{aws, aws.Account(options...)}
}

// admin is the identity of a control plane.
func (w world) admin() cloud.IdentitySpec {
	return cloud.IdentitySpec{
		Name: "flyte-admin", Owner: "flyte.ml",
		Subjects: []cloud.Subject{w.subject("control", "flyte", "flyteadmin"), w.subject("control", "flyte", "datacatalog")},
		Buckets:  []cloud.BucketAccess{{Bucket: "acme-flyte"}},
	}
}

// user is the identity of user code in data planes.
func (w world) user(clusters ...string) cloud.IdentitySpec {
	spec := cloud.IdentitySpec{Name: "flyte-user", Owner: "flyte.ml", Buckets: []cloud.BucketAccess{{Bucket: "acme-flyte"}}}
	for _, cluster := range clusters {
		spec.Subjects = append(spec.Subjects, w.subject(cluster, "flyte", "flytepropeller"),
			cloud.Subject{Cluster: w.account.Cluster(cluster), Namespace: "*-production", ServiceAccount: "default", Pattern: true})
	}
	return spec
}

func (w world) subject(cluster, namespace, name string) cloud.Subject {
	return cloud.Subject{Cluster: w.account.Cluster(cluster), Namespace: namespace, ServiceAccount: name}
}

// stack is what makes identities.
func (w world) stack(specs ...cloud.IdentitySpec) planewright.Stack {
	stack := planewright.NewStack("flyte/ml")
	p := w.account.Identities.Provision("flyte/ml/identity", specs...)
	if p.Err != nil {
		return stack.WithError(p.Err)
	}
	return stack.WithSteps(p.Steps...).WithProbes(p.Probes...)
}

func (w world) install(tb testing.TB, specs ...cloud.IdentitySpec) *planewright.Report {
	tb.Helper()
	report, err := planewright.Install(tb.Context(), w.stack(specs...))
	require.NoError(tb, err)
	return report
}

func (w world) plan(tb testing.TB, specs ...cloud.IdentitySpec) *planewright.ExecutionPlan {
	tb.Helper()
	plan, err := planewright.Plan(tb.Context(), w.stack(specs...))
	require.NoError(tb, err)
	return plan
}

// provider is the OIDC provider of one of the account's clusters.
func (w world) provider(cluster string) iam.OIDCProvider {
	return iam.NewOIDCProvider(iam.AWS, accountID, w.aws.Issuer(cluster))
}

// trust is a role's trust policy.
func (w world) trust(tb testing.TB, role string) iam.Document {
	tb.Helper()
	r, ok := w.aws.Role(role)
	require.True(tb, ok)
	document, err := iam.ParseDocument(r.Trust)
	require.NoError(tb, err)
	return document
}

// may tells whether a ServiceAccount of a cluster may assume a role.
func (w world) may(tb testing.TB, role, cluster, namespace, name string) bool {
	tb.Helper()
	return iam.Evaluate(w.trust(tb, role), iam.WebIdentityRequest(w.provider(cluster), iam.ServiceAccount(namespace, name))).Allowed
}

func eksMode(mode eks.IdentityMode) eks.Option { return eks.WithIdentityMode(mode) }
