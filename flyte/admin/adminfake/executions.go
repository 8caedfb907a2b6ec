package adminfake

import (
	"fmt"
	"maps"

	"github.com/planewright/planewright/flyte/admin"
)

func executionID(r *request) admin.ExecutionID {
	return admin.ExecutionID{Project: r.params["project"], Domain: r.params["domain"], Name: r.params["name"]}
}

func executionNotFound(id admin.ExecutionID) *status {
	return statusf(admin.CodeNotFound, "missing entity of type execution with identifier project:%q domain:%q name:%q", id.Project, id.Domain, id.Name)
}

func (f *Fake) getExecution(r *request) (result, error) {
	id := executionID(r)
	e := f.execution(id)
	if e == nil {
		return result{}, executionNotFound(id)
	}
	if len(e.script) > 0 {
		f.move(e, e.script[0])
		e.script = e.script[1:]
	}
	return result{schema: executionSchema(), message: e.message()}, nil
}

func (f *Fake) listExecutions(r *request) (result, error) {
	var rows []row
	for _, e := range f.executions {
		if e.ID.Project != r.params["project"] || e.ID.Domain != r.params["domain"] {
			continue
		}
		state := 0
		if e.archived {
			state = 1
		}
		rows = append(rows, row{message: e.message(), columns: map[string]any{
			"execution_name": e.ID.Name, "phase": string(e.Phase), "cluster": e.Cluster, "state": state, "created_at": e.number,
		}})
	}
	l := listing{call: "ListExecutions", entity: "execution"}
	if !mentionsState(r.query.Get("filters")) {
		var err error
		if rows, err = l.filter(rows, "eq(state,0)"); err != nil {
			return result{}, err
		}
	}
	page, token, err := l.page(r, rows)
	if err != nil {
		return result{}, err
	}
	return result{
		schema:  schema{{name: "executions", kind: object, of: executionSchema(), repeated: true}, {name: "token"}},
		message: fields{"executions": page, "token": token},
	}, nil
}

func (f *Fake) terminateExecution(r *request) (result, error) {
	set, err := r.parse(schema{{name: "id", kind: object, of: executionIDSchema()}, {name: "cause"}})
	if err != nil {
		return result{}, err
	}
	id := executionID(r)
	e := f.execution(id)
	if e == nil {
		return result{}, executionNotFound(id)
	}
	if e.Phase.Terminal() {
		return result{}, statusf(admin.CodeFailedPrecondition, "Cannot abort an already terminated workflow execution")
	}
	f.move(e, admin.PhaseAborting)
	e.aborted, e.cause = true, asText(set["cause"])
	e.script = nil
	if f.script != nil {
		e.script = []admin.Phase{admin.PhaseAborting, admin.PhaseAborted}
	}
	return result{persisted: true}, nil
}

// message is the execution in the protocol.
func (e *execution) message() fields {
	spec := maps.Clone(e.spec)
	metadata := maps.Clone(asFields(spec["metadata"]))
	metadata["system_metadata"] = fields{"execution_cluster": e.Cluster, "namespace": fmt.Sprintf("%s-%s", e.ID.Project, e.ID.Domain)}
	spec["metadata"] = metadata
	workflow := e.LaunchPlan
	workflow.Name = e.Workflow
	closure := fields{
		"phase": string(e.Phase), "workflow_id": identifier("WORKFLOW", workflow), "created_at": e.created, "updated_at": e.updated,
	}
	if e.started != "" {
		closure["started_at"] = e.started
	}
	switch {
	case e.failure != nil:
		closure["error"] = e.failure
	case e.aborted:
		closure["abort_metadata"] = fields{"cause": e.cause}
	}
	return fields{"id": fields{"project": e.ID.Project, "domain": e.ID.Domain, "name": e.ID.Name}, "spec": spec, "closure": closure}
}
