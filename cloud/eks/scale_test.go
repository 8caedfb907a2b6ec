package eks_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/eks"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A hundred data planes on one account, 30 ms a call.
func TestAHundredDataPlanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var names []string
		for i := range 100 {
			names = append(names, fmt.Sprintf("dp-%d", i))
		}
		aws := eksfake.New(accountID, "us-east-1", names...)
		aws.SetQuota("AssumeRolePolicySizeQuota", 100_000)
		w := world{aws, aws.Account()}
		w.install(t, w.user(names...))
		require.Len(t, w.trust(t, "flyte-user").Statements(), 100)

		aws.ForgetCalls()
		aws.SetLatency(30 * time.Millisecond)
		began := time.Now()
		w.install(t, w.user(names...))
		took := time.Since(began)
		assert.Less(t, took, 3*time.Second)
		assert.Empty(t, aws.Writes())
		assert.LessOrEqual(t, len(aws.Calls()), 4*len(names))
		t.Logf("100 unchanged data planes: %s, %d calls", took, len(aws.Calls()))

		aws.ForgetCalls()
		aws.AddCluster("dp-new")
		began = time.Now()
		w.install(t, w.user(append(names, "dp-new")...))
		t.Logf("one more: %s, %d writes", time.Since(began), len(aws.Writes()))
		assert.Less(t, time.Since(began), 6*time.Second)
	})
}

func TestPodIdentity(t *testing.T) {
	w := newWorld()
	w.account = w.aws.Account(eksMode("PodIdentity"))
	spec := func(clusters ...string) cloud.IdentitySpec {
		s := cloud.IdentitySpec{Name: "flyte-user", Owner: "flyte.ml"}
		for _, c := range clusters {
			s.Subjects = append(s.Subjects, w.subject(c, "flyte", "flytepropeller"), w.subject(c, "team1-production", "default"), w.subject(c, "team2-production", "default"))
		}
		return s
	}
	p := w.account.Identities.Provision("flyte/ml/identity", spec("dp-1"))
	require.NoError(t, p.Err)
	assert.Empty(t, p.Identities[0].Annotations, "an association needs no annotation")

	report := w.install(t, spec("dp-1", "dp-2"))
	assert.Contains(t, fmt.Sprint(report.Findings), "the cluster has no add-on eks-pod-identity-agent, without which no pod gets its role")
	const role = "arn:aws:iam::123456789012:role/flyte-user"
	assert.Equal(t, map[string]string{"flyte/flytepropeller": role, "team1-production/default": role, "team2-production/default": role}, w.aws.Associations("dp-2"))
	assert.Equal(t, `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"pods.eks.amazonaws.com"},"Action":["sts:AssumeRole","sts:TagSession"],"Condition":{"StringEquals":{"aws:SourceAccount":"123456789012"}}}]}`,
		w.trust(t, "flyte-user").String(), "the same for any number of clusters")

	w.aws.ForgetCalls()
	w.aws.SetCluster("dp-1", eksfake.ClusterState{PodIdentityAgent: true})
	w.aws.SetCluster("dp-2", eksfake.ClusterState{PodIdentityAgent: true})
	assert.NotContains(t, fmt.Sprint(w.install(t, spec("dp-1", "dp-2")).Findings), "eks-pod-identity-agent")
	assert.Empty(t, w.aws.Writes())

	smaller := spec("dp-1")
	smaller.Subjects = smaller.Subjects[:2]
	w.install(t, smaller)
	assert.Len(t, w.aws.Associations("dp-1"), 2, "what is no longer named is taken out")

	w.aws.PutAssociation("dp-1", "team3-production", "default", "arn:aws:iam::123456789012:role/theirs")
	smaller.Subjects = append(smaller.Subjects, w.subject("dp-1", "team3-production", "default"))
	_, err := planewright.Install(t.Context(), w.stack(smaller))
	require.ErrorIs(t, err, planewright.ErrBlocked)
	require.ErrorContains(t, err, "ServiceAccount team3-production/default of cluster dp-1 is associated with arn:aws:iam::123456789012:role/theirs, and not by this stack")

	_, err = planewright.Uninstall(t.Context(), w.stack(spec("dp-1")))
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"team3-production/default": "arn:aws:iam::123456789012:role/theirs"}, w.aws.Associations("dp-1"))
}

func TestHybrid(t *testing.T) {
	w := newWorld()
	w.account = w.aws.Account(eksMode("Hybrid"))
	p := w.account.Identities.Provision("flyte/ml/identity", w.admin(), w.user("dp-1"))
	require.NoError(t, p.Err)
	assert.Empty(t, p.Identities[0].Annotations, "named ServiceAccounts by associations")
	assert.NotEmpty(t, p.Identities[1].Annotations, "patterns by tokens")
	w.install(t, w.admin(), w.user("dp-1"))
	assert.Len(t, w.aws.Associations("control"), 2)
	assert.Empty(t, w.aws.Associations("dp-1"))
	assert.True(t, w.may(t, "flyte-user", "dp-1", "team1-production", "default"))
}

// Three hundred projects in three domains are nine hundred associations in
// each cluster. The list of them does not tell their roles.
func TestNineHundredAssociations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(eks.WithIdentityMode(eks.PodIdentity))
		spec := cloud.IdentitySpec{Name: "flyte-user"}
		for i := range 300 {
			for _, domain := range []string{"development", "staging", "production"} {
				spec.Subjects = append(spec.Subjects, w.subject("dp-1", fmt.Sprintf("team%d-%s", i, domain), "default"))
			}
		}
		w.install(t, spec)
		require.Len(t, w.aws.Associations("dp-1"), 900)
		w.aws.ForgetCalls()
		w.aws.SetLatency(30 * time.Millisecond)
		began := time.Now()
		w.install(t, spec)
		took := time.Since(began)
		assert.Empty(t, w.aws.Writes())
		t.Logf("900 unchanged associations: %s, %d calls", took, len(w.aws.Calls()))
		assert.Less(t, took, 4*time.Second)

		w.aws.Fail(eksfake.Call("DescribePodIdentityAssociation"), eksfake.Denied)
		w.aws.ForgetCalls()
		_, err := planewright.Plan(t.Context(), w.stack(spec))
		require.ErrorIs(t, err, planewright.ErrDenied)
		assert.Less(t, len(w.aws.Calls()), 50, "after the first failure no more are begun")
	})
}
