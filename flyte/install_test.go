package flyte_test

import (
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInstallFromNothing(t *testing.T) {
	forEachSource(t, func(t *testing.T, w world) {
		plan, err := production().Plan(t.Context(), w.env)
		require.NoError(t, err)
		require.NoError(t, plan.Err())
		t.Log(plan)
		assert.Zero(t, w.fleet.Writes("main"), "a plan writes nothing")
		for _, s := range plan.Steps() {
			assert.Equal(t, planewright.ActionCreate, s.Change.Action, s.ID)
		}

		report := w.install(t, production())
		t.Log(report)
		assert.Equal(t, []string{"flyte/ml/namespace", "flyte/ml/database-secret", "flyte/ml/release"}, report.Changed())

		secret, err := w.cluster.Objects.Get(t.Context(), kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "flyte", Name: "flyte-backend-database"})
		require.NoError(t, err)
		assert.Equal(t, "1", secret.GetAnnotations()["planewright.dev/revision"])

		w.fleet.ForgetCalls()
		report = w.install(t, production())
		t.Log(report)
		assert.Empty(t, report.Changed())
		assert.Zero(t, w.fleet.Writes("main"), "a second install persists nothing")
		for _, c := range w.fleet.Calls() {
			t.Log(c)
		}

		v, err := production().Verify(t.Context(), w.env)
		require.NoError(t, err)
		t.Log(v)
		assert.True(t, v.OK())

		report, err = production().Uninstall(t.Context(), w.env)
		require.NoError(t, err)
		t.Log(report)
	})
}
