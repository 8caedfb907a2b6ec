package adminfake_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exchange is a request and its answer, as one sees them with curl.
type exchange struct {
	request, body string // "GET /path"; "JSON PUT /path" with the media type application/json
	status        int
	answer        string
}

// replay makes requests one after the other.
func replay(t *testing.T, handler http.Handler, exchanges []exchange) {
	t.Helper()
	for _, e := range exchanges {
		line, isJSON := strings.CutPrefix(e.request, "JSON ")
		method, path, _ := strings.Cut(line, " ")
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(e.body))
		if isJSON {
			r.Header.Set("Content-Type", "application/json; charset=utf-8")
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		assert.Equal(t, e.status, w.Code, "%s: %s", e.request, w.Body)
		if strings.HasPrefix(e.answer, "{") {
			assert.JSONEq(t, e.answer, w.Body.String(), "%s", e.request)
			assert.Equal(t, "application/json", w.Header().Get("Content-Type"))
		} else {
			assert.Equal(t, e.answer, w.Body.String(), "%s", e.request)
		}
	}
}

func TestProjectsOnTheWire(t *testing.T) {
	domains := `[{"id":"development","name":"development"},{"id":"staging","name":"staging"},{"id":"production","name":"production"}]`
	team1 := `{"id":"team1","name":"Team 1","domains":` + domains + `,"description":"","labels":null,"state":"ACTIVE","org":""}`
	replay(t, adminfake.New(adminfake.WithVersion("v1.16.9")), []exchange{
		{"GET /healthcheck", "", 200, ""},
		{"GET /api/v1/version", "", 200, `{"controlPlaneVersion":{"Build":"unknown","Version":"v1.16.9","BuildTime":"unknown"}}`},
		{"JSON GET /api/v1/version", "", 200, `{"control_plane_version":{"Build":"unknown","Version":"v1.16.9","BuildTime":"unknown"}}`},
		{"GET /api/v1/domains", "", 200, `{"domains":` + domains + `}`},
		{"GET /api/v1/projects", "", 200, `{"projects":[],"token":"0"}`},
		{"GET /api/v1/projects?limit=10", "", 200, `{"projects":[],"token":""}`},
		{"POST /api/v1/projects", `{"project":{"id":"team1","name":"Team 1"}}`, 200, `{}`},
		{"POST /api/v1/projects", `{"project":{"id":"team1","name":"Team 1"}}`, 409,
			`{"code":6,"message":"value with matching already exists (duplicate key value violates unique constraint \"projects_pkey\")","details":[]}`},
		{"GET /api/v1/projects/team1", "", 200, team1},
		{"GET /api/v1/projects/team2", "", 404, `{"code":5,"message":"project [team2] not found","details":[]}`},
		{"PUT /api/v1/projects/team2", `{}`, 404, `{"code":5,"message":"project [team2] not found","details":[]}`},
		{"GET /api/v1/projects?limit=1", "", 200, `{"projects":[` + team1 + `],"token":"1"}`},
		{"GET /api/v1/projects?limit=1&token=1", "", 200, `{"projects":[],"token":""}`},
		{"GET /api/v1/projects?token=x", "", 400, `{"code":3,"message":"invalid pagination token x for ListProjects","details":[]}`},
		{"GET /api/v1/projects?limit=x", "", 400, `{"code":3,"message":"parsing field \"limit\": strconv.ParseUint: parsing \"x\": invalid syntax","details":[]}`},
		{"PUT /api/v1/projects/team1", `{"state":"ARCHIVED"}`, 200, `{}`},
		{"GET /api/v1/projects?limit=1", "", 200, `{"projects":[],"token":""}`},
		{"GET /api/v1/projects?limit=5&filters=eq(state,1)", "", 200, `{"projects":[` + strings.Replace(team1, "ACTIVE", "ARCHIVED", 1) + `],"token":""}`},
		{"PUT /api/v1/projects/team1", `{"id":"ignored","name":""}`, 200, `{}`},
		{"GET /api/v1/projects/team1", "", 200, team1},
		{"POST /api/v1/projects", ``, 400, `{"code":3,"message":"missing project","details":[]}`},
		{"POST /api/v1/projects", `{"project":{"id":"x"}}`, 400, `{"code":3,"message":"missing project_name","details":[]}`},
		{"POST /api/v1/projects", `{"project":{"name":"x"}}`, 400, `{"code":3,"message":"missing project_id","details":[]}`},
		{"POST /api/v1/projects", `{"project":{"id":"X","name":"x"}}`, 400, `{"code":3,"message":"invalid project id [X]: [a lowercase RFC 1123 label is required]","details":[]}`},
		{"POST /api/v1/projects", `{"project":{"id":"x","name":"x","domains":[{"id":"d"}]}}`, 400, `{"code":3,"message":"Domains belong to the whole system and cannot be part of a request.","details":[]}`},
		{"POST /api/v1/projects", `{"project":{"id":"x","name":"` + strings.Repeat("x", 65) + `"}}`, 400, `{"code":3,"message":"project_name cannot exceed 64 characters","details":[]}`},
		{"POST /api/v1/projects", `{"project":{"id":"x","name":"x","description":"` + strings.Repeat("x", 301) + `"}}`, 400, `{"code":3,"message":"project_description cannot exceed 300 characters","details":[]}`},
		{"POST /api/v1/projects", `{"project":{"id":"x","name":"x","labels":{"values":{"-":"x"}}}}`, 400, `{"code":3,"message":"invalid label key [-]","details":[]}`},
		{"POST /api/v1/projects", `{"project":{"id":"x","name":"x","labels":{"values":{"a":"-"}}}}`, 400, `{"code":3,"message":"invalid label value [-]","details":[]}`},
		{"PUT /api/v1/projects/team1", `{"labels":{"values":{"1":"","2":"","3":"","4":"","5":"","6":"","7":"","8":"","9":"","10":"","11":"","12":"","13":"","14":"","15":"","16":"","17":""}}}`, 400,
			`{"code":3,"message":"labels map cannot exceed 16 entries","details":[]}`},
	})
}

func TestAttributesOnTheWire(t *testing.T) {
	const path = "/api/v1/project_domain_attributes/team1/production"
	label := "?resource_type=EXECUTION_CLUSTER_LABEL"
	replay(t, adminfake.New(adminfake.WithProjects("team1")), []exchange{
		{"GET " + path + label, "", 404, `{"code":5,"message":"Resource [{Project:team1 Domain:production Workflow: LaunchPlan: ResourceType:EXECUTION_CLUSTER_LABEL}] not found","details":[]}`},
		{"PUT " + path, `{"attributes":{"project":"team1","domain":"production","matching_attributes":{"execution_cluster_label":{"value":"gpu"}}}}`, 200, `{}`},
		{"PUT " + path, `{"attributes":{"matchingAttributes":{"executionClusterLabel":{"value":"anything at all"}}}}`, 200, `{}`},
		{"GET " + path + label, "", 200, `{"attributes":{"project":"team1","domain":"production","matchingAttributes":{"executionClusterLabel":{"value":"anything at all"}},"org":""}}`},
		{"JSON GET " + path + label, "", 200, `{"attributes":{"project":"team1","domain":"production","matching_attributes":{"execution_cluster_label":{"value":"anything at all"}},"org":""}}`},
		{"GET " + path + "?resourceType=3", "", 200, `{"attributes":{"project":"team1","domain":"production","matchingAttributes":{"executionClusterLabel":{"value":"anything at all"}},"org":""}}`},
		{"GET " + path, "", 404, `{"code":5,"message":"Resource [{Project:team1 Domain:production Workflow: LaunchPlan: ResourceType:TASK_RESOURCE}] not found","details":[]}`},
		{"GET " + path + "?resource_type=LABEL", "", 400, `{"code":3,"message":"parsing field \"resource_type\": \"LABEL\" is not a valid value","details":[]}`},
		{"GET /api/v1/project_domain_attributes/team2/production" + label, "", 400,
			`{"code":3,"message":"failed to validate that project [team2] and domain [production] are registered, err: [project [team2] not found]","details":[]}`},
		{"GET /api/v1/project_domain_attributes/team1/nowhere" + label, "", 400, `{"code":3,"message":"domain [nowhere] is unrecognized by system","details":[]}`},
		{"GET /api/v1/project_attributes/team2" + label, "", 400, `{"code":3,"message":"failed to validate that project [team2] exists, err: [project [team2] not found]","details":[]}`},
		{"PUT /api/v1/project_attributes/team2", `{"attributes":{}}`, 400, `{"code":3,"message":"failed to validate that project [team2] is registered, err: [project [team2] not found]","details":[]}`},
		{"GET /api/v1/matchable_attributes" + label, "", 200, `{"configurations":[{"attributes":{"executionClusterLabel":{"value":"anything at all"}},"domain":"production","project":"team1","workflow":"","launchPlan":"","org":""}]}`},
		{"GET /api/v1/matchable_attributes?resource_type=CLUSTER_RESOURCE", "", 200, `{"configurations":[]}`},
		{"PUT " + path, `{"attributes":{}}`, 400, `{"code":3,"message":"missing matching_attributes","details":[]}`},
		{"PUT " + path, `{"attributes":{"matching_attributes":{}}}`, 400, `{"code":3,"message":"Unrecognized matching attributes type for request team1-production","details":[]}`},
		{"PUT " + path, `{"attributes":{"matching_attributes":{"quality_of_service":{"tier":"HIGH"}}}}`, 400, `{"code":3,"message":"Unrecognized matching attributes type for request team1-production","details":[]}`},
		{"PUT " + path, `{"attributes":{"matching_attributes":{"execution_queue_attributes":{"tags":["a"]}}}}`, 200, `{}`},
		{"GET " + path + "?resource_type=EXECUTION_QUEUE", "", 200, `{"attributes":{"project":"team1","domain":"production","matchingAttributes":{"executionQueueAttributes":{"tags":["a"]}},"org":""}}`},
		{"PUT " + path, `{"attributes":{"matching_attributes":{"task_resource_attributes":{"limits":{"ephemeralStorage":"1Gi"}}}}}`, 200, `{}`},
		{"GET " + path, "", 200, `{"attributes":{"project":"team1","domain":"production","matchingAttributes":{"taskResourceAttributes":{"defaults":null,"limits":{"cpu":"","gpu":"","memory":"","storage":"","ephemeralStorage":"1Gi"}}},"org":""}}`},
		{"PUT /api/v1/project_attributes/team1", `{"attributes":{"matching_attributes":{"plugin_overrides":{"overrides":[]}}}}`, 500,
			`{"code":13,"message":"unexpected error type for: missing and/or invalid parameters: {team1    PLUGIN_OVERRIDE}","details":[]}`},
		{"DELETE " + path, `{"resource_type":"EXECUTION_CLUSTER_LABEL"}`, 200, `{}`},
		{"DELETE " + path, `{"resourceType":3}`, 200, `{}`},
		{"DELETE " + path, ``, 200, `{}`}, // the first kind, TASK_RESOURCE
		{"GET " + path, "", 404, `{"code":5,"message":"Resource [{Project:team1 Domain:production Workflow: LaunchPlan: ResourceType:TASK_RESOURCE}] not found","details":[]}`},
		{"DELETE /api/v1/project_domain_attributes/team2/production", `{}`, 400,
			`{"code":3,"message":"failed to validate that project [team2] and domain [production] are registered, err: [project [team2] not found]","details":[]}`},
		{"DELETE " + path, `{"resource_type":"x"}`, 200, `{}`},
		{"JSON DELETE " + path, `{"resource_type":"x"}`, 400, `{"code":3,"message":"proto: invalid value for field \"resource_type\"","details":[]}`},
	})
}

func TestADeletionTakesNarrowerScopesAlong(t *testing.T) {
	put := func(path, label string) exchange {
		return exchange{"PUT /api/v1/" + path, `{"attributes":{"matching_attributes":{"execution_cluster_label":{"value":"` + label + `"}}}}`, 200, `{}`}
	}
	replay(t, adminfake.New(adminfake.WithProjects("team1")), []exchange{
		put("project_attributes/team1", "a"), put("project_domain_attributes/team1/staging", "b"), put("project_domain_attributes/team1/production", "c"),
		put("workflow_attributes/team1/production/train.main", "d"),
		{"DELETE /api/v1/project_domain_attributes/team1/production", `{"resource_type":"EXECUTION_CLUSTER_LABEL"}`, 200, `{}`},
		{"GET /api/v1/matchable_attributes?resource_type=EXECUTION_CLUSTER_LABEL", "", 200, `{"configurations":[
			{"attributes":{"executionClusterLabel":{"value":"b"}},"domain":"staging","project":"team1","workflow":"","launchPlan":"","org":""},
			{"attributes":{"executionClusterLabel":{"value":"a"}},"domain":"","project":"team1","workflow":"","launchPlan":"","org":""}]}`},
		{"DELETE /api/v1/project_attributes/team1", `{"resource_type":"EXECUTION_CLUSTER_LABEL"}`, 200, `{}`},
		{"GET /api/v1/matchable_attributes?resource_type=EXECUTION_CLUSTER_LABEL", "", 200, `{"configurations":[]}`},
	})
}

func TestPluginOverridesAreMergedIntoTheFirstRowFound(t *testing.T) {
	override := func(taskType, plugin string) string {
		return `{"attributes":{"matching_attributes":{"plugin_overrides":{"overrides":[{"task_type":"` + taskType + `","plugin_id":["` + plugin + `"]}]}}}}`
	}
	replay(t, adminfake.New(adminfake.WithProjects("team1")), []exchange{
		{"PUT /api/v1/workflow_attributes/team1/production/w", override("spark", "a"), 200, `{}`},
		{"PUT /api/v1/project_domain_attributes/team1/production", override("ray", "b"), 200, `{}`},
		{"GET /api/v1/matchable_attributes?resource_type=PLUGIN_OVERRIDE", "", 200, `{"configurations":[{"attributes":{"pluginOverrides":{"overrides":[
			{"taskType":"ray","pluginId":["b"],"missingPluginBehavior":"FAIL"},{"taskType":"spark","pluginId":["a"],"missingPluginBehavior":"FAIL"}]}},
			"domain":"production","project":"team1","workflow":"w","launchPlan":"","org":""}]}`},
	})
}

func TestExecutionsOnTheWire(t *testing.T) {
	plan := admin.LaunchPlanID{Project: "team1", Domain: "production", Name: "main", Version: "v1"}
	fake := adminfake.New(adminfake.WithProjects("team1"), adminfake.WithLaunchPlans(adminfake.LaunchPlan{ID: plan, Inputs: map[string]adminfake.InputType{"n": adminfake.Integer}}))
	spec := `"spec":{"launch_plan":{"resource_type":"LAUNCH_PLAN","project":"team1","domain":"production","name":"main","version":"v1"}}`
	n := `,"inputs":{"literals":{"n":{"scalar":{"primitive":{"integer":7}}}}}`
	where := `"project":"team1","domain":"production",`
	refused := func(body, message string) exchange {
		return exchange{"POST /api/v1/executions", body, 400, `{"code":3,"message":"` + message + `","details":[]}`}
	}
	replay(t, fake, []exchange{
		{"POST /api/v1/executions", `{` + where + `"name":"run-1",` + spec + n + `}`, 200, `{"id":{"project":"team1","domain":"production","name":"run-1","org":""}}`},
		{"POST /api/v1/executions", `{` + where + `"name":"run-1",` + spec + n + `}`, 409,
			`{"code":6,"message":"value with matching already exists (duplicate key value violates unique constraint \"executions_pkey\")","details":[]}`},
		{"POST /api/v1/executions", `{` + where + strings.Replace(spec, "v1", "v2", 1) + `}`, 404,
			`{"code":5,"message":"missing entity of type LAUNCH_PLAN with identifier project:\"team1\" domain:\"production\" name:\"main\" version:\"v2\"","details":[]}`},
		refused(`{}`, "missing project"),
		refused(`{"project":"team1"}`, "missing domain"),
		refused(`{`+where+`"name":"1x"}`, `invalid name format: 1x, does not match regex '^[a-z][a-z\\-0-9]*$'`),
		refused(`{`+where+`"name":"`+strings.Repeat("x", 64)+`"}`, "size of name exceeded length 63 : "+strings.Repeat("x", 64)),
		refused(`{`+where+`"name":"x"}`, "missing spec"),
		refused(`{`+where+`"spec":{}}`, "missing id"),
		refused(`{`+where+`"spec":{"launch_plan":{}}}`, "missing project"),
		refused(`{`+where+strings.Replace(spec, "LAUNCH_PLAN", "WORKFLOW", 1)+`}`, "Invalid reference entity resource type [WORKFLOW], only LAUNCH_PLAN and TASK allowed"),
		refused(`{"project":"team2","domain":"production",`+spec+`}`, "failed to validate that project [team2] and domain [production] are registered, err: [project [team2] not found]"),
		refused(`{`+where+spec+`}`, "expected_inputs n missing"),
		refused(`{`+where+spec+strings.Replace(n, `"integer":7`, `"boolean":true`, 1)+`}`, "invalid n input wrong type. Expected integer"),
		refused(`{`+where+spec+strings.Replace(n, `"n"`, `"m"`, 1)+`}`, "invalid input m"),
		refused(`{`+where+spec+strings.Replace(n, `"integer":7`, `"integer":7,"boolean":true`, 1)+`}`,
			`proto: error parsing \"inputs.literals[n].scalar.primitive.integer\", oneof is already set by \"inputs.literals[n].scalar.primitive.boolean\"`),
		{"GET /api/v1/executions/team1/production/run-2", "", 404, `{"code":5,"message":"missing entity of type execution with identifier project:\"team1\" domain:\"production\" name:\"run-2\"","details":[]}`},
		{"DELETE /api/v1/executions/team1/production/run-2", "{}", 404, `{"code":5,"message":"missing entity of type execution with identifier project:\"team1\" domain:\"production\" name:\"run-2\"","details":[]}`},
		{"GET /api/v1/executions/team1/production", "", 400, `{"code":3,"message":"invalid value for limit","details":[]}`},
		{"GET /api/v1/executions/team1/production?limit=5&filters=eq(phase,RUNNING)", "", 200, `{"executions":[],"token":""}`},
		{"GET /api/v1/executions/team1/production?limit=5&filters=phase", "", 400, `{"code":3,"message":"invalid value for filters","details":[]}`},
		{"GET /api/v1/executions/team1/production?limit=5&filters=is(phase,X)", "", 400, `{"code":3,"message":"unrecognized filter function: is","details":[]}`},
		{"GET /api/v1/executions/team1/production?limit=5&filters=eq(phase,X%3BY)", "", 500, `{"code":2,"message":"failed database operation with operator does not exist: text = record","details":[]}`},
		{"GET /api/v1/executions/team1/production?limit=5&filters=eq(colour,red)", "", 400, `{"code":3,"message":"'e.colour' is invalid filter","details":[]}`},
		{"GET /api/v1/executions/team1/production?limit=5&sort_by.key=colour", "", 400, `{"code":3,"message":"invalid sort key 'colour'","details":[]}`},
		{"GET /api/v1/executions/team1/production?limit=5&sort_by.key=phase&sort_by.direction=UP", "", 400, `{"code":3,"message":"parsing field \"direction\": \"UP\" is not a valid value","details":[]}`},
	})
	require.NoError(t, fake.SetPhase(admin.ExecutionID{Project: "team1", Domain: "production", Name: "run-1"}, admin.PhaseSucceeded))
	replay(t, fake, []exchange{
		{"DELETE /api/v1/executions/team1/production/run-1", `{"cause":"x"}`, 400, `{"code":9,"message":"Cannot abort an already terminated workflow execution","details":[]}`},
	})
}

func TestWhatTheGatewayDoesNotServe(t *testing.T) {
	replay(t, adminfake.New(adminfake.WithProjects("team1")), []exchange{
		{"GET /", "", 404, `{"code":5,"message":"Not Found","details":[]}`},
		{"GET /api/v1/projects/team1/more", "", 404, `{"code":5,"message":"Not Found","details":[]}`},
		{"GET /api/v1/projects/", "", 400, `{"code":3,"message":"missing project_id","details":[]}`},
		{"DELETE /api/v1/projects/team1", "", 501, `{"code":12,"message":"Method Not Allowed","details":[]}`},
		{"GET /.well-known/oauth-authorization-server", "", 501, `{"code":12,"message":"unknown service flyteidl.service.AuthMetadataService","details":[]}`},
		{"GET /config/v1/flyte_client", "", 501, `{"code":12,"message":"unknown service flyteidl.service.AuthMetadataService","details":[]}`},
		{"POST /oauth2/token", "grant_type=client_credentials", 404, `{"code":5,"message":"Not Found","details":[]}`},
	})
}

func TestBodiesAreReadStrictlyForTheMediaTypeOfJSON(t *testing.T) {
	replay(t, adminfake.New(), []exchange{
		{"JSON POST /api/v1/projects", `{"project":{"id":"a","name":"a","colour":"red"}}`, 400, `{"code":3,"message":"proto: unknown field \"project.colour\"","details":[]}`},
		{"POST /api/v1/projects", `{"project":{"id":"a","name":"a","colour":"red"}}`, 200, `{}`},
		{"POST /api/v1/projects", `{"project":{"id":"c","name":"c","state":"GONE"}}`, 200, `{}`},
		{"JSON POST /api/v1/projects", `{"project":{"id":"b","name":"b","state":"GONE"}}`, 400, `{"code":3,"message":"proto: invalid value for field \"project.state\"","details":[]}`},
		{"POST /api/v1/projects", `{"project":{"id":7}}`, 400, `{"code":3,"message":"proto: invalid value for field \"project.id\"","details":[]}`},
		{"POST /api/v1/projects", `{"project":[]}`, 400, `{"code":3,"message":"proto: syntax error: unexpected value for project.","details":[]}`},
		{"POST /api/v1/projects", `{"project":{"domains":{}}}`, 400, `{"code":3,"message":"proto: syntax error: field \"project.domains\" is no list","details":[]}`},
		{"POST /api/v1/projects", `{"project":{"labels":{"values":[]}}}`, 400, `{"code":3,"message":"proto: invalid value for field \"project.labels.values\"","details":[]}`},
		{"POST /api/v1/projects", `{"project":{"labels":{"values":{"a":1}}}}`, 400, `{"code":3,"message":"proto: invalid value for field \"project.labels.values[a]\"","details":[]}`},
		{"POST /api/v1/projects", `{"project"`, 400, `{"code":3,"message":"proto: syntax error: unexpected EOF","details":[]}`},
		{"PUT /api/v1/project_attributes/a", `{"attributes":{"matching_attributes":{},"matchingAttributes":{}}}`, 400, `{"code":3,"message":"proto: duplicate field \"attributes.matching_attributes\"","details":[]}`},
	})
}

func TestTheHeaderAcceptGoesFirst(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/version", http.NoBody)
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Content-Type", "text/plain")
	w := httptest.NewRecorder()
	adminfake.New().ServeHTTP(w, r)
	body, err := io.ReadAll(w.Body)
	require.NoError(t, err)
	assert.Contains(t, string(body), "control_plane_version")
}
