package eks_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/eks"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/planewright/planewright/cloud/iam"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIdentitiesFromNothing(t *testing.T) {
	w := newWorld()
	p := w.account.Identities.Provision("flyte/ml/identity", w.admin(), w.user("dp-1", "dp-2"))
	require.NoError(t, p.Err)
	assert.Equal(t, cloud.Identity{
		Principal:   "arn:aws:iam::123456789012:role/flyte-admin",
		Annotations: map[string]string{"eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/flyte-admin"},
		Needs:       []string{"flyte/ml/identity/flyte-admin/role"},
	}, p.Identities[0], "known before anything exists")

	report := w.install(t, w.admin(), w.user("dp-1", "dp-2"))
	assert.ElementsMatch(t, []string{
		"flyte/ml/identity/oidc-provider/control", "flyte/ml/identity/oidc-provider/dp-1", "flyte/ml/identity/oidc-provider/dp-2",
		"flyte/ml/identity/flyte-admin/policy", "flyte/ml/identity/flyte-admin/role",
		"flyte/ml/identity/flyte-user/policy", "flyte/ml/identity/flyte-user/role",
	}, report.Changed())

	provider, _ := w.aws.Provider(w.aws.Issuer("dp-1"))
	assert.Equal(t, []string{"sts.amazonaws.com"}, provider.ClientIDs)
	role, _ := w.aws.Role("flyte-user")
	assert.Equal(t, []string{"arn:aws:iam::123456789012:policy/flyte-user"}, role.Attached)
	assert.Equal(t, "flyte.ml", role.Tags["planewright.dev/stack"])
	document, _ := w.aws.Policy("flyte-user")
	assert.Contains(t, document, `"arn:aws:s3:::acme-flyte/*"`)
	assert.NotContains(t, document, `acme-flyte*`, "a bucket whose name begins so is another one")

	assert.True(t, w.may(t, "flyte-admin", "control", "flyte", "datacatalog"))
	assert.False(t, w.may(t, "flyte-admin", "dp-1", "flyte", "flyteadmin"))
	assert.True(t, w.may(t, "flyte-user", "dp-2", "team1-production", "default"))
	assert.False(t, w.may(t, "flyte-user", "dp-2", "kube-system", "default"))

	w.aws.ForgetCalls()
	planewright.AssertNoChanges(t, w.plan(t, w.admin(), w.user("dp-1", "dp-2")))
	w.install(t, w.admin(), w.user("dp-1", "dp-2"))
	assert.Empty(t, w.aws.Writes(), "a second install changes nothing")
}

func TestAClusterIsAddedAndTakenOut(t *testing.T) {
	w := newWorld()
	w.install(t, w.user("dp-1"))
	before := w.trust(t, "flyte-user").Statements()[0].String()
	plan := w.plan(t, w.user("dp-1", "dp-2"))
	planewright.AssertTouchesOnly(t, plan, "flyte/ml/identity/oidc-provider/dp-2", "flyte/ml/identity/flyte-user/role")
	w.install(t, w.user("dp-1", "dp-2"))
	require.Len(t, w.trust(t, "flyte-user").Statements(), 2)
	assert.Contains(t, w.trust(t, "flyte-user").String(), before)

	w.install(t, w.user("dp-1"))
	require.Len(t, w.trust(t, "flyte-user").Statements(), 1)
	assert.Equal(t, before, w.trust(t, "flyte-user").Statements()[0].String())
	planewright.AssertNoChanges(t, w.plan(t, w.user("dp-1")))
}

func TestTheGuidesRoleIsAdoptedOnRequest(t *testing.T) {
	w := newWorld()
	guide, err := iam.NewTrustPolicy().WithServiceAccounts(w.provider("control"), iam.ServiceAccount("flyte", "flyteadmin")).WithPodIdentity().Document()
	require.NoError(t, err)
	w.aws.PutRole(eksfake.Role{Name: "flyte-admin", Trust: guide.String(), Tags: map[string]string{"alpha.eksctl.io/cluster-name": "control"}})

	_, err = planewright.Install(t.Context(), w.stack(w.admin()))
	require.ErrorIs(t, err, planewright.ErrBlocked)
	require.ErrorContains(t, err, "role arn:aws:iam::123456789012:role/flyte-admin exists, and its tags do not say that this stack made it: it belongs to eksctl (cluster control); choose another name, or adopt it")
	require.Empty(t, w.aws.Writes())

	spec := w.admin()
	spec.Adopt = true
	plan := w.plan(t, spec)
	role, _ := plan.Step("flyte/ml/identity/flyte-admin/role")
	assert.Equal(t, planewright.ActionAdopt, role.Change.Action)
	assert.Contains(t, fmt.Sprint(plan.Findings()), "the role belongs to eksctl (cluster control), which may set its trust policy back")
	w.install(t, spec)
	assert.True(t, w.may(t, "flyte-admin", "control", "flyte", "flyteadmin"))
	assert.True(t, w.may(t, "flyte-admin", "control", "flyte", "datacatalog"))
	assert.Contains(t, w.trust(t, "flyte-admin").String(), "pods.eks.amazonaws.com", "what was trusted stays so")

	w.aws.ForgetCalls()
	w.install(t, spec)
	assert.Empty(t, w.aws.Writes())

	report, err := planewright.Uninstall(t.Context(), w.stack(spec))
	require.NoError(t, err)
	left, ok := w.aws.Role("flyte-admin")
	require.True(t, ok, "a role that was there before is not deleted")
	assert.Equal(t, map[string]string{"alpha.eksctl.io/cluster-name": "control"}, left.Tags)
	assert.Empty(t, left.Attached)
	assert.Contains(t, report.String(), "it was there before the stack")
}

func TestSubjectsThatSomebodyElseBoundStay(t *testing.T) {
	w := newWorld()
	theirs, err := iam.NewTrustPolicy().WithServiceAccounts(w.provider("control"), iam.ServiceAccount("flyte", "theirs")).Document()
	require.NoError(t, err)
	w.aws.PutRole(eksfake.Role{Name: "flyte-admin", Trust: theirs.String()})
	spec := w.admin()
	spec.Adopt = true
	spec.Subjects = append(spec.Subjects, w.subject("dp-1", "flyte", "flytepropeller"))
	for range 2 {
		w.install(t, spec)
		assert.True(t, w.may(t, "flyte-admin", "control", "flyte", "theirs"), "its statement was there before")
		assert.True(t, w.may(t, "flyte-admin", "control", "flyte", "flyteadmin"))
		assert.True(t, w.may(t, "flyte-admin", "dp-1", "flyte", "flytepropeller"))
	}
	w.aws.ForgetCalls()
	w.install(t, spec)
	assert.Empty(t, w.aws.Writes())
	spec.Subjects = spec.Subjects[:2]
	w.install(t, spec)
	assert.False(t, w.may(t, "flyte-admin", "dp-1", "flyte", "flytepropeller"), "its statement was ours alone")
	assert.True(t, w.may(t, "flyte-admin", "control", "flyte", "theirs"))
}

func TestUninstallTakesAwayWhatWasMade(t *testing.T) {
	w := newWorld()
	w.aws.PutProvider(eksfake.Provider{Issuer: w.aws.Issuer("dp-2"), ClientIDs: []string{"sts.amazonaws.com", "other"}, Thumbprints: []string{"mine"}})
	w.install(t, w.admin(), w.user("dp-1", "dp-2"))
	shared, _ := w.aws.Provider(w.aws.Issuer("dp-2"))
	assert.Equal(t, []string{"mine"}, shared.Thumbprints, "a provider that is there is used as it is")

	report, err := planewright.Uninstall(t.Context(), w.stack(w.admin(), w.user("dp-1", "dp-2")))
	require.NoError(t, err)
	for _, name := range []string{"flyte-admin", "flyte-user"} {
		_, ok := w.aws.Role(name)
		assert.False(t, ok, name)
		_, versions := w.aws.Policy(name)
		assert.Zero(t, versions, name)
	}
	var kept []string
	for _, k := range report.Kept {
		kept = append(kept, k.Object.Name)
	}
	assert.ElementsMatch(t, []string{w.provider("control").ARN(), w.provider("dp-1").ARN()}, kept, "other roles may trust them")
	_, err = planewright.Uninstall(t.Context(), w.stack(w.admin(), w.user("dp-1", "dp-2")))
	require.NoError(t, err, "again")
}

func TestAPolicyHasFiveVersions(t *testing.T) {
	w := newWorld()
	ours := map[string]string{eks.OwnerTag: "flyte.ml"}
	w.aws.PutPolicy("flyte-admin", ours, `{"Statement":{"Effect":"Allow","Action":"s3:*","Resource":"1"}}`, `{"Statement":{"Effect":"Allow","Action":"s3:*","Resource":"2"}}`,
		`{"Statement":{"Effect":"Allow","Action":"s3:*","Resource":"3"}}`, `{"Statement":{"Effect":"Allow","Action":"s3:*","Resource":"4"}}`, `{"Statement":{"Effect":"Allow","Action":"s3:*","Resource":"5"}}`)
	w.install(t, w.admin())
	document, versions := w.aws.Policy("flyte-admin")
	assert.Contains(t, document, "arn:aws:s3:::acme-flyte")
	assert.Equal(t, 5, versions, "the oldest made room")

	t.Run("and somebody else may take the place", func(t *testing.T) {
		w := newWorld()
		w.aws.PutPolicy("flyte-admin", ours, `{"Statement":{"Effect":"Allow","Action":"s3:*","Resource":"1"}}`, `{"Statement":{"Effect":"Allow","Action":"s3:*","Resource":"2"}}`,
			`{"Statement":{"Effect":"Allow","Action":"s3:*","Resource":"3"}}`, `{"Statement":{"Effect":"Allow","Action":"s3:*","Resource":"4"}}`)
		w.aws.Fail(eksfake.Call("CreatePolicyVersion"), eksfake.None, eksfake.Times(1), eksfake.Do(func() {
			w.aws.PutPolicy("flyte-admin", ours, `{"Statement":{"Effect":"Allow","Action":"s3:*","Resource":"1"}}`, `{"Statement":{"Effect":"Allow","Action":"s3:*","Resource":"2"}}`,
				`{"Statement":{"Effect":"Allow","Action":"s3:*","Resource":"3"}}`, `{"Statement":{"Effect":"Allow","Action":"s3:*","Resource":"4"}}`, `{"Statement":{"Effect":"Allow","Action":"s3:*","Resource":"5"}}`)
		}))
		w.install(t, w.admin())
		document, versions := w.aws.Policy("flyte-admin")
		assert.Contains(t, document, "arn:aws:s3:::acme-flyte")
		assert.Equal(t, 5, versions)
	})
}

func TestReplicasThatLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.aws.SetLag(3)
		began := time.Now()
		w.install(t, w.admin(), w.user("dp-1", "dp-2"))
		assert.Less(t, time.Since(began), time.Minute)
		w.aws.ForgetCalls()
		w.install(t, w.admin(), w.user("dp-1", "dp-2"))
		assert.Empty(t, w.aws.Writes(), "it was waited for, so nothing looks undone")
		w.install(t, w.user("dp-1"))
		assert.Len(t, w.trust(t, "flyte-user").Statements(), 1)
	})
}

func TestAPrincipalThatIsNotSeenYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.aws.Fail(eksfake.Call("CreateRole"), eksfake.InvalidPrincipal, eksfake.Times(4))
		began := time.Now()
		w.install(t, w.admin())
		assert.Less(t, time.Since(began), 30*time.Second)

		w = newWorld()
		w.aws.Fail(eksfake.Call("CreateRole"), eksfake.InvalidPrincipal)
		began = time.Now()
		_, err := planewright.Install(t.Context(), w.stack(w.admin()))
		require.ErrorContains(t, err, "Invalid principal in policy")
		assert.Less(t, time.Since(began), 2*time.Minute, "it is given up after a minute")
	})
}

func TestADeletedPrincipalStopsBeforeAnyWrite(t *testing.T) {
	w := newWorld()
	w.install(t, w.user("dp-1"))
	role, _ := w.aws.Role("flyte-user")
	role.Trust = strings.Replace(role.Trust, `"Statement":[`, `"Statement":[{"Effect":"Allow","Principal":{"AWS":"AROA0000000000000099"},"Action":"sts:AssumeRole"},`, 1)
	w.aws.PutRole(role)
	w.aws.ForgetCalls()
	_, err := planewright.Install(t.Context(), w.stack(w.user("dp-1", "dp-2")))
	require.ErrorIs(t, err, planewright.ErrBlocked)
	require.ErrorContains(t, err, "statement 1 of the trust policy names AROA0000000000000099, a principal that was deleted")
	assert.Empty(t, w.aws.Writes())
}

func TestATrustPolicyThatIsTooLong(t *testing.T) {
	names := []string{"dp-1", "dp-2", "dp-3", "dp-4", "dp-5"}
	aws := eksfake.New(accountID, "us-east-1", names...)
	w := world{aws, aws.Account()}
	_, err := planewright.Install(t.Context(), w.stack(w.user(names...)))
	require.ErrorIs(t, err, planewright.ErrBlocked)
	require.ErrorContains(t, err, "more than the 2048 that the account allows")
	require.ErrorContains(t, err, "EKS Pod Identity")
	require.Empty(t, aws.Writes())

	aws.SetQuota("AssumeRolePolicySizeQuota", 4096)
	w.install(t, w.user(names...))
	assert.Len(t, w.trust(t, "flyte-user").Statements(), 5, "the account's own quota counts")
}

func TestProvidersAreRegisteredInTheRolesAccount(t *testing.T) {
	w := newWorld()
	other := eksfake.New("999999999999", "eu-west-1", "far")
	spec := w.user("dp-1")
	spec.Subjects = append(spec.Subjects, cloud.Subject{Cluster: other.Account().Cluster("far"), Namespace: "flyte", ServiceAccount: "flytepropeller"})
	plan := w.plan(t, spec)
	assert.Contains(t, fmt.Sprint(plan.Findings()), "cluster far is in account 999999999999; its issuer is registered in account 123456789012")
	w.install(t, spec)
	_, ok := w.aws.Provider(other.Issuer("far"))
	assert.True(t, ok)
	assert.Empty(t, other.Writes())
}

func TestIdentitiesThatAreRefused(t *testing.T) {
	w := newWorld()
	china := eksfake.New(accountID, "cn-north-1", "cn")
	foreign := eksfake.New("999999999999", "us-east-1", "far")
	gcp := cloud.Account{Provider: cloud.GCP, ID: "acme-ml", Location: "europe-west4", Clusters: w.account.Clusters}
	config := w.aws.Config()
	config.AccountID, config.Region = "1234", ""
	subjects := func(s ...cloud.Subject) cloud.IdentitySpec {
		return cloud.IdentitySpec{Name: "flyte", Owner: "flyte.ml", Subjects: s}
	}
	for name, c := range map[string]struct {
		account cloud.Account
		spec    cloud.IdentitySpec
		want    string
	}{
		"nobody is trusted":        {w.account, subjects(), "somebody has to be trusted"},
		"a name that is too long":  {w.account, cloud.IdentitySpec{Name: strings.Repeat("x", 65), Subjects: w.admin().Subjects}, "a role's name is at most 64"},
		"another partition":        {w.account, subjects(cloud.Subject{Cluster: china.Account().Cluster("cn"), Namespace: "flyte", ServiceAccount: "flyteadmin"}), "the cluster is in partition aws-cn, the role in aws"},
		"another vendor":           {w.account, subjects(cloud.Subject{Cluster: gcp.Cluster("x"), Namespace: "flyte", ServiceAccount: "flyteadmin"}), "a role is assumed from EKS; the cluster is in gcp project acme-ml in europe-west4"},
		"every ServiceAccount":     {w.account, subjects(cloud.Subject{Cluster: w.account.Cluster("dp-1"), Namespace: "*", ServiceAccount: "*", Pattern: true, AnyNamespace: true}), "every ServiceAccount of the cluster would be trusted"},
		"every namespace":          {w.account, subjects(cloud.Subject{Cluster: w.account.Cluster("dp-1"), Namespace: "*", ServiceAccount: "default", Pattern: true}), "it covers every namespace"},
		"a literal wildcard":       {w.account, subjects(w.subject("dp-1", "*", "default")), "a wildcard under StringEquals"},
		"a bucket with a wildcard": {w.account, cloud.IdentitySpec{Name: "flyte", Subjects: w.admin().Subjects, Buckets: []cloud.BucketAccess{{Bucket: "acme*"}}}, "a bucket has 3 to 63"},
		"a policy of another partition": {w.account, cloud.IdentitySpec{Name: "flyte", Subjects: w.admin().Subjects, Policies: []string{"arn:aws-cn:iam::aws:policy/X"}},
			"the policy is in partition aws-cn, the account in aws"},
		"Pod Identity of a pattern": {w.aws.Account(eks.WithIdentityMode(eks.PodIdentity)), w.user("dp-1"), "an association of Pod Identity names one ServiceAccount"},
		"Pod Identity in another account": {w.aws.Account(eks.WithIdentityMode(eks.PodIdentity)),
			subjects(cloud.Subject{Cluster: foreign.Account().Cluster("far"), Namespace: "flyte", ServiceAccount: "x"}), "Pod Identity gives roles of the cluster's account only"},
		"an account that is none": {eks.New(config), w.admin(), `account "1234": an account id has 12 digits`},
		"no region":               {eks.New(config), w.admin(), "region: clusters are in a region"},
		"a mode that is none":     {w.aws.Account(eks.WithIdentityMode("irsa")), w.admin(), `identityMode "irsa": there is no such mode; fix: use eks.IRSA, eks.PodIdentity or eks.Hybrid`},
		"a cluster without an account": {w.account, subjects(cloud.Subject{Cluster: cloud.ClusterRef{Name: "dp-1"}, Namespace: "flyte", ServiceAccount: "x"}),
			"a cluster in an account that can be asked about it"},
		"a cluster without a name": {w.account, subjects(w.subject("", "flyte", "x")), "refer to it by the account"},
		"a path that is none":      {w.aws.Account(eks.WithPath("flyte")), w.admin(), "a path begins and ends with a slash"},
		"a boundary that is none":  {w.aws.Account(eks.WithPermissionsBoundary("limits")), w.admin(), "a permissions boundary is a managed policy"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.account.Identities.Provision("flyte/ml/identity", c.spec).Err
			require.ErrorIs(t, err, planewright.ErrInvalid)
			assert.ErrorContains(t, err, c.want)
		})
	}
	assert.Empty(t, w.aws.Calls())
}

func TestOrganisationsRules(t *testing.T) {
	w := newWorld(eks.WithPath("/ml/"), eks.WithPermissionsBoundary("arn:aws:iam::aws:policy/PowerUserAccess"), eks.WithTags(map[string]string{"team": "ml"}), eks.WithAudience("flyte"))
	w.install(t, w.admin())
	role, _ := w.aws.Role("flyte-admin")
	assert.Equal(t, "/ml/", role.Path)
	assert.Equal(t, "arn:aws:iam::aws:policy/PowerUserAccess", role.Boundary)
	assert.Equal(t, "ml", role.Tags["team"])
	assert.Equal(t, []string{"arn:aws:iam::123456789012:policy/ml/flyte-admin"}, role.Attached)
	assert.Contains(t, role.Trust, `:aud":"flyte"`)
	p := w.account.Identities.Provision("x/y", w.admin())
	assert.Equal(t, map[string]string{"eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/ml/flyte-admin", "eks.amazonaws.com/audience": "flyte"}, p.Identities[0].Annotations)

	w.account = w.aws.Account()
	plan := w.plan(t, w.admin())
	assert.ErrorContains(t, plan.Err(), "a role's name is its own whatever its path or case", "the same name on another path")
}

func TestAnotherAudienceTakesThePlaceOfTheFirst(t *testing.T) {
	w := newWorld()
	w.install(t, w.user("dp-1", "dp-2"))
	w.account = w.aws.Account(eks.WithAudience("flyte"))
	role, _ := w.plan(t, w.user("dp-1", "dp-2")).Step("flyte/ml/identity/flyte-user/role")
	assert.Equal(t, planewright.ActionUpdate, role.Change.Action)
	w.install(t, w.user("dp-1", "dp-2"))
	require.Len(t, w.trust(t, "flyte-user").Statements(), 2)
	assert.False(t, w.may(t, "flyte-user", "dp-1", "flyte", "flytepropeller"), "tokens of the first audience are let in no longer")
	provider, _ := w.aws.Provider(w.aws.Issuer("dp-1"))
	assert.Equal(t, []string{"sts.amazonaws.com", "flyte"}, provider.ClientIDs, "other roles may need it")
	planewright.AssertNoChanges(t, w.plan(t, w.user("dp-1", "dp-2")))
}

func TestCallsThatFail(t *testing.T) {
	t.Run("the operation is named", func(t *testing.T) {
		w := newWorld()
		w.aws.Fail(eksfake.Call("GetRole"), eksfake.Denied)
		_, err := planewright.Install(t.Context(), w.stack(w.admin()))
		require.ErrorIs(t, err, planewright.ErrDenied)
		call, ok := errors.AsType[*cloud.CallError](err)
		require.True(t, ok)
		assert.Equal(t, "iam:GetRole", call.Operation)
		assert.Equal(t, "AccessDenied", call.Code)
		assert.Equal(t, "allow iam:GetRole for the credentials in use", call.Hint)
		assert.False(t, call.Retryable())
		assert.Empty(t, w.aws.Writes())
	})
	t.Run("throttling is tried again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			w.aws.Fail(eksfake.Call("CreateRole"), eksfake.Throttled, eksfake.Times(2))
			w.install(t, w.admin())
		})
	})
	t.Run("the context ends it at once", func(t *testing.T) {
		w := newWorld()
		ctx, cancel := context.WithCancel(t.Context())
		w.aws.Fail(eksfake.Call("CreateRole"), eksfake.Block, eksfake.Do(cancel))
		_, err := planewright.Install(ctx, w.stack(w.admin()))
		require.ErrorIs(t, err, context.Canceled)
	})
	t.Run("quotas that may not be asked are assumed", func(t *testing.T) {
		w := newWorld()
		w.aws.Fail(eksfake.Call("GetAccountSummary"), eksfake.Denied)
		assert.Contains(t, fmt.Sprint(w.install(t, w.admin()).Findings), "the account's quotas may not be asked; the usual ones are assumed")
	})
}

func TestTagsThatAreAddedLaterAreWritten(t *testing.T) {
	w := newWorld()
	w.install(t, w.admin())
	w.account = w.aws.Account(eks.WithTags(map[string]string{"team": "ml"}))
	plan := w.plan(t, w.admin())
	for _, id := range []string{"flyte/ml/identity/flyte-admin/policy", "flyte/ml/identity/flyte-admin/role"} {
		step, _ := plan.Step(id)
		assert.Equal(t, []planewright.FieldDiff{{Path: "tags[team]", After: "ml"}}, step.Change.Diff, id)
	}
	w.aws.ForgetCalls()
	w.install(t, w.admin())
	var wrote []string
	for _, call := range w.aws.Writes() {
		wrote = append(wrote, call.Operation)
	}
	assert.ElementsMatch(t, []string{"iam:TagPolicy", "iam:TagRole"}, wrote, "and no version of the policy")
	planewright.AssertNoChanges(t, w.plan(t, w.admin()))
}
