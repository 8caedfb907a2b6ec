package planewright_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/planewright/planewright"
)

func TestVerifyTellsMissingDriftedAndNotWorkingApart(t *testing.T) {
	w := newWorld()
	release := w.step("demo/release", "r")
	release.Verify = func(context.Context, *planewright.Run) ([]planewright.Finding, error) {
		return []planewright.Finding{{Severity: planewright.SeverityUnprobed, Code: "health", Cause: "no container runs here"}}, nil
	}
	stack := planewright.NewStack("demo").WithSteps(w.step("demo/a", "a"), release)
	_, err := planewright.Install(t.Context(), stack)
	require.NoError(t, err)

	found, err := planewright.Verify(t.Context(), stack)
	require.NoError(t, err)
	assert.True(t, found.OK(), "what cannot be probed is not an error")
	assert.Equal(t, "unprobed [health] no container runs here\nverify: working, 2 steps, 0 errors, 0 warnings, 1 not probed\n", found.String())

	require.NoError(t, w.put(t.Context(), "demo/a", ""))
	require.NoError(t, w.put(t.Context(), "demo/release", "edited"))
	found, err = planewright.Verify(t.Context(), stack)
	require.NoError(t, err)
	assert.False(t, found.OK())
	assert.Equal(t, []planewright.Finding{
		{Severity: planewright.SeverityError, Code: planewright.CodeMissing, Step: "demo/a", Cause: "Thing demo/a is not there", Fix: "install"},
		{Severity: planewright.SeverityError, Code: planewright.CodeDrift, Step: "demo/release", Cause: "Thing demo/release is not as it should be; content: edited → r", Fix: "install"},
		{Severity: planewright.SeverityUnprobed, Code: "health", Step: "demo/release", Cause: "no container runs here"},
	}, found.Findings)
}
