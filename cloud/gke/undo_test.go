package gke_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/gke/gkefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnUninstallThatIsCutOffIsFinishedByTheNext(t *testing.T) {
	arranged := func() (world, planewright.Stack) {
		w := newWorld()
		w.google.PutBucket(gkefake.Bucket{Name: "acme-models"})
		w.google.PutAccount("flyte-admin", "Team one's")
		w.google.AddMember("flyte-admin", user, "serviceAccount:acme-ml.svc.id.goog[theirs/default]")
		ours, theirs := w.spec("team1", "team2"), w.spec("team1")
		ours.Buckets = append(ours.Buckets, cloud.BucketAccess{Bucket: "acme-models", Prefix: "models/", ReadOnly: true})
		theirs.Name, theirs.Adopt = "flyte-admin", true
		return w, w.stack(ours, theirs)
	}
	counting, stack := arranged()
	_, err := planewright.Install(t.Context(), stack)
	require.NoError(t, err)
	counting.google.ForgetCalls()
	_, err = planewright.Uninstall(t.Context(), stack)
	require.NoError(t, err)
	for _, fault := range gkefake.Faults() {
		for nth := range len(counting.google.Calls()) {
			for _, effect := range [][]gkefake.FaultOption{nil, {gkefake.AfterEffect()}} {
				synctest.Test(t, func(t *testing.T) {
					w, stack := arranged()
					_, err := planewright.Install(t.Context(), stack)
					require.NoError(t, err)
					w.google.Fail(gkefake.Call("*"), fault, append(effect, gkefake.After(nth), gkefake.Times(1))...)
					_, disturbed := planewright.Uninstall(t.Context(), stack)
					w.google.Heal()
					w.google.Revive()
					_, err = planewright.Uninstall(t.Context(), stack)
					require.NoError(t, err, "%s at call %d (the disturbed uninstall said: %v)", fault, nth, disturbed)
					_, there := w.google.ServiceAccount("flyte-user")
					assert.False(t, there, "%s at call %d", fault, nth)
					description, _ := w.google.ServiceAccount("flyte-admin")
					assert.Equal(t, "Team one's", description, "%s at call %d", fault, nth)
					assert.Equal(t, []string{"serviceAccount:acme-ml.svc.id.goog[theirs/default]"}, w.members("flyte-admin"), "%s at call %d", fault, nth)
					for _, bucket := range []string{"acme-flyte", "acme-models"} {
						assert.Equal(t, []string{"projectOwner:acme-ml"}, w.google.BucketMembers(bucket), "%s at call %d: bucket %s", fault, nth, bucket)
					}
				})
			}
		}
	}
}

// A policy of a bucket that somebody else writes between look and write: their
// member stays, and ours comes.
func TestSomebodyElseWritesTheBucketsPolicyToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.google.Fail(gkefake.Call("SetBucketPolicy"), gkefake.None, gkefake.Times(3), gkefake.Do(func() {
			w.google.AddBucketMember("acme-flyte", "roles/storage.objectAdmin", "user:somebody@example.com")
		}))
		w.install(t, w.spec("team1"))
		assert.Len(t, w.google.BucketRoles("acme-flyte", member), 2)
		_, err := planewright.Uninstall(t.Context(), w.stack(w.spec("team1")))
		require.NoError(t, err)
		assert.Equal(t, []string{"projectOwner:acme-ml", "user:somebody@example.com", "user:somebody@example.com", "user:somebody@example.com"}, w.google.BucketMembers("acme-flyte"))
	})
}

func TestMembersOfAClusterThatIsGoneAreTakenOut(t *testing.T) {
	w := newWorld()
	w.google.PutAccount("flyte-user", "Team one's")
	spec := w.spec("team1")
	spec.Adopt = true
	w.install(t, spec)
	require.Len(t, w.members("flyte-user"), 1)
	w.google.DeleteCluster("main")
	_, err := planewright.Uninstall(t.Context(), w.stack(spec))
	require.NoError(t, err)
	assert.Empty(t, w.members("flyte-user"))
}

func TestPruningThatIsCutOffIsFinishedByTheNextInstall(t *testing.T) {
	install := func(ctx context.Context, w world, inventory *remembered, specs ...cloud.IdentitySpec) error {
		_, err := planewright.Install(ctx, w.stack(specs...).WithInventory(inventory, w.account.Prune))
		return err
	}
	other := func(w world) cloud.IdentitySpec {
		spec := w.spec("team1")
		spec.Name = "flyte-other"
		return spec
	}
	counting, counted := newWorld(), &remembered{}
	require.NoError(t, install(t.Context(), counting, counted, counting.spec("team1"), other(counting)))
	counting.google.ForgetCalls()
	require.NoError(t, install(t.Context(), counting, counted, other(counting)))
	for _, fault := range gkefake.Faults() {
		for nth := range len(counting.google.Calls()) {
			for _, effect := range [][]gkefake.FaultOption{nil, {gkefake.AfterEffect()}} {
				synctest.Test(t, func(t *testing.T) {
					w, inventory := newWorld(), &remembered{}
					require.NoError(t, install(t.Context(), w, inventory, w.spec("team1"), other(w)))
					w.google.Fail(gkefake.Call("*"), fault, append(effect, gkefake.After(nth), gkefake.Times(1))...)
					disturbed := install(t.Context(), w, inventory, other(w))
					w.google.Heal()
					w.google.Revive()
					require.NoError(t, install(t.Context(), w, inventory, other(w)), "%s at call %d (the disturbed install said: %v)", fault, nth, disturbed)
					_, there := w.google.ServiceAccount("flyte-user")
					assert.False(t, there, "%s at call %d", fault, nth)
					for _, m := range w.google.BucketMembers("acme-flyte") {
						assert.NotContains(t, m, "flyte-user", "%s at call %d", fault, nth)
					}
					assert.Len(t, w.google.BucketMembers("acme-flyte"), 3)
				})
			}
		}
	}
}
