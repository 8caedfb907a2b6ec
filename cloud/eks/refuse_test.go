package eks_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/eks"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/planewright/planewright/cloud/iam"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A spec that names no owner must not take a role without tags for its own.
func TestARoleWithoutTagsIsNobodysToTake(t *testing.T) {
	w := newWorld()
	trust, err := iam.NewTrustPolicy().WithService("ec2.amazonaws.com").Document()
	require.NoError(t, err)
	w.aws.PutRole(eksfake.Role{Name: "flyte-admin", Trust: trust.String()})
	spec := w.admin()
	spec.Owner = ""
	_, err = planewright.Install(t.Context(), w.stack(spec))
	require.ErrorIs(t, err, planewright.ErrBlocked)
	require.ErrorContains(t, err, "role arn:aws:iam::123456789012:role/flyte-admin exists, and its tags do not say that this stack made it")
	assert.Empty(t, w.aws.Writes())

	_, err = planewright.Uninstall(t.Context(), w.stack(spec))
	require.NoError(t, err)
	_, there := w.aws.Role("flyte-admin")
	assert.True(t, there)

	spec.Name = "flyte-other"
	w.install(t, spec)
	role, _ := w.aws.Role("flyte-other")
	assert.Equal(t, "flyte.ml", role.Tags["planewright.dev/stack"], "the owner is the stack by default")
}

func TestARNsOfAnotherPartitionAreRefused(t *testing.T) {
	w := newWorld()
	identity := func(account cloud.Account, spec cloud.IdentitySpec) error {
		return account.Identities.Provision("flyte/ml/identity", spec).Err
	}
	trusting := func(provider iam.OIDCProvider) cloud.IdentitySpec {
		return cloud.IdentitySpec{Name: "flyte", Trust: iam.NewTrustPolicy().WithServiceAccounts(provider, iam.ServiceAccount("flyte", "flyteadmin"))}
	}
	for want, err := range map[string]error{
		`clusterRole "arn:aws-us-gov:iam::123456789012:role/eks": the role is in partition aws-us-gov, the cluster in aws; fix: use a role of the same partition`: w.account.Clusters.Provision("flyte/ml/clusters", dp3().WithRoles("arn:aws-us-gov:iam::123456789012:role/eks", "")).Err,
		`nodeRole "arn:aws:iam::123456789012:user/eks": a role is named by its ARN`:                                                                               w.account.Clusters.Provision("flyte/ml/clusters", dp3().WithRoles("", "arn:aws:iam::123456789012:user/eks")).Err,
		`permissionsBoundary "arn:aws-cn:iam::aws:policy/X": the policy is in partition aws-cn, the account in aws`:                                               identity(w.aws.Account(eks.WithPermissionsBoundary("arn:aws-cn:iam::aws:policy/X")), w.admin()),
		`identities[0].trust "arn:aws-cn:iam::123456789012:oidc-provider/` + "oidc.eks.cn-north-1.amazonaws.com.cn/id/A" + `": the provider is in partition aws-cn, the role in aws`: identity(w.account,
			trusting(iam.NewOIDCProvider(iam.China, accountID, "https://oidc.eks.cn-north-1.amazonaws.com.cn/id/A"))),
		`a role trusts OIDC providers of its own account only, which is 123456789012`: identity(w.account, trusting(iam.NewOIDCProvider(iam.AWS, "999999999999", "https://oidc.eks.us-east-1.amazonaws.com/id/A"))),
	} {
		require.ErrorIs(t, err, planewright.ErrInvalid)
		require.ErrorContains(t, err, want)
	}
	assert.Empty(t, w.aws.Calls())
}

func TestTagsThatAreRefused(t *testing.T) {
	w := newWorld()
	for want, tags := range map[string]map[string]string{
		`tags[planewright.dev/stack] "mine": tags that begin with planewright.dev/ say whose a resource is`: {"planewright.dev/stack": "mine"},
		`tags[aws:cloudformation:stack-name] "x": tags that begin with aws: are AWS's own`:                  {"aws:cloudformation:stack-name": "x"},
		`tags[team] "a;b": a tag's key has at most 128`:                                                     {"team": "a;b"},
	} {
		err := w.aws.Account(eks.WithTags(tags)).Identities.Provision("flyte/ml/identity", w.admin()).Err
		require.ErrorIs(t, err, planewright.ErrInvalid)
		require.ErrorContains(t, err, want)
		require.ErrorIs(t, w.aws.Account(eks.WithTags(tags)).Clusters.Provision("flyte/ml/clusters", dp3()).Err, planewright.ErrInvalid)
		require.ErrorContains(t, w.account.Clusters.Provision("flyte/ml/clusters", dp3().WithLabels(tags)).Err, "labels[")
	}
	many := map[string]string{}
	for i := range 41 {
		many[fmt.Sprint("tag-", i)] = ""
	}
	require.ErrorContains(t, w.aws.Account(eks.WithTags(many)).Identities.Provision("flyte/ml/identity", w.admin()).Err, "a resource has at most 50 tags")
	owned := w.admin()
	owned.Owner = "a*b"
	require.ErrorContains(t, w.account.Identities.Provision("flyte/ml/identity", owned).Err, `identities[0].owner "a*b": an owner is a tag's value`)
}

func TestMorePoliciesThanARoleMayHaveStopBeforeAnyWrite(t *testing.T) {
	w := newWorld()
	spec := w.admin()
	for i := range 10 {
		spec.Policies = append(spec.Policies, fmt.Sprintf("arn:aws:iam::aws:policy/P%d", i))
	}
	_, err := planewright.Install(t.Context(), w.stack(spec))
	require.ErrorContains(t, err, "the role is to have 11 policies, and account 123456789012 allows 10")
	assert.Empty(t, w.aws.Writes())
	spec.Policies = spec.Policies[:9]
	w.install(t, spec)
}

func TestByPodIdentityAServiceAccountHasOneRole(t *testing.T) {
	w := newWorld(eks.WithIdentityMode(eks.PodIdentity))
	other := w.admin()
	other.Name = "flyte-other"
	err := w.account.Identities.Provision("flyte/ml/identity", w.admin(), other).Err
	require.ErrorIs(t, err, planewright.ErrInvalid)
	require.ErrorContains(t, err, `identities[1].subjects[0] "flyte/flyteadmin": by Pod Identity a ServiceAccount has one role, and it has flyte-admin already`)
	require.NoError(t, newWorld().account.Identities.Provision("flyte/ml/identity", w.admin(), other).Err, "by tokens it may take on both")
}

// named is a port whose clusters have the issuer that a test gives them.
type named struct {
	cloud.Clusters
	issuer string
}

func (n named) Describe(ctx context.Context, name string) (cloud.Cluster, error) {
	c, err := n.Clusters.Describe(ctx, name)
	c.Issuer = n.issuer
	return c, err
}

func TestIssuersThatNoConditionKeyCanBeMadeOfStopBeforeAnyWrite(t *testing.T) {
	const host = "oidc.eks.us-east-1.amazonaws.com"
	for issuer, want := range map[string]string{
		"http://" + host + "/id/A":      "an issuer is reached by https",
		"https://" + host + ":443/id/A": "IAM takes no issuer with a port",
		"https://" + host + "/id/A.":    "an issuer does not end in a dot: condition keys made of it would never match",
		"https://" + host + "/id/A/":    "an issuer does not end in a slash",
		"https://" + host + "/id/*":     "an issuer is a scheme, a host and a path",
	} {
		w := newWorld()
		w.account.Clusters = named{w.account.Clusters, issuer}
		_, err := planewright.Install(t.Context(), w.stack(w.user("dp-1")))
		require.ErrorIs(t, err, planewright.ErrBlocked)
		require.ErrorContains(t, err, fmt.Sprintf("%q: %s; fix: use the issuer as the cluster tells it", issuer, want))
		assert.Empty(t, w.aws.Writes())
	}
}

func TestDocumentsThatCannotBeWrittenStopBeforeAnyWrite(t *testing.T) {
	t.Run("a trust policy with a key twice, of which parsers keep either", func(t *testing.T) {
		w := newWorld()
		w.aws.PutRole(eksfake.Role{Name: "flyte-admin", Tags: map[string]string{eks.OwnerTag: "flyte.ml"},
			Trust: `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Effect":"Allow","Principal":"*","Action":"sts:AssumeRole"}]}`})
		_, err := planewright.Install(t.Context(), w.stack(w.admin()))
		require.ErrorIs(t, err, planewright.ErrInvalid)
		require.ErrorContains(t, err, `trust policy of role flyte-admin: policy document`)
		require.ErrorContains(t, err, `the key "Effect" occurs twice`)
		assert.Empty(t, w.aws.Writes())
	})
	t.Run("a managed policy that is too long", func(t *testing.T) {
		w := newWorld()
		spec := w.admin()
		for i := range 60 {
			spec.Buckets = append(spec.Buckets, cloud.BucketAccess{Bucket: fmt.Sprintf("acme-%050d", i), Prefix: "metadata/"})
		}
		_, err := planewright.Install(t.Context(), w.stack(spec))
		require.ErrorIs(t, err, planewright.ErrBlocked)
		require.ErrorContains(t, err, "managed policy flyte-admin has")
		require.ErrorContains(t, err, "more than the 6144 that the account allows. Ways out: prefixes of one bucket instead of many buckets")
		assert.Empty(t, w.aws.Writes())
	})
}

// Where the quota may not be asked the usual one is assumed. A trust policy that
// is longer already shows that it is not, and to shorten it is no risk.
func TestATrustPolicyThatIsTooLongMayBecomeShorter(t *testing.T) {
	names := []string{"dp-1", "dp-2", "dp-3", "dp-4", "dp-5", "dp-6"}
	aws := eksfake.New(accountID, "us-east-1", names...)
	aws.SetQuota("AssumeRolePolicySizeQuota", 4096)
	w := world{aws, aws.Account()}
	w.install(t, w.user(names...))
	aws.Fail(eksfake.Call("GetAccountSummary"), eksfake.Denied)
	w.install(t, w.user(names[:5]...))
	assert.Len(t, w.trust(t, "flyte-user").Statements(), 5)
	_, err := planewright.Install(t.Context(), w.stack(w.user(names...)))
	require.ErrorIs(t, err, planewright.ErrBlocked)
	require.ErrorContains(t, err, "more than the 2048 that the account allows")
}
