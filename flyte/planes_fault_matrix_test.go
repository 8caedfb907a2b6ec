package flyte_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/kube/kubefake"
)

// inVirtualTime is a world whose flyteadmin is reached without a connection.
func inVirtualTime(tb testing.TB, dataplanes ...string) planesWorld {
	tb.Helper()
	w := newPlanesWorld(tb, dataplanes...)
	w.env = w.env.WithAdmin(func(context.Context) (*admin.Client, func(), error) {
		client, err := w.admin.Client()
		return client, nil, err
	})
	return w
}

// routed is one data plane with all that an install writes about it.
func routed() flyte.Deployment {
	return planes().WithControlPlane(controlPlane().WithCatalog(flyte.InternalLoadBalancer())).
		WithDataplanes(flyte.NewDataplane("dp-1", "one")).
		WithLabelMap(flyte.NewLabelMap().WithLabel("cpu", flyte.Weight("dp-1", 1)).WithDefault("cpu").WithProject("team1", "development", "cpu"))
}

// planesState is what an install leaves behind everywhere.
func (w planesWorld) planesState(t *testing.T) map[string]map[string]any {
	t.Helper()
	state := map[string]map[string]any{}
	for _, name := range w.fleet.Names() {
		for key, object := range endState(t, w.fleet.Cluster(name)) {
			state[name+": "+key] = object
		}
	}
	rows, err := w.adminClient(t).Attributes(t.Context(), admin.KindExecutionClusterLabel)
	require.NoError(t, err)
	state["labels"] = map[string]any{"rows": fmt.Sprint(rows)}
	for _, role := range []string{"flyte-ml-controlplane", "flyte-ml-dataplane"} {
		r, _ := w.aws.Role(role)
		state["role "+role] = map[string]any{"trust": fmt.Sprint(r)}
	}
	return state
}

// Whatever write of an install in planes goes wrong, on whatever cluster, before
// or after it has taken effect: the next install ends in the state of one
// that nothing ever disturbed, and the one after that changes nothing.
func TestEveryFaultAtEveryWriteInPlanesIsMendedByTheNextInstall(t *testing.T) {
	t.Parallel()
	type write struct {
		step
		cluster string
	}
	var writes []write
	var want map[string]map[string]any
	synctest.Test(t, func(t *testing.T) {
		w := inVirtualTime(t, "one")
		w.install(t, routed())
		seen := map[string]int{}
		for _, c := range w.fleet.Calls() {
			s := step{call: c}
			key := c.Cluster + s.match().String()
			s.nth = seen[key]
			seen[key]++
			if c.Persisted {
				writes = append(writes, write{s, c.Cluster})
			}
		}
		want = w.planesState(t)
	})
	faults := []kubefake.Fault{kubefake.Killed, kubefake.Throttled, kubefake.ServerError, kubefake.Conflict, kubefake.Timeout, kubefake.Reset, kubefake.Denied}
	tried := 0
	for n, s := range writes {
		for m, fault := range faults {
			if testing.Short() && (n%5 != 0 || (n/5+m)%len(faults) != 0) {
				continue // A short run takes a sample: every fifth write once, each fault in its turn.
			}
			for i, effect := range [][]kubefake.FaultOption{{}, {kubefake.AfterEffect()}} {
				if testing.Short() && i != n%2 {
					continue
				}
				tried++
				t.Run(fmt.Sprintf("%s %s on %s: %s", []string{"before", "after"}[i], s, s.cluster, fault), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						w := inVirtualTime(t, "one")
						w.fleet.Fail(s.match().On(s.cluster), fault, append(effect, kubefake.After(s.nth), kubefake.Times(1))...)
						_, disturbed := planewright.Install(t.Context(), routed().On(w.env), planewright.WithHolder("first"))
						w.fleet.Heal()
						w.fleet.Revive()

						_, err := planewright.Install(t.Context(), routed().On(w.env), planewright.WithHolder("second"))
						require.NoError(t, err, "the disturbed install said: %v", disturbed)
						assert.Equal(t, want, w.planesState(t))
						plan, err := planewright.Plan(t.Context(), routed().On(w.env))
						require.NoError(t, err)
						planewright.AssertNoChanges(t, plan)
					})
				})
			}
		}
	}
	t.Logf("%d faults at %d writes", tried, len(writes))
}
