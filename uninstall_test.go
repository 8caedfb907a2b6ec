package planewright_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/planewright/planewright"
)

func TestUninstallUndoesInReverseOrderAndReportsWhatItKept(t *testing.T) {
	w, inv, lock := newWorld(), &inventory{}, &lockbox{name: "lock"}
	namespace := w.step("demo/namespace", "n")
	namespace.Unlocked = true
	namespace.Undo = func(ctx context.Context, run *planewright.Run) error {
		assert.Empty(t, lock.holder, "what the lock stands on goes when the lock is given back")
		run.Keep(thing("demo/namespace"), "it holds other things")
		return nil
	}
	stack := planewright.NewStack("demo").WithLocker(lock).WithInventory(inv, w.prune).
		WithSteps(namespace, w.step("demo/secret", "s", "demo/namespace"), w.step("demo/release", "r", "demo/secret"))
	_, err := planewright.Install(t.Context(), stack.WithSteps(w.step("demo/old", "o", "demo/namespace")))
	require.NoError(t, err)
	w.writes = nil

	report, err := planewright.Uninstall(t.Context(), stack)
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"demo/release", "demo/secret", "demo/old"}, w.written(), "also what only the inventory knows")
	assert.Equal(t, []planewright.Kept{{Object: thing("demo/namespace"), Reason: "it holds other things"}}, report.Kept)
	assert.Empty(t, inv.entries)

	_, err = planewright.Uninstall(t.Context(), stack)
	require.NoError(t, err, "uninstalling what is gone is no error")
}

func TestUninstallLeavesWhatWhatIsStillThereStandsOn(t *testing.T) {
	w := newWorld()
	stack := planewright.NewStack("demo").WithSteps(w.step("demo/namespace", "n"), w.step("demo/release", "r", "demo/namespace"))
	_, err := planewright.Install(t.Context(), stack)
	require.NoError(t, err)
	w.before = func(_ context.Context, name string) error {
		if name == "demo/release" {
			return errBroken
		}
		return nil
	}
	report, err := planewright.Uninstall(t.Context(), stack)
	require.ErrorIs(t, err, errBroken)
	_, ok := w.get("demo/namespace")
	assert.True(t, ok)
	step, _ := report.Step("demo/namespace")
	assert.Equal(t, planewright.OutcomeNotTried, step.Outcome)
	assert.Equal(t, "demo/release needs it and could not be taken away", step.Reason)
}
