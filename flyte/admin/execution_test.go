package admin_test

import (
	"context"
	"fmt"
	"net/http"
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

var canary = admin.LaunchPlanID{Project: "team1", Domain: "production", Name: "canary.main", Version: "v2"}

// launching makes a fake on which the canary can be launched.
func launching(options ...adminfake.Option) *adminfake.Fake {
	older := canary
	older.Version = "v1"
	return adminfake.New(append([]adminfake.Option{
		adminfake.WithProjects("team1"), adminfake.WithPlacement(func(e adminfake.Execution) string { return "dp-" + e.Label }),
		adminfake.WithLaunchPlans(
			adminfake.LaunchPlan{ID: older, Active: true},
			adminfake.LaunchPlan{ID: canary, Workflow: "canary.workflow", Inputs: map[string]adminfake.InputType{"s": adminfake.String, "n": adminfake.Integer, "b": adminfake.Boolean}}),
	}, options...)...)
}

var inputs = map[string]admin.Literal{"s": admin.StringLiteral("x"), "n": admin.IntegerLiteral(1 << 60), "b": admin.BooleanLiteral(false)}

func TestTheLatestVersionOfALaunchPlanIsFound(t *testing.T) {
	at := time.Date(2026, 12, 1, 10, 0, 0, 5, time.UTC)
	client := clientOf(t, launching(adminfake.WithClock(func() time.Time { return at })))
	plan, err := client.LaunchPlan(t.Context(), "team1", "production", "canary.main")
	require.NoError(t, err)
	plan.CreatedAt = plan.CreatedAt.UTC()
	assert.Equal(t, "team1/production/canary.main@v2", plan.ID.String())
	assert.Equal(t, "canary.workflow", plan.Workflow)
	assert.False(t, plan.Active)

	_, err = client.LaunchPlan(t.Context(), "team1", "production", "another")
	require.ErrorIs(t, err, planewright.ErrNotFound)
	require.EqualError(t, err, "flyteadmin: ListLaunchPlans /api/v1/launch_plans/team1/production/another: 200: no version of the launch plan is registered; register the workflow first")
	_, err = client.LaunchPlan(t.Context(), "", "", "")
	require.ErrorIs(t, err, planewright.ErrInvalid)
}

func TestAnExecutionIsSentWhereItsLabelSays(t *testing.T) {
	fake := launching()
	client := clientOf(t, fake)
	create := func(label string) admin.Execution {
		id, err := client.CreateExecution(t.Context(), admin.ExecutionRequest{LaunchPlan: canary, Inputs: inputs, ExecutionClusterLabel: label})
		require.NoError(t, err)
		assert.NotEmpty(t, id.Name)
		e, err := client.Execution(t.Context(), id)
		require.NoError(t, err)
		return e
	}
	assert.Equal(t, "dp-", create("").Cluster)
	for scope, label := range map[admin.Scope]string{wide: "wide", narrow: "narrow", admin.WorkflowScope("team1", "production", "canary.workflow"): "workflow"} {
		require.NoError(t, client.PutAttributes(t.Context(), scope, admin.ExecutionClusterLabel(label)))
	}
	assert.Equal(t, "dp-workflow", create("").Cluster)
	got := create("asked-for")
	assert.Equal(t, "dp-asked-for", got.Cluster)
	got.CreatedAt, got.UpdatedAt = time.Time{}, time.Time{}
	assert.Equal(t, admin.Execution{
		ID: got.ID, LaunchPlan: canary, Workflow: "canary.workflow", Phase: admin.PhaseQueued,
		Cluster: "dp-asked-for", Namespace: "team1-production", ExecutionClusterLabel: "asked-for",
	}, got)
}

func TestWhatIsSentForAnExecution(t *testing.T) {
	fake := launching()
	id, err := clientOf(t, fake).CreateExecution(t.Context(), admin.ExecutionRequest{LaunchPlan: canary, Name: "run-1", Inputs: inputs, ExecutionClusterLabel: "gpu"})
	require.NoError(t, err)
	assert.Equal(t, "team1/production/run-1", id.String())
	assert.JSONEq(t, `{"project":"team1","domain":"production","name":"run-1",
		"spec":{"launch_plan":{"resource_type":"LAUNCH_PLAN","project":"team1","domain":"production","name":"canary.main","version":"v2"},
			"metadata":{"mode":"MANUAL"},"execution_cluster_label":{"value":"gpu"}},
		"inputs":{"literals":{"s":{"scalar":{"primitive":{"string_value":"x"}}},"n":{"scalar":{"primitive":{"integer":"1152921504606846976"}}},"b":{"scalar":{"primitive":{"boolean":false}}}}}}`,
		fake.Calls()[0].Body)
}

func TestTheRulesOfExecutions(t *testing.T) {
	with := func(change func(*admin.ExecutionRequest)) admin.ExecutionRequest {
		r := admin.ExecutionRequest{LaunchPlan: canary, Inputs: inputs}
		change(&r)
		return r
	}
	for want, request := range map[string]admin.ExecutionRequest{
		"launchPlan.version: is required":                                           with(func(r *admin.ExecutionRequest) { r.LaunchPlan.Version = "" }),
		"launchPlan.project: is required":                                           with(func(r *admin.ExecutionRequest) { r.LaunchPlan.Project = "" }),
		"name: must begin with a-z and hold at most 63 of a-z, 0-9 and -":           with(func(r *admin.ExecutionRequest) { r.Name = "1a" }),
		"inputs[x]: must have a value":                                              with(func(r *admin.ExecutionRequest) { r.Inputs = map[string]admin.Literal{"x": {}} }),
		"project: must be a DNS label: at most 63 of a-z, 0-9 and -, not at an end": with(func(r *admin.ExecutionRequest) { r.Project = "A" }),
	} {
		fake := launching()
		_, err := clientOf(t, fake).CreateExecution(t.Context(), request)
		var problems *planewright.ValidationError
		require.ErrorAs(t, err, &problems, want)
		assert.Equal(t, want, problems.Problems[0].Path+": "+problems.Problems[0].Rule)
		assert.Empty(t, fake.Calls())
	}
	for want, request := range map[string]admin.ExecutionRequest{
		"invalid input other": with(func(r *admin.ExecutionRequest) {
			r.Inputs = map[string]admin.Literal{"other": admin.BooleanLiteral(true)}
		}),
		"domain [nowhere] is unrecognized by system": with(func(r *admin.ExecutionRequest) { r.Domain = "nowhere" }),
		"project [team1] is not active":              with(func(r *admin.ExecutionRequest) {}),
	} {
		fake := launching()
		if strings.Contains(want, "not active") {
			fake.AddProjects(admin.Project{ID: "team1", State: admin.ProjectArchived})
		}
		_, err := clientOf(t, fake).CreateExecution(t.Context(), request)
		var failure *admin.Error
		require.ErrorAs(t, err, &failure)
		require.ErrorIs(t, err, planewright.ErrInvalid)
		assert.Equal(t, want, failure.Message)
	}
}

func TestAnExecutionWithANameIsCreatedOnceThoughTheAnswerIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, options := range [][]adminfake.FaultOption{{adminfake.Times(2)}, {adminfake.Times(1), adminfake.AfterEffect()}} {
			fake := launching()
			fake.Fail(adminfake.Operation("CreateExecution"), adminfake.Reset, options...)
			id, err := clientOf(t, fake).CreateExecution(t.Context(), admin.ExecutionRequest{LaunchPlan: canary, Inputs: inputs, Name: "run-1"})
			require.NoError(t, err)
			assert.Equal(t, "run-1", id.Name)
			assert.Len(t, fake.Executions(), 1)
		}
		fake := launching()
		fake.Fail(adminfake.Operation("CreateExecution"), adminfake.Reset, adminfake.AfterEffect())
		_, err := clientOf(t, fake).CreateExecution(t.Context(), admin.ExecutionRequest{LaunchPlan: canary, Inputs: inputs})
		var failure *admin.Error
		require.ErrorAs(t, err, &failure)
		assert.True(t, failure.Uncertain, "nobody can tell which execution it is")
		assert.Len(t, fake.Calls(), 1)

		fake.Heal()
		fake.AddExecutions(adminfake.Execution{ID: admin.ExecutionID{Project: "team1", Domain: "production", Name: "run-2"}})
		fake.Fail(adminfake.Operation("CreateExecution"), adminfake.Reset, adminfake.Times(1))
		_, err = clientOf(t, fake).CreateExecution(t.Context(), admin.ExecutionRequest{LaunchPlan: canary, Inputs: inputs, Name: "run-2"})
		require.ErrorIs(t, err, planewright.ErrAlreadyExists, "it runs something else")
	})
}

func TestRunningFindsWhatHasNotEnded(t *testing.T) {
	fake := launching()
	var want []string
	for i, phase := range []admin.Phase{
		admin.PhaseUndefined, admin.PhaseQueued, admin.PhaseRunning, admin.PhaseSucceeding, admin.PhaseFailing, admin.PhaseAborting,
		admin.PhaseSucceeded, admin.PhaseFailed, admin.PhaseAborted, admin.PhaseTimedOut,
	} {
		e := adminfake.Execution{ID: admin.ExecutionID{Project: "team1", Domain: "production", Name: fmt.Sprintf("e%d", 9-i)}, Phase: phase, Cluster: "dp-1"}
		fake.AddExecutions(e)
		if !phase.Terminal() {
			want = append(want, fmt.Sprintf("%s %s on %s", e.ID.Name, phase, e.Cluster))
		}
	}
	fake.AddExecutions(adminfake.Execution{ID: admin.ExecutionID{Project: "team1", Domain: "staging", Name: "elsewhere"}, Phase: admin.PhaseRunning})
	require.NoError(t, fake.ArchiveExecution(admin.ExecutionID{Project: "team1", Domain: "production", Name: "e7"}))

	running, err := clientOf(t, fake).Running(t.Context(), "team1", "production")
	require.NoError(t, err)
	var got []string
	for _, e := range running {
		got = append(got, fmt.Sprintf("%s %s on %s", e.ID.Name, e.Phase, e.Cluster))
	}
	assert.Equal(t, want, got, "archived ones too, the oldest first")
	assert.Len(t, fake.Calls(), 1)
}

func TestRunningMissesNoneWhileOthersEnd(t *testing.T) {
	fake := adminfake.New()
	id := func(i int) admin.ExecutionID {
		return admin.ExecutionID{Project: "team1", Domain: "production", Name: fmt.Sprintf("e%03d", i)}
	}
	for i := range 150 {
		fake.AddExecutions(adminfake.Execution{ID: id(i), Phase: admin.PhaseRunning})
	}
	// Ten of the first page end before the second is read: ten others move to the first.
	fake.Fail(adminfake.Operation("ListExecutions"), adminfake.None, adminfake.After(1), adminfake.Times(1), adminfake.Do(func(adminfake.Call) {
		for i := range 10 {
			assert.NoError(t, fake.SetPhase(id(i), admin.PhaseSucceeded))
		}
	}))
	running, err := clientOf(t, fake).Running(t.Context(), "team1", "production")
	require.NoError(t, err)
	got := map[admin.ExecutionID]bool{}
	for _, e := range running {
		got[e.ID] = true
	}
	for i := 10; i < 150; i++ {
		assert.True(t, got[id(i)], "%s", id(i))
	}
	assert.Len(t, fake.Calls(), 6, "three walks of two pages")
}

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

func TestATerminatedExecutionIsAborting(t *testing.T) {
	fake := launching()
	client := clientOf(t, fake)
	id, err := client.CreateExecution(t.Context(), admin.ExecutionRequest{LaunchPlan: canary, Name: "run-1", Inputs: inputs})
	require.NoError(t, err)
	require.NoError(t, client.Terminate(t.Context(), id, "dp-1 goes away"))
	require.NoError(t, client.Terminate(t.Context(), id, "dp-1 goes away"), "it has not ended yet")
	e, err := client.Execution(t.Context(), id)
	require.NoError(t, err)
	assert.Equal(t, admin.PhaseAborting, e.Phase)
	assert.Equal(t, "dp-1 goes away", e.AbortCause)
	require.NoError(t, fake.SetPhase(id, admin.PhaseAborted))
	err = client.Terminate(t.Context(), id, "again")
	require.ErrorIs(t, err, planewright.ErrConflict)
	require.ErrorIs(t, client.Terminate(t.Context(), admin.ExecutionID{Project: "team1", Domain: "d"}, ""), planewright.ErrInvalid)
}

func TestExecutionsAreReadInBothSpellings(t *testing.T) {
	want := admin.Execution{
		ID:         admin.ExecutionID{Project: "team1", Domain: "production", Name: "f1"},
		LaunchPlan: canary, Workflow: "canary.workflow", Phase: admin.PhaseAborted, AbortCause: "enough", Cluster: "dp-1", Namespace: "team1-production",
		ExecutionClusterLabel: "gpu", CreatedAt: time.Date(2026, 12, 1, 10, 0, 0, 123456000, time.UTC), StartedAt: time.Date(2026, 12, 1, 10, 0, 1, 0, time.UTC),
	}
	for _, body := range []string{
		`{"id":{"project":"team1","domain":"production","name":"f1","org":""},
			"spec":{"launch_plan":{"resource_type":"LAUNCH_PLAN","project":"team1","domain":"production","name":"canary.main","version":"v2"},"inputs":null,
				"metadata":{"system_metadata":{"execution_cluster":"dp-1","namespace":"team1-production"}},"execution_cluster_label":{"value":"gpu"}},
			"closure":{"abort_metadata":{"cause":"enough","principal":""},"phase":"ABORTED","created_at":"2026-12-01T10:00:00.123456Z","started_at":"2026-12-01T10:00:01Z",
				"updated_at":null,"workflow_id":{"name":"canary.workflow"},"duration":"3.5s"}}`,
		`{"id":{"project":"team1","domain":"production","name":"f1"},
			"spec":{"launchPlan":{"project":"team1","domain":"production","name":"canary.main","version":"v2"},
				"metadata":{"systemMetadata":{"executionCluster":"dp-1","namespace":"team1-production"}},"executionClusterLabel":{"value":"gpu"}},
			"closure":{"abortCause":"enough","phase":"ABORTED","createdAt":"2026-12-01T10:00:00.123456Z","startedAt":"2026-12-01T10:00:01Z","workflowId":{"name":"canary.workflow"}}}`,
	} {
		got, err := answering(t, http.StatusOK, body).Execution(t.Context(), want.ID)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	least, err := answering(t, http.StatusOK, `{"id":{"name":"f1"}}`).Execution(t.Context(), want.ID)
	require.NoError(t, err)
	assert.Equal(t, admin.PhaseUndefined, least.Phase)
	odd, err := answering(t, http.StatusOK, `{"id":{"name":"f1"},"closure":{"phase":17}}`).Execution(t.Context(), want.ID)
	require.NoError(t, err)
	assert.Equal(t, admin.Phase("17"), odd.Phase)
	assert.False(t, odd.Phase.Terminal(), "a phase that is not known may not be the last")
}
