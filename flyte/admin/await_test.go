package admin_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnExecutionIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := launching(adminfake.WithPhases(admin.PhaseQueued, admin.PhaseRunning, admin.PhaseRunning, admin.PhaseSucceeded))
		client := clientOf(t, fake)
		id, err := client.CreateExecution(t.Context(), admin.ExecutionRequest{LaunchPlan: canary, Name: "run-1", Inputs: inputs, ExecutionClusterLabel: "gpu"})
		require.NoError(t, err)
		start := time.Now()
		var told []string
		ended, err := client.AwaitExecution(t.Context(), id, func(text string) { told = append(told, text) })
		require.NoError(t, err)
		assert.Equal(t, admin.PhaseSucceeded, ended.Phase)
		assert.Equal(t, []string{
			"execution team1/production/run-1 is QUEUED on dp-gpu", "execution team1/production/run-1 is RUNNING on dp-gpu", "execution team1/production/run-1 is SUCCEEDED on dp-gpu",
		}, told)
		assert.Equal(t, (500+750+1125)*time.Millisecond, time.Since(start))
		again, err := client.AwaitExecution(t.Context(), id, nil)
		require.NoError(t, err)
		assert.Equal(t, ended, again)
	})
}

func TestAFailedExecutionTellsWhy(t *testing.T) {
	fake := launching()
	client := clientOf(t, fake)
	id, err := client.CreateExecution(t.Context(), admin.ExecutionRequest{LaunchPlan: canary, Name: "run-1", Inputs: inputs})
	require.NoError(t, err)
	require.NoError(t, fake.FailExecution(id, "RetriesExhausted|USER:Unknown", "Traceback:\n"+strings.Repeat("x", 5000)))
	ended, err := client.AwaitExecution(t.Context(), id, nil)
	require.NoError(t, err)
	assert.Equal(t, admin.PhaseFailed, ended.Phase)
	assert.Equal(t, "USER", ended.Error.Kind)
	assert.Len(t, ended.Error.Message, admin.MaxMessage)
	assert.True(t, strings.HasPrefix(ended.Error.Error(), "execution failed: RetriesExhausted|USER:Unknown: Traceback: xxx"))
}

func TestAWaitThatRunsOutTellsWhereTheExecutionStood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := launching(adminfake.WithPhases(admin.PhaseRunning))
		client := clientOf(t, fake)
		id, err := client.CreateExecution(t.Context(), admin.ExecutionRequest{LaunchPlan: canary, Name: "run-1", Inputs: inputs})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		fake.ForgetCalls()
		last, err := client.AwaitExecution(ctx, id, nil)
		require.ErrorIs(t, err, planewright.ErrTimeout)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.EqualError(t, err, "flyteadmin: waiting for execution team1/production/run-1 to end: it is RUNNING on dp-: context deadline exceeded")
		assert.Equal(t, admin.PhaseRunning, last.Phase)
		assert.Len(t, fake.Calls(), 366, "every ten seconds, and more often at first")

		unseen, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = client.AwaitExecution(unseen, id, nil)
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, planewright.ErrTimeout)
		assert.Contains(t, err.Error(), "it is not seen yet")
	})
}

func TestAWaitOutlivesAnswersThatFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := launching(adminfake.WithPhases(admin.PhaseSucceeded))
		client := clientOf(t, fake, admin.WithRetries(0))
		id, err := client.CreateExecution(t.Context(), admin.ExecutionRequest{LaunchPlan: canary, Name: "run-1", Inputs: inputs})
		require.NoError(t, err)
		fake.Fail(adminfake.Operation("GetExecution"), adminfake.Unavailable, adminfake.Times(20))
		var told []string
		_, err = client.AwaitExecution(t.Context(), id, func(text string) { told = append(told, text) })
		require.NoError(t, err)
		assert.Len(t, told, 2, "the same is told once")

		fake.Fail(adminfake.Operation("GetExecution"), adminfake.Denied)
		_, err = client.AwaitExecution(t.Context(), id, nil)
		require.ErrorIs(t, err, planewright.ErrDenied, "what does not pass ends it")
		_, err = client.AwaitExecution(t.Context(), admin.ExecutionID{}, nil)
		require.ErrorIs(t, err, planewright.ErrInvalid)
	})
}
