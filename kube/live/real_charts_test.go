package live_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/live"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRealCharts installs the published Flyte charts, plans them again, and
// changes each object behind the release's back.
func TestRealCharts(t *testing.T) {
	folder := os.Getenv("PLANEWRIGHT_CHARTS")
	if folder == "" {
		t.Skip("PLANEWRIGHT_CHARTS is not set: the published charts are not here, other tests use small charts of our own")
	}
	for _, name := range []string{"flyte-binary", "flyte-core"} {
		t.Run(name, func(t *testing.T) {
			if _, err := os.Stat(filepath.Join(folder, name+"-v1.16.8.tgz")); err != nil {
				t.Skip(err)
			}
			fleet := fleetOf(t, "dp-1")
			ctx := inTime(t)
			chart, err := live.ChartFolder(folder).Chart(ctx, kube.ChartRef{Name: name, Version: "v1.16.8"})
			require.NoError(t, err)
			release := kube.Release{Name: "flyte", Namespace: "flyte", Chart: chart, Owner: owner}
			cluster := fleet.Cluster("dp-1")
			state, err := cluster.Releases.Apply(ctx, release)
			require.NoError(t, err)

			fleet.ForgetCalls()
			again := fleet.Cluster("dp-1")
			plan, err := again.Releases.Plan(ctx, release)
			require.NoError(t, err)
			assert.Equal(t, planewright.ActionNone, plan.Action, "%v", plan.Diff)
			assert.LessOrEqual(t, fleet.Reads("dp-1"), maxSecondReads)
			assert.Zero(t, fleet.Writes("dp-1"))

			// A record without our label is compared in full, to the same end.
			release.Owner = ""
			plan, err = again.Releases.Plan(ctx, release)
			require.NoError(t, err)
			assert.Equal(t, planewright.ActionNone, plan.Action, "%v", plan.Diff)

			kept, err := cluster.Releases.Uninstall(ctx, "flyte", "flyte")
			require.NoError(t, err)
			for _, ref := range kept {
				assert.Equal(t, "CustomResourceDefinition", ref.Kind)
			}
			for _, ref := range state.Objects {
				if _, err := cluster.Objects.Get(ctx, ref); ref.Kind != "CustomResourceDefinition" {
					assert.ErrorIs(t, err, planewright.ErrNotFound, "%s", ref)
				}
			}
		})
	}
}
