package adminfake

import (
	"slices"

	"github.com/planewright/planewright/flyte/admin"
)

// InputType is the type of a launch plan's input.
type InputType string

// The types of inputs.
const (
	// String takes admin.StringLiteral.
	String InputType = "string"
	// Integer takes admin.IntegerLiteral.
	Integer InputType = "integer"
	// Boolean takes admin.BooleanLiteral.
	Boolean InputType = "boolean"
)

// LaunchPlan is a registered version of a launch plan.
type LaunchPlan struct {
	// ID identifies it.
	ID admin.LaunchPlanID
	// Workflow is the name of its workflow, by default the launch plan's.
	Workflow string
	// Inputs are those it takes; each must be given.
	Inputs map[string]InputType
	// Active marks the version as the active one.
	Active bool
}

type launchPlan struct {
	LaunchPlan
	created string
	number  int
}

// AddLaunchPlans registers versions of launch plans, one after the other: the
// last one of a name is the latest. Nothing else is asked of them; their
// project need not exist.
func (f *Fake) AddLaunchPlans(plans ...LaunchPlan) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.addLaunchPlans(plans)
}

func (f *Fake) addLaunchPlans(plans []LaunchPlan) {
	for _, p := range plans {
		if p.Workflow == "" {
			p.Workflow = p.ID.Name
		}
		f.launchPlans = slices.DeleteFunc(f.launchPlans, func(have launchPlan) bool { return have.ID == p.ID })
		f.sequence++
		f.launchPlans = append(f.launchPlans, launchPlan{p, f.timestamp(), f.sequence})
	}
}

func (f *Fake) launchPlan(id admin.LaunchPlanID) (launchPlan, bool) {
	i := slices.IndexFunc(f.launchPlans, func(p launchPlan) bool { return p.ID == id })
	if i < 0 {
		return launchPlan{}, false
	}
	return f.launchPlans[i], true
}

func (f *Fake) listLaunchPlans(r *request) (result, error) {
	var rows []row
	for _, p := range f.launchPlans {
		name, named := r.params["name"]
		if p.ID.Project != r.params["project"] || p.ID.Domain != r.params["domain"] || named && p.ID.Name != name {
			continue
		}
		state := 0
		if p.Active {
			state = 1
		}
		rows = append(rows, row{
			message: fields{
				"id":      identifier("LAUNCH_PLAN", p.ID),
				"spec":    fields{"workflow_id": identifier("WORKFLOW", workflowOf(p))},
				"closure": fields{"state": []string{"INACTIVE", "ACTIVE"}[state], "created_at": p.created, "updated_at": p.created},
			},
			columns: map[string]any{"name": p.ID.Name, "version": p.ID.Version, "state": state, "created_at": p.number},
		})
	}
	page, token, err := listing{call: "ListLaunchPlans", entity: "launch_plan"}.page(r, rows)
	if err != nil {
		return result{}, err
	}
	return result{
		schema:  schema{{name: "launch_plans", kind: object, of: launchPlanSchema(), repeated: true}, {name: "token"}},
		message: fields{"launch_plans": page, "token": token},
	}, nil
}

func workflowOf(p launchPlan) admin.LaunchPlanID {
	id := p.ID
	id.Name = p.Workflow
	return id
}

func identifier(resourceType string, id admin.LaunchPlanID) fields {
	return fields{"resource_type": resourceType, "project": id.Project, "domain": id.Domain, "name": id.Name, "version": id.Version}
}

// checkInputs checks the inputs of an execution against the launch plan's.
func (p launchPlan) checkInputs(literals fields) error {
	for name, literal := range literals {
		expected, ok := p.Inputs[name]
		if !ok {
			return invalid("invalid input %s", name)
		}
		primitive := asFields(asFields(asFields(literal)["scalar"])["primitive"])
		field := map[InputType]string{String: "string_value", Integer: "integer", Boolean: "boolean"}[expected]
		if primitive[field] == nil {
			return invalid("invalid %s input wrong type. Expected %s", name, expected)
		}
	}
	for name := range p.Inputs {
		if literals[name] == nil {
			return invalid("expected_inputs %s missing", name)
		}
	}
	return nil
}
