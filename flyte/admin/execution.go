package admin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/planewright/planewright"
)

// ExecutionID identifies an execution.
type ExecutionID struct {
	Project, Domain, Name string
}

// String prints the id: "team1/development/f1a2b3".
func (id ExecutionID) String() string { return id.Project + "/" + id.Domain + "/" + id.Name }

func (id ExecutionID) check(problems *planewright.Problems) {
	checkID(problems, "project", id.Project)
	checkSegment(problems, "domain", id.Domain)
	checkSegment(problems, "name", id.Name)
}

func (id ExecutionID) validate() error {
	var problems planewright.Problems
	id.check(&problems)
	return problems.Err("execution " + id.String())
}

func (id ExecutionID) path() string { return pathOf("executions", id.Project, id.Domain, id.Name) }

// Execution is a run of a workflow.
type Execution struct {
	// ID identifies it.
	ID ExecutionID
	// LaunchPlan is what was launched, Workflow the name of the workflow.
	LaunchPlan LaunchPlanID
	Workflow   string
	// Phase is where it stands, as far as its cluster has told flyteadmin.
	Phase Phase
	// Error is why it failed; nil unless it did.
	Error *ExecutionError
	// AbortCause is what was given as the cause when it was terminated.
	AbortCause string
	// Cluster is the id of the cluster that it was sent to. It is empty where
	// flyteadmin runs executions on its own cluster only.
	Cluster string
	// Namespace is the namespace it runs in.
	Namespace string
	// ExecutionClusterLabel is the label that it was created with, empty for
	// one that got its label by attributes or by default.
	ExecutionClusterLabel string
	// CreatedAt, StartedAt and UpdatedAt are zero if they are not known.
	CreatedAt, StartedAt, UpdatedAt time.Time
}

// ExecutionError is why an execution failed.
type ExecutionError struct {
	// Code is a group of errors: "RetriesExhausted|USER:Unknown".
	Code string
	// Message is on one line, and not longer than [MaxMessage] bytes.
	Message string
	// Kind is USER, SYSTEM or UNKNOWN: whose fault it is.
	Kind string
}

// Error implements error.
func (e *ExecutionError) Error() string {
	return "execution failed: " + e.Code + ": " + e.Message
}

// Execution reads an execution. One that does not exist is planewright.ErrNotFound.
func (c *Client) Execution(ctx context.Context, id ExecutionID) (Execution, error) {
	if err := id.validate(); err != nil {
		return Execution{}, err
	}
	var execution Execution
	err := c.do(ctx, call{op: "GetExecution", method: http.MethodGet, path: id.path()}, func(m message) { execution = readExecution(m) })
	return execution, err
}

// Terminate ends an execution that has not ended: its phase is ABORTING until
// its cluster says that it is gone. One that has ended already is
// planewright.ErrConflict, one that does not exist planewright.ErrNotFound.
func (c *Client) Terminate(ctx context.Context, id ExecutionID, cause string) error {
	if err := id.validate(); err != nil {
		return err
	}
	return c.do(ctx, call{op: "TerminateExecution", method: http.MethodDelete, path: id.path(), body: map[string]any{
		"id": map[string]any{"project": id.Project, "domain": id.Domain, "name": id.Name}, "cause": cause,
	}}, nil)
}

func readExecution(m message) Execution {
	id, spec, closure := m.message("id"), m.message("spec"), m.message("closure")
	system := spec.message("metadata").message("system_metadata")
	e := Execution{
		ID:         ExecutionID{Project: id.text("project"), Domain: id.text("domain"), Name: id.text("name")},
		LaunchPlan: readIdentifier(spec.message("launch_plan")), Workflow: closure.message("workflow_id").text("name"),
		Phase: Phase(closure.enum("phase")), AbortCause: closure.text("abort_cause"),
		Cluster: system.text("execution_cluster"), Namespace: system.text("namespace"),
		ExecutionClusterLabel: spec.message("execution_cluster_label").text("value"),
		CreatedAt:             closure.time("created_at"), StartedAt: closure.time("started_at"), UpdatedAt: closure.time("updated_at"),
	}
	if e.ID.Name == "" {
		m.fail(errors.New("field " + m.at("id.name") + " is missing"))
	}
	if e.Phase == "" {
		e.Phase = PhaseUndefined
	}
	if closure.has("error") {
		failure := closure.message("error")
		e.Error = &ExecutionError{Code: failure.text("code"), Message: oneLine(failure.text("message")), Kind: failure.enum("kind")}
	}
	if closure.has("abort_metadata") {
		e.AbortCause = closure.message("abort_metadata").text("cause")
	}
	return e
}
