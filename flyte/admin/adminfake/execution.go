package adminfake

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte/admin"
)

// Execution is an execution as the fake keeps it.
type Execution struct {
	// ID identifies it.
	ID admin.ExecutionID
	// LaunchPlan is what was launched, Workflow the name of its workflow.
	LaunchPlan admin.LaunchPlanID
	Workflow   string
	// Label is the execution cluster label that counts: the request's, else
	// that of the most specific attributes, else none.
	Label string
	// Cluster is what the placement decided.
	Cluster string
	// Phase is where it stands, PhaseUndefined until its cluster has reported.
	Phase admin.Phase
}

// execution is one with what only the gateway tells.
type execution struct {
	Execution
	spec, failure             fields
	cause                     string
	aborted, archived         bool
	number                    int
	created, started, updated string
	script                    []admin.Phase
}

// AddExecutions adds executions as they are, without asking for a project, a
// launch plan or the placement: what runs already when a test begins.
func (f *Fake) AddExecutions(executions ...Execution) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range executions {
		if e.Phase == "" {
			e.Phase = admin.PhaseUndefined
		}
		f.addExecution(e, fields{"launch_plan": identifier("LAUNCH_PLAN", e.LaunchPlan)})
	}
}

func (f *Fake) addExecution(e Execution, spec fields) {
	f.sequence++
	now := f.timestamp()
	f.executions = append(f.executions, &execution{Execution: e, spec: spec, number: f.sequence, created: now, updated: now, script: f.script})
}

// Executions returns all executions, the oldest first.
func (f *Fake) Executions() []Execution {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]Execution, len(f.executions))
	for i, e := range f.executions {
		list[i] = e.Execution
	}
	return list
}

// SetPhase moves an execution to a phase: what its cluster would report. One
// that is not there is planewright.ErrNotFound.
func (f *Fake) SetPhase(id admin.ExecutionID, phase admin.Phase) error {
	return f.change(id, func(e *execution) { f.move(e, phase) })
}

// FailExecution moves an execution to the phase FAILED, with an error. One that
// is not there is planewright.ErrNotFound.
func (f *Fake) FailExecution(id admin.ExecutionID, code, message string) error {
	return f.change(id, func(e *execution) {
		f.move(e, admin.PhaseFailed)
		e.failure = fields{"code": code, "message": message, "kind": "USER", "timestamp": e.updated}
	})
}

// ArchiveExecution hides an execution from lists that do not ask for archived
// ones; it runs on. One that is not there is planewright.ErrNotFound.
func (f *Fake) ArchiveExecution(id admin.ExecutionID) error {
	return f.change(id, func(e *execution) { e.archived = true })
}

func (f *Fake) change(id admin.ExecutionID, change func(*execution)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.execution(id)
	if e == nil {
		return fmt.Errorf("adminfake: execution %s: %w", id, planewright.ErrNotFound)
	}
	e.script = nil
	change(e)
	return nil
}

func (f *Fake) execution(id admin.ExecutionID) *execution {
	i := slices.IndexFunc(f.executions, func(e *execution) bool { return e.ID == id })
	if i < 0 {
		return nil
	}
	return f.executions[i]
}

func (f *Fake) move(e *execution, phase admin.Phase) {
	e.Phase, e.updated = phase, f.timestamp()
	if e.started == "" && phase != admin.PhaseUndefined && phase != admin.PhaseQueued {
		e.started = e.updated
	}
}

func (f *Fake) createExecution(r *request) (result, error) {
	set, err := r.parse(executionRequestSchema())
	if err != nil {
		return result{}, err
	}
	id := admin.ExecutionID{Project: asText(set["project"]), Domain: asText(set["domain"]), Name: asText(set["name"])}
	spec := maps.Clone(asFields(set["spec"]))
	planID := identifierOf(asFields(spec["launch_plan"]))
	if err := f.checkExecution(id, set["spec"] != nil, spec); err != nil {
		return result{}, err
	}
	plan, ok := f.launchPlan(planID)
	if !ok {
		return result{}, statusf(admin.CodeNotFound, "missing entity of type LAUNCH_PLAN with identifier project:%q domain:%q name:%q version:%q", planID.Project, planID.Domain, planID.Name, planID.Version)
	}
	if err := plan.checkInputs(asFields(asFields(set["inputs"])["literals"])); err != nil {
		return result{}, err
	}
	if id.Name == "" {
		id.Name = fmt.Sprintf("f%019d", f.sequence+1)
	}
	if f.execution(id) != nil {
		return result{}, statusf(admin.CodeAlreadyExists, `value with matching already exists (duplicate key value violates unique constraint "executions_pkey")`)
	}
	e := Execution{ID: id, LaunchPlan: planID, Workflow: plan.Workflow, Label: f.label(id, plan.Workflow, spec), Phase: admin.PhaseUndefined}
	if f.placement != nil {
		e.Cluster = f.placement(e)
	}
	f.addExecution(e, spec)
	return result{
		schema:    schema{{name: "id", kind: object, of: executionIDSchema()}},
		message:   fields{"id": fields{"project": id.Project, "domain": id.Domain, "name": id.Name}},
		persisted: true,
	}, nil
}

// checkExecution is flyteadmin's execution_validator.go.
func (f *Fake) checkExecution(id admin.ExecutionID, specified bool, spec fields) error {
	switch {
	case id.Project == "":
		return invalid("missing project")
	case id.Domain == "":
		return invalid("missing domain")
	}
	if name := strings.ToLower(id.Name); name != "" {
		if len(name) > 63 {
			return invalid("size of name exceeded length 63 : %s", name)
		}
		if pattern := regexp.MustCompile(`^[a-z][a-z\-0-9]*$`); !pattern.MatchString(name) {
			return invalid("invalid name format: %s, does not match regex '%s'", name, pattern)
		}
	}
	if err := f.checkProjectAndDomain(id.Project, id.Domain); err != nil {
		return err
	}
	if !specified {
		return invalid("missing spec")
	}
	if spec["launch_plan"] == nil {
		return invalid("missing id")
	}
	plan := asFields(spec["launch_plan"])
	for _, name := range []string{"project", "domain", "name", "version"} {
		if asText(plan[name]) == "" {
			return invalid("missing %s", name)
		}
	}
	if t := asText(plan["resource_type"]); t != "LAUNCH_PLAN" && t != "TASK" {
		return invalid("Invalid reference entity resource type [%s], only LAUNCH_PLAN and TASK allowed", t)
	}
	return nil
}

// label finds the execution cluster label that counts.
func (f *Fake) label(id admin.ExecutionID, workflow string, spec fields) string {
	if spec["execution_cluster_label"] != nil {
		return asText(asFields(spec["execution_cluster_label"])["value"])
	}
	if row := f.applying(id.Project, id.Domain, workflow, "EXECUTION_CLUSTER_LABEL"); row != nil {
		return asText(asFields(row.matching["execution_cluster_label"])["value"])
	}
	return ""
}

func identifierOf(m fields) admin.LaunchPlanID {
	return admin.LaunchPlanID{Project: asText(m["project"]), Domain: asText(m["domain"]), Name: asText(m["name"]), Version: asText(m["version"])}
}
