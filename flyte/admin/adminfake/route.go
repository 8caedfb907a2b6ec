package adminfake

import (
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/planewright/planewright/flyte/admin"
)

// request is a call that has found its operation.
type request struct {
	call    Call
	params  map[string]string
	query   url.Values
	body    []byte
	header  http.Header
	baseURL string
}

// operation is one RPC. It runs with the fake locked, and returns the answer's
// message, and whether it changed what is stored.
type operation struct {
	name      string
	anonymous bool
	run       func(*Fake, *request) (result, error)
}

// result is the answer to a call that succeeded.
type result struct {
	schema    schema
	message   fields
	persisted bool
	// raw is an answer that the gateway does not make: written as it is.
	raw *reply
}

// route is one line of the gateway's table.
type route struct {
	method, pattern string
	operation       operation
}

// routes is the gateway's table: flyteidl/protos/flyteidl/service/admin.proto and auth.proto.
func routes() []route {
	project, domain, workflow := []string{"project"}, []string{"project", "domain"}, []string{"project", "domain", "workflow"}
	table := []route{
		{http.MethodGet, "/healthcheck", operation{"Health", true, (*Fake).health}},
		{http.MethodGet, "/.well-known/oauth-authorization-server", operation{"GetOAuth2Metadata", true, (*Fake).oauth2Metadata}},
		{http.MethodGet, "/config/v1/flyte_client", operation{"GetPublicClientConfig", true, (*Fake).clientConfig}},
		{http.MethodPost, "/oauth2/token", operation{"Token", true, (*Fake).giveToken}},
		{http.MethodGet, "/api/v1/version", operation{"GetVersion", false, (*Fake).getVersion}},
		{http.MethodGet, "/api/v1/domains", operation{"GetDomains", false, (*Fake).getDomains}},
		{http.MethodGet, "/api/v1/projects", operation{"ListProjects", false, (*Fake).listProjects}},
		{http.MethodPost, "/api/v1/projects", operation{"RegisterProject", false, (*Fake).registerProject}},
		{http.MethodGet, "/api/v1/projects/{id}", operation{"GetProject", false, (*Fake).getProject}},
		{http.MethodPut, "/api/v1/projects/{id}", operation{"UpdateProject", false, (*Fake).updateProject}},
		{http.MethodGet, "/api/v1/matchable_attributes", operation{"ListMatchableAttributes", false, (*Fake).listAttributes}},
		{http.MethodGet, "/api/v1/launch_plans/{project}/{domain}", operation{"ListLaunchPlans", false, (*Fake).listLaunchPlans}},
		{http.MethodGet, "/api/v1/launch_plans/{project}/{domain}/{name}", operation{"ListLaunchPlans", false, (*Fake).listLaunchPlans}},
		{http.MethodPost, "/api/v1/executions", operation{"CreateExecution", false, (*Fake).createExecution}},
		{http.MethodGet, "/api/v1/executions/{project}/{domain}", operation{"ListExecutions", false, (*Fake).listExecutions}},
		{http.MethodGet, "/api/v1/executions/{project}/{domain}/{name}", operation{"GetExecution", false, (*Fake).getExecution}},
		{http.MethodDelete, "/api/v1/executions/{project}/{domain}/{name}", operation{"TerminateExecution", false, (*Fake).terminateExecution}},
	}
	for _, level := range []struct {
		noun, pattern string
		names         []string
	}{
		{"ProjectAttributes", "/api/v1/project_attributes/{project}", project},
		{"ProjectDomainAttributes", "/api/v1/project_domain_attributes/{project}/{domain}", domain},
		{"WorkflowAttributes", "/api/v1/workflow_attributes/{project}/{domain}/{workflow}", workflow},
	} {
		table = append(table,
			route{http.MethodPut, level.pattern, operation{"Update" + level.noun, false, func(f *Fake, r *request) (result, error) { return f.updateAttributes(r, level.names) }}},
			route{http.MethodGet, level.pattern, operation{"Get" + level.noun, false, func(f *Fake, r *request) (result, error) { return f.getAttributes(r, level.names) }}},
			route{http.MethodDelete, level.pattern, operation{"Delete" + level.noun, false, func(f *Fake, r *request) (result, error) { return f.deleteAttributes(r, level.names) }}})
	}
	return table
}

// find finds the operation of a method and a path, and the path's parameters.
// As with grpc-gateway, a path that exists for other methods is 501.
func find(table []route, method, path string) (operation, map[string]string, *status) {
	known := false
	for _, r := range table {
		params, ok := match(r.pattern, path)
		if !ok {
			continue
		}
		if r.method == method {
			return r.operation, params, nil
		}
		known = true
	}
	if known {
		return operation{}, nil, statusf(admin.CodeUnimplemented, "Method Not Allowed")
	}
	return operation{}, nil, statusf(admin.CodeNotFound, "Not Found")
}

// match matches an escaped path segment by segment.
func match(pattern, path string) (map[string]string, bool) {
	wants, has := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(wants) != len(has) {
		return nil, false
	}
	params := map[string]string{}
	for i, want := range wants {
		if name, ok := strings.CutPrefix(want, "{"); ok {
			value, err := url.PathUnescape(has[i])
			if err != nil {
				return nil, false
			}
			params[strings.TrimSuffix(name, "}")] = value
		} else if want != has[i] {
			return nil, false
		}
	}
	return params, true
}

// parse reads the call's body, which may be missing.
func (r *request) parse(s schema) (fields, error) {
	if len(r.body) == 0 {
		return fields{}, nil
	}
	set, err := s.parse(r.body, isJSON(r.header))
	if err != nil {
		return nil, invalid("%v", err)
	}
	return set, nil
}

// parameter returns a parameter of the query, by either spelling.
func (r *request) parameter(f field) string {
	if r.query.Has(f.name) {
		return r.query.Get(f.name)
	}
	return r.query.Get(f.camel())
}

// resourceType reads the query's kind of attributes; like every enumeration
// it is its first value by default.
func (r *request) resourceType() (string, error) {
	given := r.parameter(field{name: "resource_type"})
	if given == "" {
		return resourceTypes()[0], nil
	}
	kind, ok := enumValue(resourceTypes(), given)
	if !ok {
		return "", invalid("parsing field %q: %q is not a valid value", "resource_type", given)
	}
	return kind, nil
}

// camel reports whether the answer's names are spelt with capitals. flyteadmin
// has another encoder for the media type application/json than for the rest,
// and the header Accept goes before Content-Type.
func camel(header http.Header) bool {
	for _, accepted := range header.Values("Accept") {
		if accepted == "application/json" {
			return false
		}
	}
	return !isJSON(header)
}

func isJSON(header http.Header) bool {
	mediaType, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && mediaType == "application/json"
}
