package eks_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/eks"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/planewright/planewright/cloud/iam"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// theirRole is a role that was there before, and what it looked like.
func (w world) theirRole(t *testing.T) eksfake.Role {
	t.Helper()
	trust, err := iam.NewTrustPolicy().WithServiceAccounts(w.provider("control"), iam.ServiceAccount("flyte", "theirs")).WithService("ec2.amazonaws.com").Document()
	require.NoError(t, err)
	role := eksfake.Role{Name: "flyte-admin", Path: "/", Trust: trust.String(), Tags: map[string]string{"team": "one"}, Attached: []string{"arn:aws:iam::aws:policy/ReadOnlyAccess"}}
	w.aws.PutRole(role)
	return role
}

func (w world) adopting() cloud.IdentitySpec {
	spec := w.admin()
	spec.Adopt = true
	spec.Subjects = []cloud.Subject{w.subject("dp-1", "flyte", "flytepropeller"), w.subject("dp-2", "flyte", "flytepropeller")}
	return spec
}

func TestAnUninstallThatIsCutOffIsFinishedByTheNext(t *testing.T) {
	specs := func(w world) planewright.Stack {
		return w.stack(w.adopting(), w.user("dp-1", "dp-2"))
	}
	counting := newWorld(eks.WithIdentityMode(eks.IRSA))
	counting.theirRole(t)
	_, err := planewright.Install(t.Context(), specs(counting))
	require.NoError(t, err)
	counting.aws.ForgetCalls()
	_, err = planewright.Uninstall(t.Context(), specs(counting))
	require.NoError(t, err)
	for _, fault := range eksfake.Faults() {
		for nth := range len(counting.aws.Calls()) {
			if testing.Short() && nth%5 != 0 {
				continue
			}
			for _, effect := range [][]eksfake.FaultOption{nil, {eksfake.AfterEffect()}} {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld()
					before := w.theirRole(t)
					_, err := planewright.Install(t.Context(), specs(w))
					require.NoError(t, err)
					w.aws.Fail(eksfake.Call("*"), fault, append(effect, eksfake.After(nth), eksfake.Times(1))...)
					_, disturbed := planewright.Uninstall(t.Context(), specs(w))
					w.aws.Heal()
					w.aws.Revive()
					_, err = planewright.Uninstall(t.Context(), specs(w))
					require.NoError(t, err, "%s at call %d (the disturbed uninstall said: %v)", fault, nth, disturbed)
					after, _ := w.aws.Role("flyte-admin")
					assert.Equal(t, before, after, "%s at call %d: a role that was there before is as it was", fault, nth)
					_, there := w.aws.Role("flyte-user")
					assert.False(t, there, "%s at call %d", fault, nth)
					for _, name := range []string{"flyte-admin", "flyte-user"} {
						_, versions := w.aws.Policy(name)
						assert.Zero(t, versions, "%s at call %d: policy %s", fault, nth, name)
					}
				})
			}
		}
	}
}

// Replicas that lag and calls that fail, at the same time.
func TestFaultsOnReplicasThatLag(t *testing.T) {
	specs := func(w world) planewright.Stack { return w.stack(w.admin(), w.user("dp-1", "dp-2")) }
	for lag := 1; lag <= 3; lag++ {
		counting := newWorld()
		counting.install(t, counting.admin(), counting.user("dp-1", "dp-2"))
		want := state(t, counting)
		for _, fault := range eksfake.Faults() {
			for nth := 0; nth < 2*len(counting.aws.Calls()); nth += 8 {
				if testing.Short() && nth%9 != 0 {
					continue
				}
				synctest.Test(t, func(t *testing.T) {
					w := newWorld()
					w.aws.SetLag(lag)
					w.aws.Fail(eksfake.Call("*"), fault, eksfake.After(nth), eksfake.Times(1), eksfake.AfterEffect())
					_, disturbed := planewright.Install(t.Context(), specs(w))
					w.aws.Heal()
					w.aws.Revive()
					_, err := planewright.Install(t.Context(), specs(w))
					if errors.Is(err, planewright.ErrStale) {
						// It was planned on what a replica had not heard of yet; that is seen, and told.
						_, err = planewright.Install(t.Context(), specs(w))
					}
					require.NoError(t, err, "lag %d, %s at call %d (the disturbed install said: %v)", lag, fault, nth, disturbed)
					assert.Equal(t, want, state(t, w), "lag %d, %s at call %d", lag, fault, nth)
				})
			}
		}
	}
}

func TestPruningThatIsCutOffIsFinishedByTheNextInstall(t *testing.T) {
	install := func(ctx context.Context, w world, inventory *remembered, specs ...cloud.IdentitySpec) error {
		_, err := planewright.Install(ctx, w.stack(specs...).WithInventory(inventory, w.account.Prune))
		return err
	}
	counting, counted := newWorld(eks.WithIdentityMode(eks.Hybrid)), &remembered{}
	require.NoError(t, install(t.Context(), counting, counted, counting.admin(), counting.user("dp-1")))
	counting.aws.ForgetCalls()
	require.NoError(t, install(t.Context(), counting, counted, counting.user("dp-1")))
	for _, fault := range eksfake.Faults() {
		for nth := range len(counting.aws.Calls()) {
			if testing.Short() && nth%5 != 0 {
				continue
			}
			for _, effect := range [][]eksfake.FaultOption{nil, {eksfake.AfterEffect()}} {
				synctest.Test(t, func(t *testing.T) {
					w, inventory := newWorld(eks.WithIdentityMode(eks.Hybrid)), &remembered{}
					require.NoError(t, install(t.Context(), w, inventory, w.admin(), w.user("dp-1")))
					w.aws.Fail(eksfake.Call("*"), fault, append(effect, eksfake.After(nth), eksfake.Times(1))...)
					disturbed := install(t.Context(), w, inventory, w.user("dp-1"))
					w.aws.Heal()
					w.aws.Revive()
					require.NoError(t, install(t.Context(), w, inventory, w.user("dp-1")), "%s at call %d (the disturbed install said: %v)", fault, nth, disturbed)
					_, there := w.aws.Role("flyte-admin")
					assert.False(t, there, "%s at call %d", fault, nth)
					_, versions := w.aws.Policy("flyte-admin")
					assert.Zero(t, versions, "%s at call %d", fault, nth)
					assert.Empty(t, w.aws.Associations("control"), "%s at call %d", fault, nth)
				})
			}
		}
	}
}
