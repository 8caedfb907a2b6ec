package admin_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	wide      = admin.ProjectScope("team1")
	narrow    = admin.ProjectDomainScope("team1", "production")
	narrowest = admin.WorkflowScope("team1", "production", "train.main")
)

func TestScopes(t *testing.T) {
	assert.Equal(t, "team1", wide.String())
	assert.Equal(t, "team1/production", narrow.String())
	assert.Equal(t, "team1/production/train.main", narrowest.String())
	for _, tt := range []struct {
		outer, inner admin.Scope
		want         bool
	}{
		{wide, narrow, true}, {wide, narrowest, true}, {narrow, narrowest, true}, {wide, wide, false}, {narrow, wide, false}, {narrowest, narrow, false},
		{admin.ProjectScope("team2"), narrow, false}, {admin.ProjectDomainScope("team1", "staging"), narrowest, false},
		{narrowest, admin.WorkflowScope("team1", "production", "another"), false},
	} {
		assert.Equal(t, tt.want, tt.outer.Contains(tt.inner), "%s contains %s", tt.outer, tt.inner)
	}
}

func TestWhatIsSentForAttributes(t *testing.T) {
	fake := adminfake.New(adminfake.WithProjects("team1"))
	client := clientOf(t, fake)
	for _, tt := range []struct {
		scope      admin.Scope
		attributes admin.MatchingAttributes
		call, body string
	}{
		{wide, admin.ExecutionClusterLabel("gpu"), "UpdateProjectAttributes PUT /api/v1/project_attributes/team1: 200, persisted",
			`{"attributes":{"project":"team1","matching_attributes":{"execution_cluster_label":{"value":"gpu"}}}}`},
		{narrow, admin.ClusterResourceAttributes{"projectQuotaCpu": "10"}, "UpdateProjectDomainAttributes PUT /api/v1/project_domain_attributes/team1/production: 200, persisted",
			`{"attributes":{"project":"team1","domain":"production","matching_attributes":{"cluster_resource_attributes":{"attributes":{"projectQuotaCpu":"10"}}}}}`},
		{narrowest, admin.TaskResourceAttributes{Limits: admin.TaskResourceSpec{GPU: "1", EphemeralStorage: "1Gi"}}, "UpdateWorkflowAttributes PUT /api/v1/workflow_attributes/team1/production/train.main: 200, persisted",
			`{"attributes":{"project":"team1","domain":"production","workflow":"train.main","matching_attributes":{"task_resource_attributes":{"defaults":{},"limits":{"gpu":"1","ephemeral_storage":"1Gi"}}}}}`},
		{narrowest, admin.PluginOverrides{{TaskType: "spark", PluginIDs: []string{"a"}, UseDefault: true}}, "UpdateWorkflowAttributes PUT /api/v1/workflow_attributes/team1/production/train.main: 200, persisted",
			`{"attributes":{"project":"team1","domain":"production","workflow":"train.main","matching_attributes":{"plugin_overrides":{"overrides":[{"task_type":"spark","plugin_id":["a"],"missing_plugin_behavior":"USE_DEFAULT"}]}}}}`},
	} {
		fake.ForgetCalls()
		require.NoError(t, client.PutAttributes(t.Context(), tt.scope, tt.attributes))
		calls := fake.Calls()
		require.Len(t, calls, 1)
		assert.Equal(t, tt.call, calls[0].String())
		assert.JSONEq(t, tt.body, calls[0].Body)
	}
	fake.ForgetCalls()
	require.NoError(t, client.DeleteAttributes(t.Context(), narrowest, admin.KindPluginOverride))
	assert.Equal(t, "DeleteWorkflowAttributes DELETE /api/v1/workflow_attributes/team1/production/train.main: 200, persisted", fake.Calls()[0].String())
	assert.JSONEq(t, `{"project":"team1","domain":"production","workflow":"train.main","resource_type":"PLUGIN_OVERRIDE"}`, fake.Calls()[0].Body)
}

func TestTheRulesOfAttributes(t *testing.T) {
	for want, put := range map[string]struct {
		scope      admin.Scope
		attributes admin.MatchingAttributes
	}{
		"scope.project: is required":                                                                        {admin.Scope{}, admin.ExecutionClusterLabel("x")},
		"scope.domain: is required with a workflow":                                                         {admin.Scope{Project: "x", Workflow: "w"}, admin.ExecutionClusterLabel("x")},
		"scope.domain: must hold no /, and be more than dots":                                               {admin.ProjectDomainScope("x", ".."), admin.ExecutionClusterLabel("x")},
		"scope.workflow: must hold no /, and be more than dots":                                             {admin.WorkflowScope("x", "d", "a/b"), admin.ExecutionClusterLabel("x")},
		"attributes: are required":                                                                          {wide, nil},
		"attributes.executionClusterLabel: must not be empty":                                               {wide, admin.ExecutionClusterLabel("")},
		"attributes.clusterResourceAttributes[namespace]: is a name that flyteadmin's templates reserve":    {wide, admin.ClusterResourceAttributes{"namespace": "x"}},
		"attributes.pluginOverrides[0].taskType: is required":                                               {narrow, admin.PluginOverrides{{}}},
		"attributes.pluginOverrides[1].taskType: must not be there twice":                                   {narrow, admin.PluginOverrides{{TaskType: "a"}, {TaskType: "a"}}},
		"scope.domain: is required for plugin overrides: flyteadmin fails to merge those of whole projects": {wide, admin.PluginOverrides{}},
	} {
		fake := adminfake.New()
		err := clientOf(t, fake).PutAttributes(t.Context(), put.scope, put.attributes)
		var problems *planewright.ValidationError
		require.ErrorAs(t, err, &problems, want)
		require.Len(t, problems.Problems, 1)
		assert.Equal(t, want, problems.Problems[0].Path+": "+problems.Problems[0].Rule)
		assert.Empty(t, fake.Calls())
	}
	client := clientOf(t, adminfake.New())
	_, err := client.Attributes(t.Context(), "QUALITY_OF_SERVICE_SPECIFICATION")
	require.ErrorIs(t, err, planewright.ErrInvalid)
	_, err = client.GetAttributes(t.Context(), wide, "")
	require.ErrorIs(t, err, planewright.ErrInvalid)
	require.ErrorIs(t, client.DeleteAttributes(t.Context(), wide, ""), planewright.ErrInvalid)
}

func TestAttributesAreReadInBothSpellings(t *testing.T) {
	for kind, tt := range map[admin.Kind]struct {
		snake, camel string
		want         admin.MatchingAttributes
	}{
		admin.KindExecutionClusterLabel: {`"execution_cluster_label":{"value":"gpu"}`, `"executionClusterLabel":{"value":"gpu"}`, admin.ExecutionClusterLabel("gpu")},
		admin.KindClusterResource: {
			`"cluster_resource_attributes":{"attributes":{"a_b":"1","aB":"2"}}`, `"clusterResourceAttributes":{"attributes":{"a_b":"1","aB":"2"}}`,
			admin.ClusterResourceAttributes{"a_b": "1", "aB": "2"},
		},
		admin.KindTaskResource: {
			`"task_resource_attributes":{"defaults":{"cpu":"1","gpu":"","memory":"","storage":"","ephemeral_storage":"2Gi"},"limits":null}`,
			`"taskResourceAttributes":{"defaults":{"cpu":"1","ephemeralStorage":"2Gi"}}`,
			admin.TaskResourceAttributes{Defaults: admin.TaskResourceSpec{CPU: "1", EphemeralStorage: "2Gi"}},
		},
		admin.KindPluginOverride: {
			`"plugin_overrides":{"overrides":[{"task_type":"b","plugin_id":["x"],"missing_plugin_behavior":"FAIL"},{"task_type":"a","plugin_id":["y"],"missing_plugin_behavior":"USE_DEFAULT"}]}`,
			`"pluginOverrides":{"overrides":[{"taskType":"a","pluginId":["y"],"missingPluginBehavior":1},{"taskType":"b","pluginId":["x"]}]}`,
			admin.PluginOverrides{{TaskType: "a", PluginIDs: []string{"y"}, UseDefault: true}, {TaskType: "b", PluginIDs: []string{"x"}}},
		},
	} {
		for _, matching := range []string{tt.snake, tt.camel} {
			// Rows of a launch plan and of a whole domain are none that anybody can write.
			list := `{"configurations":[{"project":"team1","domain":"production","workflow":"","launch_plan":"","attributes":{` + matching + `}},
				{"project":"team1","domain":"production","workflow":"w","launch_plan":"lp","launchPlan":"lp","attributes":{` + matching + `}},
				{"project":"","domain":"production","attributes":{` + matching + `}}]}`
			rows, err := answering(t, http.StatusOK, list).Attributes(t.Context(), kind)
			require.NoError(t, err)
			assert.Equal(t, []admin.MatchableAttributes{{Scope: narrow, Attributes: tt.want}}, rows)
		}
		one := `{"attributes":{"project":"team1","domain":"","matchingAttributes":{` + tt.camel + `}}}`
		row, err := answering(t, http.StatusOK, one).GetAttributes(t.Context(), narrow, kind)
		require.NoError(t, err)
		assert.Equal(t, admin.MatchableAttributes{Scope: wide, Attributes: tt.want}, row, "the row's own scope is told")
		for _, broken := range []string{`{}`, `{"attributes":{}}`, `{"attributes":{"matching_attributes":{}}}`, `{"attributes":{"matching_attributes":{"quality_of_service":{}}}}`} {
			_, err = answering(t, http.StatusOK, broken).GetAttributes(t.Context(), narrow, kind)
			require.Error(t, err, broken)
		}
	}
}

// labelled makes a fake with a label at every scope.
func labelled(t *testing.T) (*adminfake.Fake, *admin.Client) {
	t.Helper()
	fake := adminfake.New(adminfake.WithProjects("team1"))
	client := clientOf(t, fake, admin.WithRetries(0))
	for scope, label := range map[admin.Scope]string{wide: "cpu", narrow: "gpu", narrowest: "a100"} {
		require.NoError(t, client.PutAttributes(t.Context(), scope, admin.ExecutionClusterLabel(label)))
	}
	fake.ForgetCalls()
	return fake, client
}

// stored lists the scopes that have a label.
func stored(t *testing.T, client *admin.Client) []string {
	t.Helper()
	rows, err := client.Attributes(t.Context(), admin.KindExecutionClusterLabel)
	require.NoError(t, err)
	scopes := []string{}
	for _, r := range rows {
		scopes = append(scopes, r.Scope.String())
	}
	return scopes
}

func TestADeletionPutsBackWhatWentAlong(t *testing.T) {
	fake, client := labelled(t)
	require.NoError(t, client.DeleteAttributes(t.Context(), wide, admin.KindExecutionClusterLabel))
	assert.Equal(t, []string{"ListMatchableAttributes", "DeleteProjectAttributes", "UpdateProjectDomainAttributes", "UpdateWorkflowAttributes"}, operations(fake))
	assert.Equal(t, []string{"team1/production", "team1/production/train.main"}, stored(t, client))
}

func TestADeletionOfNothingSendsNothing(t *testing.T) {
	fake, client := labelled(t)
	require.NoError(t, client.DeleteAttributes(t.Context(), admin.ProjectDomainScope("team1", "staging"), admin.KindExecutionClusterLabel))
	require.NoError(t, client.DeleteAttributes(t.Context(), wide, admin.KindTaskResource))
	assert.Equal(t, []string{"ListMatchableAttributes", "ListMatchableAttributes"}, operations(fake))
}

func TestWhatWentAlongIsPutBackThoughTheContextHasEnded(t *testing.T) {
	fake, client := labelled(t)
	ctx, cancel := context.WithCancel(t.Context())
	fake.Fail(adminfake.Operation("DeleteProjectAttributes"), adminfake.Reset, adminfake.AfterEffect(), adminfake.Do(func(adminfake.Call) { cancel() }))
	require.ErrorIs(t, client.DeleteAttributes(ctx, wide, admin.KindExecutionClusterLabel), context.Canceled)
	assert.Equal(t, []string{"team1/production", "team1/production/train.main"}, stored(t, client))
}

func TestADeletionThatDidNothingPutsNothingBack(t *testing.T) {
	fake, client := labelled(t)
	fake.Fail(adminfake.Operation("DeleteProjectAttributes"), adminfake.Denied)
	require.ErrorIs(t, client.DeleteAttributes(t.Context(), wide, admin.KindExecutionClusterLabel), planewright.ErrDenied)
	fake.Heal()
	fake.Fail(adminfake.Operation("DeleteProjectAttributes"), adminfake.Reset)
	require.ErrorIs(t, client.DeleteAttributes(t.Context(), wide, admin.KindExecutionClusterLabel), planewright.ErrUnavailable)
	assert.Zero(t, fake.Writes())
	assert.Len(t, stored(t, client), 3)
}

func TestWhatCannotBePutBackIsTold(t *testing.T) {
	fake, client := labelled(t)
	fake.Fail(adminfake.Operation("UpdateWorkflowAttributes"), adminfake.Denied)
	err := client.DeleteAttributes(t.Context(), wide, admin.KindExecutionClusterLabel)
	var unrestored *admin.UnrestoredError
	require.ErrorAs(t, err, &unrestored)
	assert.Equal(t, []admin.MatchableAttributes{{Scope: narrowest, Attributes: admin.ExecutionClusterLabel("a100")}}, unrestored.Rows)
	require.ErrorIs(t, err, planewright.ErrDenied)
	var retryable planewright.Retryable
	require.ErrorAs(t, err, &retryable)
	assert.False(t, retryable.Retryable(), "a second deletion would find nothing, and forget them")
	require.EqualError(t, err, "flyteadmin: the attributes EXECUTION_CLUSTER_LABEL of team1/production/train.main went along with what was deleted and could not be put back: "+
		"flyteadmin: UpdateWorkflowAttributes /api/v1/workflow_attributes/team1/production/train.main: 403 PERMISSION_DENIED: permission denied by a rule of the fake")
	fake.Heal()
	for _, r := range unrestored.Rows {
		require.NoError(t, client.PutAttributes(t.Context(), r.Scope, r.Attributes))
	}
	assert.Equal(t, []string{"team1/production", "team1/production/train.main"}, stored(t, client))
}

// The fake answers as spelt for "application/json"; what comes back is put back as it came.
func TestWhatIsPutBackIsWhatWasThere(t *testing.T) {
	var put json.RawMessage
	client := answering(t, http.StatusOK, "", admin.WithHTTPClient(&http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		body := `{}`
		switch r.Method {
		case http.MethodGet:
			body = `{"configurations":[{"project":"team1","attributes":{"taskResourceAttributes":{}}},
				{"project":"team1","domain":"production","attributes":{"taskResourceAttributes":{"limits":{"cpu":"1","hugepages":"2Mi"}}}}]}`
		case http.MethodPut:
			if err := json.NewDecoder(r.Body).Decode(&put); err != nil {
				return nil, err
			}
		}
		return answer(body), nil
	})}))
	require.NoError(t, client.DeleteAttributes(t.Context(), wide, admin.KindTaskResource))
	assert.JSONEq(t, `{"attributes":{"project":"team1","domain":"production","matching_attributes":{"taskResourceAttributes":{"limits":{"cpu":"1","hugepages":"2Mi"}}}}}`, string(put))
}

func TestWhetherAnythingWentAlongMayBeUnknown(t *testing.T) {
	fake, client := labelled(t)
	fake.Fail(adminfake.Operation("DeleteProjectAttributes"), adminfake.Reset, adminfake.Do(func(adminfake.Call) {
		fake.Fail(adminfake.Operation("ListMatchableAttributes"), adminfake.Unavailable)
	}))
	err := client.DeleteAttributes(t.Context(), wide, admin.KindExecutionClusterLabel)
	var unrestored *admin.UnrestoredError
	require.ErrorAs(t, err, &unrestored)
	assert.Len(t, unrestored.Rows, 2)
}
