package flyte_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPlansInPlanes shows what the plans of day one and of day two look like:
// each is a file in testdata/golden/plans.
func TestPlansInPlanes(t *testing.T) {
	t.Parallel()
	before := two().WithLabelMap(labels().WithProject("team1", "development", "gpu"))
	third := flyte.NewDataplane("dp-3", "three")
	for name, c := range map[string]struct {
		fresh bool
		want  flyte.Deployment
	}{
		"install": {true, before},
		"add": {false, before.WithDataplanes(third).
			WithLabelMap(before.LabelMap().WithLabel("gpu", flyte.Weight("dp-1", 30), flyte.Weight("dp-2", 50), flyte.Weight("dp-3", 20)))},
		"disable": {false, before.WithDataplanes(flyte.NewDataplane("dp-2", "two").WithoutNewExecutions()).
			WithLabelMap(before.LabelMap().WithLabel("gpu", flyte.Weight("dp-1", 1)))},
		"remove":  {false, before.WithoutDataplane("dp-2").WithLabelMap(before.LabelMap().WithLabel("gpu", flyte.Weight("dp-1", 1)))},
		"rotate":  {false, before.WithDataplanes(flyte.NewDataplane("dp-1", "one").WithTokenGeneration(2))},
		"weights": {false, before.WithLabelMap(before.LabelMap().WithLabel("gpu", flyte.Weight("dp-1", 50), flyte.Weight("dp-2", 50)))},
		"labels":  {false, before.WithLabelMap(labels().WithWorkflow("team1", "production", "train.main", "gpu"))},
		"project": {false, before.WithProjects(flyte.NewProject("team2").WithDescription("Speech"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newPlanesWorld(t, "one", "two", "three").withFlyteadmin(adminfake.New(adminfake.WithProjects("team1")))
			if !c.fresh {
				w.install(t, before)
			}
			plan := w.plan(t, c.want)
			require.NoError(t, plan.Err())
			goldenPlan(t, name, plan.String())
			w.install(t, c.want)
			assert.Empty(t, actions(w.plan(t, c.want)), "what was planned has been done")
		})
	}
}

func goldenPlan(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "golden", "plans", name+".txt")
	if flag.Lookup("update").Value.String() == "true" {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644)) //nolint:gosec // it is to be read
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run the test with -update to write it")
	assert.Equal(t, string(want), got)
}
