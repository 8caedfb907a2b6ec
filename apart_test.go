package planewright_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/planewright/planewright"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inTheMaking is a stack on a place that another stack makes.
func inTheMaking() (place, onIt planewright.Stack) {
	made := planewright.NewOutput[string]("place/make", "place")
	notYet := func(run *planewright.Run) error {
		_, err := made.Get(run)
		return err
	}
	place = planewright.NewStack("place").WithSteps(planewright.Step{ID: "place/make",
		Check: func(_ context.Context, run *planewright.Run) (planewright.Change, error) {
			return planewright.Change{Action: planewright.ActionCreate}, nil
		},
		Apply: func(_ context.Context, run *planewright.Run) error { made.Set(run, "here"); return nil },
	})
	onIt = planewright.NewStack("demo").WithSteps(planewright.Step{ID: "demo/a", Needs: []string{"place/make"},
		Check: func(_ context.Context, run *planewright.Run) (planewright.Change, error) {
			return planewright.Change{}, notYet(run)
		},
		Undo: func(_ context.Context, run *planewright.Run) error { return notYet(run) },
		Render: func(context.Context, *planewright.Run) ([]planewright.File, error) {
			return []planewright.File{{Name: "a"}}, nil
		},
	})
	ask := planewright.Probe{Run: func(_ context.Context, run *planewright.Run) ([]planewright.Finding, error) { return nil, notYet(run) }}
	first, second := ask, ask
	first.ID, second.ID = "demo/preflight/one", "demo/preflight/two"
	return place, onIt.WithProbes(first, second)
}

func TestWhatIsAskedOfAPlaceInTheMakingIsNotProbed(t *testing.T) {
	place, onIt := inTheMaking()
	plan, err := planewright.Plan(t.Context(), place, onIt)
	require.NoError(t, err)
	require.NoError(t, plan.Err())
	assert.Equal(t, []planewright.Finding{{Severity: planewright.SeverityUnprobed, Code: planewright.CodeNotYet, Step: "demo/preflight/one",
		Cause: "place of step place/make is not known before it has run"}}, plan.Findings(), "it is told once")
	_, err = planewright.Install(t.Context(), place, onIt)
	require.NoError(t, err)
}

// Nothing is made by these verbs, so what a stack stands on need not be given.
func TestAStackIsRenderedVerifiedAndTakenAwayWithoutWhatItStandsOn(t *testing.T) {
	_, onIt := inTheMaking()
	_, err := planewright.Plan(t.Context(), onIt)
	require.ErrorContains(t, err, `"demo/a" needs "place/make", which is not there`)

	var out bytes.Buffer
	require.NoError(t, onIt.Render(t.Context(), writer{&out}))
	assert.Equal(t, "a\n", out.String())
	_, err = planewright.Verify(t.Context(), onIt)
	require.NoError(t, err)
	report, err := planewright.Uninstall(t.Context(), onIt)
	require.NoError(t, err, "where there is no place, nothing is on it")
	step, _ := report.Step("demo/a")
	assert.Equal(t, planewright.OutcomeDone, step.Outcome)
}

// writer lists the names of the files that it is given.
type writer struct{ out *bytes.Buffer }

func (w writer) WriteFile(name string, _ []byte) error {
	_, err := w.out.WriteString(name + "\n")
	return err
}
