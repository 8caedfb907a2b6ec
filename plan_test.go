package planewright_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/planewright/planewright"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got))
}

// everyAction is a stack whose steps have one action each.
func everyAction() planewright.Stack {
	step := func(id, title, cluster string, change planewright.Change) planewright.Step {
		return planewright.Step{ID: id, Title: title, Cluster: cluster, Check: func(context.Context, *planewright.Run) (planewright.Change, error) { return change, nil }}
	}
	return planewright.NewStack("flyte/ml").WithSteps(
		step("flyte/ml/namespace", "Namespace flyte", "control", planewright.Change{}),
		step("flyte/ml/database-secret", "Secret flyte/database", "control", planewright.Change{Action: planewright.ActionUpdate, Fingerprint: "uid-1/12",
			Diff: []planewright.FieldDiff{{Path: "data.password", Secret: true}, {Path: "metadata.labels.team", After: "ml"}}}),
		step("flyte/ml/controlplane/release", "Helm release flyte/flyte", "control", planewright.Change{Action: planewright.ActionUpdate, Reason: "revision 3 failed",
			Diff: []planewright.FieldDiff{{Path: "Deployment flyte/flyteadmin: spec.replicas", Before: "1", After: "2"}, {Path: "ConfigMap flyte/old", Before: "line one\nline two"}}}),
		step("flyte/ml/dataplanes/dp-1/role", "IAM role flyte-dp-1", "", planewright.Change{Action: planewright.ActionAdopt}),
		step("flyte/ml/dataplanes/dp-1/release", "Helm release flyte/flyte-data", "dp-1", planewright.Change{Action: planewright.ActionCreate}),
		step("flyte/ml/dataplanes/dp-2/release", "Helm release flyte/flyte-data", "dp-2", planewright.Change{Action: planewright.ActionDelete}),
		step("flyte/ml/dataplanes/dp-2/token", "Secret flyte/token", "dp-2", planewright.Change{Action: planewright.ActionUnknown, Reason: "endpoint of step aws/dp-2 is not known before it has run"}),
		step("flyte/ml/mesh", "ServiceMesh default", "control", planewright.Change{Action: planewright.ActionBlocked, Reason: "it belongs to the platform team",
			Findings: []planewright.Finding{{Severity: planewright.SeverityWarning, Code: "mesh-v1", Cause: "Service Mesh v1 is deprecated", Fix: "move to v2"}}}),
	)
}

func TestAPlanReadsAsATree(t *testing.T) {
	plan, err := planewright.Plan(t.Context(), everyAction())
	require.NoError(t, err)
	golden(t, "plan.txt", []byte(plan.String()))
}

func TestAPlanIsVersionedJSON(t *testing.T) {
	plan, err := planewright.Plan(t.Context(), everyAction())
	require.NoError(t, err)
	out, err := json.MarshalIndent(plan, "", "  ")
	require.NoError(t, err)
	golden(t, "plan.json", append(out, '\n'))
}

// saved returns the plan as it comes back from a file.
func saved(t *testing.T, plan *planewright.ExecutionPlan, stacks ...planewright.Stack) (*planewright.ExecutionPlan, error) {
	t.Helper()
	out, err := json.Marshal(plan)
	require.NoError(t, err)
	return planewright.ReadPlan(bytes.NewReader(out), stacks...)
}

func TestASavedPlanIsApprovedAndAppliedLater(t *testing.T) {
	w, inv := newWorld(), &inventory{entries: []planewright.InventoryEntry{{Step: "demo/old", Objects: []planewright.Object{thing("demo/old")}}}}
	require.NoError(t, w.put(t.Context(), "demo/old", "o"))
	stack := planewright.NewStack("demo").WithInventory(inv, w.prune).WithSteps(w.step("demo/a", "a"), w.step("demo/b", "b", "demo/a"))
	plan, err := planewright.Plan(t.Context(), stack)
	require.NoError(t, err)

	read, err := saved(t, plan, stack)
	require.NoError(t, err)
	assert.Equal(t, plan.Summary(), read.Summary())
	report, err := planewright.Apply(t.Context(), read)
	require.NoError(t, err)
	assert.Equal(t, []string{"demo/a", "demo/b", "demo/old/pruned"}, report.Changed())
	plan, err = planewright.Plan(t.Context(), stack)
	require.NoError(t, err)
	planewright.AssertNoChanges(t, plan)
}

func TestAPlanIsStaleWhenTheWorldHasChanged(t *testing.T) {
	w := newWorld()
	require.NoError(t, w.put(t.Context(), "demo/a", "old"))
	stack := planewright.NewStack("demo").WithSteps(w.step("demo/a", "new"), w.step("demo/b", "b", "demo/a"), w.step("demo/c", "c"))
	plan, err := planewright.Plan(t.Context(), stack)
	require.NoError(t, err)
	read, err := saved(t, plan, stack)
	require.NoError(t, err)
	require.NoError(t, w.put(t.Context(), "demo/a", "somebody else's"))

	for _, p := range []*planewright.ExecutionPlan{plan, read} {
		report, err := planewright.Apply(t.Context(), p)
		require.ErrorIs(t, err, planewright.ErrStale)
		b, _ := report.Step("demo/b")
		assert.Equal(t, planewright.OutcomeNotTried, b.Outcome)
		content, _ := w.get("demo/a")
		assert.Equal(t, "somebody else's", content)
	}
}

func TestASavedPlanIsStaleWhenTheSpecHasChanged(t *testing.T) {
	w := newWorld()
	require.NoError(t, w.put(t.Context(), "demo/a", "old"))
	stack := func(content string) planewright.Stack {
		return planewright.NewStack("demo").WithSteps(w.step("demo/a", content))
	}
	plan, err := planewright.Plan(t.Context(), stack("approved"))
	require.NoError(t, err)

	read, err := saved(t, plan, stack("changed since"))
	require.NoError(t, err)
	_, err = planewright.Apply(t.Context(), read)
	require.ErrorIs(t, err, planewright.ErrStale, "what is applied is what was approved")

	_, err = saved(t, plan, stack("approved").WithSteps(w.step("demo/b", "b")))
	require.ErrorIs(t, err, planewright.ErrStale)
	_, err = saved(t, plan, planewright.NewStack("demo"))
	require.ErrorIs(t, err, planewright.ErrStale)
	_, err = saved(t, plan, planewright.NewStack("other"))
	require.ErrorIs(t, err, planewright.ErrStale)
}

func TestAPlanOfAnotherVersionIsRefused(t *testing.T) {
	_, err := planewright.ReadPlan(bytes.NewReader([]byte(`{"version":"planewright.dev/plan/v9"}`)))
	require.ErrorIs(t, err, planewright.ErrUnsupported)
	_, err = planewright.ReadPlan(bytes.NewReader([]byte(`plan: 3 to create`)))
	require.ErrorIs(t, err, planewright.ErrInvalid)
}

func TestAnUnreachableClusterFailsThePlanOnceAndNamesWhatWasNotLookedAt(t *testing.T) {
	w := newWorld()
	first := w.step("demo/namespace", "n")
	first.Cluster = "dp-1"
	first.Check = func(context.Context, *planewright.Run) (planewright.Change, error) {
		return planewright.Change{}, planewright.ErrUnavailable
	}
	_, err := planewright.Plan(t.Context(), planewright.NewStack("demo").WithSteps(first, w.step("demo/release", "r", "demo/namespace")), planewright.WithAttempts(1))
	require.ErrorIs(t, err, planewright.ErrUnavailable)
	assert.EqualError(t, err, "step demo/namespace on cluster dp-1: check: unavailable\nnot tried: demo/release")
}

type recorder struct{ failed int }

func (*recorder) Helper()                 {}
func (r *recorder) Errorf(string, ...any) { r.failed++ }

func TestTheAssertionsFailForWhatTheyForbid(t *testing.T) {
	w := newWorld()
	plan, err := planewright.Plan(t.Context(), planewright.NewStack("demo").WithSteps(w.step("demo/a/x", "1"), w.step("demo/b", "2")))
	require.NoError(t, err)
	r := &recorder{}
	assert.False(t, planewright.AssertNoChanges(r, plan))
	assert.False(t, planewright.AssertTouchesOnly(r, plan, "demo/a/*"), "demo/b is touched too")
	assert.False(t, planewright.AssertTouchesOnly(r, plan, "demo/*", "demo/a/*", "demo/c"), "demo/c is not touched")
	assert.Equal(t, 3, r.failed)
	assert.True(t, planewright.AssertTouchesOnly(t, plan, "demo/*", "demo/a/*"))
}
