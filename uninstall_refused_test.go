package planewright_test

import (
	"context"
	"errors"
	"testing"

	"github.com/planewright/planewright"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// busy is a step that may not be undone while it is at work.
func busy(w *world, id string, working func() ([]planewright.Finding, error), needs ...string) planewright.Step {
	step := w.step(id, "b", needs...)
	step.CheckUndo = func(context.Context, *planewright.Run) ([]planewright.Finding, error) { return working() }
	return step
}

func TestUninstallIsRefusedAsAWholeBeforeAnythingIsUndone(t *testing.T) {
	w := newWorld()
	working := []planewright.Finding{{Severity: planewright.SeverityError, Code: "at-work", Cause: "it is at work", Fix: "wait"}}
	stack := planewright.NewStack("demo").WithSteps(
		busy(w, "demo/a", func() ([]planewright.Finding, error) { return working, nil }),
		w.step("demo/b", "b", "demo/a"))
	_, err := planewright.Install(t.Context(), stack)
	require.NoError(t, err)
	w.writes = nil

	report, err := planewright.Uninstall(t.Context(), stack)
	require.ErrorIs(t, err, planewright.ErrBlocked)
	require.ErrorContains(t, err, "error [at-work] it is at work; fix: wait")
	assert.Empty(t, w.written())
	b, _ := report.Step("demo/b")
	assert.Equal(t, planewright.OutcomeNotTried, b.Outcome)

	working[0].Severity = planewright.SeverityWarning
	report, err = planewright.Uninstall(t.Context(), stack)
	require.NoError(t, err)
	assert.Equal(t, []string{"demo/b", "demo/a"}, w.written())
	assert.Len(t, report.Findings, 1)
}

// One that cannot be asked stops no other, and is not undone unasked.
func TestAStepThatCannotBeAskedIsNotUndone(t *testing.T) {
	w := newWorld()
	down := true
	stack := planewright.NewStack("demo").WithSteps(
		busy(w, "demo/a", func() ([]planewright.Finding, error) {
			if down {
				return nil, errors.New("no route to host")
			}
			return nil, nil
		}),
		w.step("demo/b", "b"))
	_, err := planewright.Install(t.Context(), stack)
	require.NoError(t, err)
	w.writes = nil

	_, err = planewright.Uninstall(t.Context(), stack)
	require.ErrorContains(t, err, "step demo/a: undo: no route to host")
	assert.Equal(t, []string{"demo/b"}, w.written())
	down = false
	_, err = planewright.Uninstall(t.Context(), stack)
	require.NoError(t, err)
	assert.Contains(t, w.written(), "demo/a")
}

// What nobody can take away is neither lost from sight nor forgotten.
func TestWhatNobodyCanTakeAwayIsTold(t *testing.T) {
	w := newWorld()
	inv := &inventory{entries: []planewright.InventoryEntry{{Step: "demo/far", Objects: []planewright.Object{thing("demo/far")}}}}
	stack := planewright.NewStack("demo").WithSteps(w.step("demo/a", "a")).
		WithInventory(inv, func(planewright.InventoryEntry) (planewright.Step, bool) { return planewright.Step{}, false })
	plan, err := planewright.Plan(t.Context(), stack)
	require.NoError(t, err)
	object := thing("demo/far")
	assert.Equal(t, []planewright.Finding{{Severity: planewright.SeverityWarning, Code: planewright.CodeOrphan, Step: "demo/far", Object: &object,
		Cause: "an earlier install made it, nothing wants it any more, and it cannot be taken away from here",
		Fix:   "give access to where it is, or take it away by hand"}}, plan.Findings())
	_, err = planewright.Install(t.Context(), stack)
	require.NoError(t, err)

	report, err := planewright.Uninstall(t.Context(), stack)
	require.NoError(t, err)
	assert.Equal(t, []planewright.Kept{{Object: thing("demo/far"), Reason: "it cannot be taken away from here"}}, report.Kept)
	assert.Equal(t, []planewright.InventoryEntry{{Step: "demo/far", Objects: []planewright.Object{thing("demo/far")}}}, inv.entries)
}
