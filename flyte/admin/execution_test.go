package admin_test

import (
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
		ID: got.ID, LaunchPlan: canary, Workflow: "canary.workflow", Phase: admin.PhaseUndefined,
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
