package eks_test

import (
	"context"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/eks"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A role is the account's, whatever the region; its associations are made
// where each cluster is, also if another region has a cluster of the same name.
func TestAssociationsAreMadeInTheClustersRegion(t *testing.T) {
	w := newWorld(eks.WithIdentityMode(eks.PodIdentity))
	europe := eksfake.New(accountID, "eu-west-1", "dp-1")
	europe.PutRole(eksfake.Role{Name: "flyte-user"}) // roles are the same in all regions
	far := cloud.Subject{Cluster: europe.Account().Cluster("dp-1"), Namespace: "flyte", ServiceAccount: "flytepropeller"}
	spec := cloud.IdentitySpec{Name: "flyte-user", Subjects: []cloud.Subject{w.subject("dp-1", "team1-production", "default"), far}}
	report := w.install(t, spec)
	assert.Contains(t, report.Changed(), "flyte/ml/identity/flyte-user/pod-identity/dp-1.eu-west-1")
	const role = "arn:aws:iam::123456789012:role/flyte-user"
	assert.Equal(t, map[string]string{"team1-production/default": role}, w.aws.Associations("dp-1"))
	assert.Equal(t, map[string]string{"flyte/flytepropeller": role}, europe.Associations("dp-1"))

	far.Cluster.Account.Clusters = decorated{far.Cluster.Account.Clusters}
	spec.Subjects = []cloud.Subject{far}
	require.ErrorContains(t, w.account.Identities.Provision("flyte/ml/identity", spec).Err, "the cluster is in eu-west-1, and its account is not one that this package made")
}

// decorated is a port that somebody has put something before.
type decorated struct{ cloud.Clusters }

// remembered is an inventory in memory.
type remembered struct{ entries []planewright.InventoryEntry }

func (r *remembered) Load(context.Context) ([]planewright.InventoryEntry, error) {
	return r.entries, nil
}

func (r *remembered) Save(_ context.Context, entries []planewright.InventoryEntry) error {
	r.entries = entries
	return nil
}

func TestWhatNoSpecNamesAnyMoreIsPruned(t *testing.T) {
	w := newWorld(eks.WithIdentityMode(eks.Hybrid))
	inventory := &remembered{}
	install := func(specs ...cloud.IdentitySpec) *planewright.Report {
		report, err := planewright.Install(t.Context(), w.stack(specs...).WithInventory(inventory, w.account.Prune))
		require.NoError(t, err)
		return report
	}
	w.aws.PutAssociation("control", "other", "theirs", "arn:aws:iam::123456789012:role/flyte-admin")
	install(w.admin(), w.user("dp-1"))
	require.Len(t, w.aws.Associations("control"), 3)
	install(w.user("dp-1"))
	_, there := w.aws.Role("flyte-admin")
	assert.False(t, there)
	_, versions := w.aws.Policy("flyte-admin")
	assert.Zero(t, versions)
	assert.Equal(t, map[string]string{"other/theirs": "arn:aws:iam::123456789012:role/flyte-admin"}, w.aws.Associations("control"), "what others made stays")
	_, there = w.aws.Role("flyte-user")
	assert.True(t, there)
	w.aws.ForgetCalls()
	install(w.user("dp-1"))
	assert.Empty(t, w.aws.Writes())
}

func TestRightsThatNoSpecNamesAnyMoreAreTaken(t *testing.T) {
	w := newWorld()
	inventory := &remembered{}
	spec := w.admin()
	install := func() *planewright.Report {
		report, err := planewright.Install(t.Context(), w.stack(spec).WithInventory(inventory, w.account.Prune))
		require.NoError(t, err)
		return report
	}
	install()
	spec.Buckets = nil
	install()
	role, _ := w.aws.Role("flyte-admin")
	assert.Empty(t, role.Attached)
	_, versions := w.aws.Policy("flyte-admin")
	assert.Zero(t, versions)
	assert.Empty(t, install().Changed())
}

// Roles and policies are pruned at the same time, so either may go first.
func TestARoleThatGoesBetweenTwoLooksIsGone(t *testing.T) {
	w := newWorld()
	inventory := &remembered{}
	stack := func(specs ...cloud.IdentitySpec) planewright.Stack {
		return w.stack(specs...).WithInventory(inventory, w.account.Prune)
	}
	_, err := planewright.Install(t.Context(), stack(w.admin(), w.user("dp-1")))
	require.NoError(t, err)
	plan, err := planewright.Plan(t.Context(), stack(w.user("dp-1")))
	require.NoError(t, err)
	w.aws.Fail(eksfake.Call("ListAttachedRolePolicies").On("flyte-admin"), eksfake.None, eksfake.Do(func() {
		w.aws.RemoveRole("flyte-admin")
	}))
	_, err = planewright.Apply(t.Context(), plan)
	require.NoError(t, err)
	_, versions := w.aws.Policy("flyte-admin")
	assert.Zero(t, versions)
}

func TestTheModeIsChangedAndChangedBack(t *testing.T) {
	w := newWorld()
	inventory := &remembered{}
	in := func(mode eks.IdentityMode) {
		w.account = w.aws.Account(eks.WithIdentityMode(mode))
		for range 2 {
			_, err := planewright.Install(t.Context(), w.stack(w.admin()).WithInventory(inventory, w.account.Prune))
			require.NoError(t, err)
		}
	}
	in(eks.IRSA)
	in(eks.PodIdentity)
	assert.Len(t, w.aws.Associations("control"), 2)
	assert.False(t, w.may(t, "flyte-admin", "control", "flyte", "flyteadmin"), "its pods come by associations now")
	in(eks.IRSA)
	assert.Empty(t, w.aws.Associations("control"))
	assert.True(t, w.may(t, "flyte-admin", "control", "flyte", "flyteadmin"))
	assert.Contains(t, w.trust(t, "flyte-admin").String(), "pods.eks.amazonaws.com")
	w.aws.ForgetCalls()
	in(eks.IRSA)
	assert.Empty(t, w.aws.Writes())
}
