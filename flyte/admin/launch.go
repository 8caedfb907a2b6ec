package admin

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"

	"github.com/planewright/planewright"
)

// ExecutionRequest asks for an execution of a launch plan.
type ExecutionRequest struct {
	// LaunchPlan is what to run, with its version; see [Client.LaunchPlan].
	LaunchPlan LaunchPlanID
	// Project and Domain are where to run it, by default the launch plan's.
	Project, Domain string
	// Name is the execution's. By default flyteadmin makes one up. With a name
	// the call can be tried again if its answer is lost.
	Name string
	// Inputs are those of the launch plan; it refuses others.
	Inputs map[string]Literal
	// ExecutionClusterLabel sends the execution to a cluster with this label,
	// whatever the attributes say. A flyteadmin that knows no clusters refuses it.
	ExecutionClusterLabel string
}

// id is the execution's, without a name if it has none yet.
func (r ExecutionRequest) id() ExecutionID {
	id := ExecutionID{Project: r.Project, Domain: r.Domain, Name: r.Name}
	if id.Project == "" {
		id.Project = r.LaunchPlan.Project
	}
	if id.Domain == "" {
		id.Domain = r.LaunchPlan.Domain
	}
	return id
}

func (r ExecutionRequest) validate() error {
	var problems planewright.Problems
	checkID(&problems, "launchPlan.project", r.LaunchPlan.Project)
	for _, field := range [][2]string{{"domain", r.LaunchPlan.Domain}, {"name", r.LaunchPlan.Name}, {"version", r.LaunchPlan.Version}} {
		if field[1] == "" {
			problems.Add("launchPlan."+field[0], "", "is required", "take the id that Client.LaunchPlan finds")
		}
	}
	if r.Project != "" {
		checkID(&problems, "project", r.Project)
	}
	if r.Name != "" {
		checkExecutionName(&problems, r.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Inputs)) {
		if r.Inputs[name].field == "" {
			problems.Add("inputs["+name+"]", "", "must have a value", "use StringLiteral, IntegerLiteral or BooleanLiteral")
		}
	}
	return problems.Err("execution of " + r.LaunchPlan.String())
}

// CreateExecution launches a launch plan. A name that is taken is
// planewright.ErrAlreadyExists, an unknown launch plan planewright.ErrNotFound;
// inputs that do not fit, and an unknown or archived project, are
// planewright.ErrInvalid.
//
// An execution that no cluster takes is created all the same: its phase is
// FAILED, and its Error says why.
//
// If the answer is lost, it looks for an execution of the given name and the
// same launch plan. Without a name nobody can tell: the error says by its
// field Uncertain that an execution may have been created.
func (c *Client) CreateExecution(ctx context.Context, request ExecutionRequest) (ExecutionID, error) {
	if err := request.validate(); err != nil {
		return ExecutionID{}, err
	}
	id := request.id()
	post := call{op: "CreateExecution", method: http.MethodPost, path: pathOf("executions"), body: request.body()}
	if id.Name == "" {
		err := c.do(ctx, post, func(m message) {
			named := m.message("id")
			id = ExecutionID{Project: named.text("project"), Domain: named.text("domain"), Name: named.text("name")}
			if id.Name == "" {
				m.fail(errors.New("field id.name is missing"))
			}
		})
		return id, err
	}
	err := c.create(ctx, post, func(ctx context.Context) (bool, error) {
		found, err := c.Execution(ctx, id)
		return err == nil && found.LaunchPlan == request.LaunchPlan, err
	})
	return id, err
}

func (r ExecutionRequest) body() map[string]any {
	id := r.id()
	spec := map[string]any{
		"launch_plan": map[string]any{
			"resource_type": "LAUNCH_PLAN", "project": r.LaunchPlan.Project, "domain": r.LaunchPlan.Domain,
			"name": r.LaunchPlan.Name, "version": r.LaunchPlan.Version,
		},
		"metadata": map[string]any{"mode": "MANUAL"},
	}
	if r.ExecutionClusterLabel != "" {
		spec["execution_cluster_label"] = map[string]any{"value": r.ExecutionClusterLabel}
	}
	literals := map[string]any{}
	for name, literal := range r.Inputs {
		literals[name] = literal.body()
	}
	body := map[string]any{"project": id.Project, "domain": id.Domain, "spec": spec, "inputs": map[string]any{"literals": literals}}
	if id.Name != "" {
		body["name"] = id.Name
	}
	return body
}
