package planewright

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// PlanVersion names the JSON form of a plan. A form that a program written
// for this one could misread has another name.
const PlanVersion = "planewright.dev/plan/v1"

// planJSON is the JSON form of a plan.
type planJSON struct {
	// Version is PlanVersion.
	Version string `json:"version"`
	// Stacks are the names of the stacks.
	Stacks []string `json:"stacks"`
	// Targets are the ids that the plan was restricted to.
	Targets []string `json:"targets,omitempty"`
	// Changes tells whether carrying the plan out would write anything.
	Changes bool `json:"changes"`
	// Summary is the plan's last line as a tree.
	Summary string `json:"summary"`
	// Steps are all steps.
	Steps []PlannedStep `json:"steps"`
	// Findings are what probes and checks found.
	Findings []Finding `json:"findings,omitempty"`
}

// MarshalJSON writes the plan in the form that [PlanVersion] names:
//
//	version   "planewright.dev/plan/v1"
//	stacks    names of the stacks
//	targets   step ids that the plan was restricted to
//	changes   whether carrying it out would write anything
//	summary   "plan: 2 to create, 1 unchanged"
//	steps     [] of stack, id, title, cluster, needs, objects, pruned and
//	          change {action, reason, diff [] of {path, before, after, secret}, findings, fingerprint}
//	findings  [] of severity, code, step, object, cause, fix
//
// It holds no secrets. [ReadPlan] reads it back.
func (p *ExecutionPlan) MarshalJSON() ([]byte, error) {
	out := planJSON{Version: PlanVersion, Targets: p.targets, Changes: p.HasChanges(), Summary: p.Summary(), Steps: p.steps, Findings: p.findings}
	for _, s := range p.stacks {
		out.Stacks = append(out.Stacks, s.name)
	}
	return json.Marshal(out)
}

// ReadPlan reads a plan that was saved as JSON, to be applied now. The stacks
// are those that it was made of, built again from the same specs; if their
// steps are not those of the plan, the error matches [ErrStale]. Whether the
// world and the specs' details are still as planned is seen when it is applied.
func ReadPlan(r io.Reader, stacks ...Stack) (*ExecutionPlan, error) {
	var in planJSON
	if err := json.NewDecoder(r).Decode(&in); err != nil {
		return nil, fmt.Errorf("reading a plan: %w: %w", ErrInvalid, err)
	}
	if in.Version != PlanVersion {
		return nil, fmt.Errorf("reading a plan: version %q is not %q: %w", in.Version, PlanVersion, ErrUnsupported)
	}
	p := &ExecutionPlan{stacks: stacks, targets: in.Targets, findings: in.Findings}
	known := map[string]boundStep{}
	for _, s := range stacks {
		if !slices.Contains(in.Stacks, s.name) {
			return nil, fmt.Errorf("the plan knows no stack %q, only %q: %w", s.name, in.Stacks, ErrStale)
		}
		for _, step := range s.steps {
			known[step.ID] = boundStep{Step: step, stack: s.name}
		}
	}
	var all []string
	for id := range known {
		all = append(all, id)
	}
	slices.Sort(all)
	for _, planned := range in.Steps {
		if planned.Pruned {
			step, ok := pruneStep(stacks, planned)
			if !ok {
				return nil, fmt.Errorf("step %s of the plan deletes what the stacks do not know how to delete: %w", planned.ID, ErrStale)
			}
			step.Needs = append(slices.Clip(step.Needs), all...)
			planned.step = step
		} else {
			step, ok := known[planned.ID]
			if !ok {
				return nil, fmt.Errorf("step %s of the plan is in none of the stacks: %w", planned.ID, ErrStale)
			}
			planned.step = step
			delete(known, planned.ID)
		}
		p.steps = append(p.steps, planned)
	}
	if len(known) > 0 && len(p.targets) == 0 {
		return nil, fmt.Errorf("the stacks have %d steps that the plan does not know: %w", len(known), ErrStale)
	}
	return p, nil
}

// pruneStep makes the step that takes away what a planned step names.
func pruneStep(stacks []Stack, planned PlannedStep) (boundStep, bool) {
	i := slices.IndexFunc(stacks, func(s Stack) bool { return s.name == planned.Stack })
	if i < 0 {
		return boundStep{}, false
	}
	return stacks[i].prune(InventoryEntry{Step: strings.TrimSuffix(planned.ID, prunedSuffix), Objects: planned.Objects})
}
