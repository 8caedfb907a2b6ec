package planewright_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/planewright/planewright"
)

// What blocks a step is found by its type, in a plan's error and in an install's.
func TestTheErrorOfABlockedStepIsFoundByItsType(t *testing.T) {
	taken := &planewright.StaleError{Step: "somebody else's"}
	stack := planewright.NewStack("demo").WithSteps(planewright.Step{ID: "demo/taken",
		Check: func(context.Context, *planewright.Run) (planewright.Change, error) {
			return planewright.Change{Action: planewright.ActionBlocked, Reason: taken.Error(), Err: taken}, nil
		}})
	plan, err := planewright.Plan(t.Context(), stack)
	require.NoError(t, err)
	_, installed := planewright.Install(t.Context(), stack)
	for _, err := range []error{plan.Err(), installed} {
		require.ErrorIs(t, err, planewright.ErrBlocked)
		require.ErrorIs(t, err, planewright.ErrStale)
		found, ok := errors.AsType[*planewright.StaleError](err)
		require.True(t, ok)
		assert.Same(t, taken, found)
	}
}
