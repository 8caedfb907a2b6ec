package planewright

import (
	"context"
	"errors"
	"path"
	"slices"
	"sync"
)

// ExecutionPlan is every step of some stacks with what would be done for it.
// It comes from [Plan], is read by people as a tree (String) and by programs
// as JSON (MarshalJSON, [ReadPlan]), and is carried out by [Apply].
type ExecutionPlan struct {
	stacks   []Stack
	targets  []string
	steps    []PlannedStep
	findings []Finding
	// inventory tells, per stack, whether the inventory has to be written.
	inventory []inventoryPlan
	// run holds the outputs that the checks set; nil for a plan that was read.
	run *runState
}

// PlannedStep is one step in a plan.
type PlannedStep struct {
	// Stack is the name of the step's stack.
	Stack string `json:"stack"`
	// ID, Title, Cluster, Needs and Objects are the step's.
	ID      string   `json:"id"`
	Title   string   `json:"title,omitempty"`
	Cluster string   `json:"cluster,omitempty"`
	Needs   []string `json:"needs,omitempty"`
	Objects []Object `json:"objects,omitempty"`
	// Pruned marks a step that takes away what no stack wants any more.
	Pruned bool `json:"pruned,omitempty"`
	// Change is what applying the step would do.
	Change Change `json:"change"`

	step boundStep
}

// inventoryPlan is what is known and wanted of one stack's inventory.
type inventoryPlan struct {
	stack   Stack
	loaded  []InventoryEntry
	desired []InventoryEntry
	// stranded is what nobody wants and nobody can take away.
	stranded []InventoryEntry
	write    bool
}

// Plan checks every step of the stacks and returns what installing them
// would do. It reads only: it never writes and takes no lock.
//
// A plan with findings of [SeverityError] or with blocked steps is returned
// without an error; [ExecutionPlan.Err] tells, and [Apply] refuses it. The error is a
// [*ValidationError] if a spec is wrong (nothing was read then), or a
// [*RunError] if something could not be looked at.
func Plan(ctx context.Context, arguments ...Argument) (*ExecutionPlan, error) {
	e, err := newEngine(arguments)
	if err != nil {
		return nil, err
	}
	defer e.close()
	return e.plan(ctx)
}

// plan probes and checks at the same time: neither writes, and one round trip
// of all is what a person waits for.
func (e *engine) plan(ctx context.Context) (*ExecutionPlan, error) {
	var (
		p                  = &ExecutionPlan{stacks: e.stacks, targets: e.config.targets, run: e.run}
		probeErr, checkErr error
		findings           []Finding
		wait               sync.WaitGroup
	)
	wait.Go(func() { findings, probeErr = e.probe(ctx) })
	wait.Go(func() { checkErr = e.planSteps(ctx, p) })
	wait.Wait()
	if err := joinRunErrors(ctx, probeErr, checkErr); err != nil {
		return nil, err
	}
	p.findings = findings
	for _, i := range p.inventory {
		p.findings = append(p.findings, i.orphans()...)
	}
	for _, s := range p.steps {
		p.findings = append(p.findings, s.Change.Findings...)
	}
	e.run.tell(p.findings)
	return p, nil
}

func (e *engine) planSteps(ctx context.Context, p *ExecutionPlan) error {
	pruned, err := e.loadInventories(ctx, p)
	if err != nil {
		return err
	}
	steps := append(e.targeted(e.steps), pruned...)
	changes := make([]Change, len(steps))
	results := e.walk(ctx, steps, func(ctx context.Context, i int) error {
		s := steps[i]
		e.run.emit(Event{Kind: EventChecking, Stack: s.stack, Step: s.ID, Title: s.Title, Cluster: s.Cluster})
		var err error
		changes[i], err = e.check(ctx, s)
		e.run.emit(Event{Kind: EventChecked, Stack: s.stack, Step: s.ID, Title: s.Title, Cluster: s.Cluster, Action: changes[i].Action, Message: changes[i].Reason, Err: err})
		return err
	})
	if err := runError(ctx, steps, results); err != nil {
		return err
	}
	for i, s := range steps {
		if s.pruned && changes[i].Action == ActionNone {
			// What was to be pruned is gone already; only the inventory still knows it.
			continue
		}
		p.steps = append(p.steps, plannedStep(s, changes[i]))
	}
	return nil
}

func plannedStep(s boundStep, change Change) PlannedStep {
	planned := PlannedStep{Stack: s.stack, ID: s.ID, Title: s.Title, Cluster: s.Cluster,
		Needs: s.Needs, Objects: s.Objects, Pruned: s.pruned, Change: change, step: s}
	if s.pruned {
		// It needs every other step; to say so would only drown the rest.
		planned.Needs = nil
	}
	return planned
}

// loadInventories reads what earlier installs have made, and returns the
// steps that take away what is no longer wanted.
func (e *engine) loadInventories(ctx context.Context, p *ExecutionPlan) ([]boundStep, error) {
	var pruned []boundStep
	for _, s := range e.stacks {
		if s.inventory == nil {
			continue
		}
		var loaded []InventoryEntry
		attempts, err := e.retry(ctx, s.name+"/inventory", "", func(int) error {
			var err error
			loaded, err = s.inventory.Load(ctx)
			return err
		})
		if err != nil {
			return nil, &RunError{Failed: []*StepError{{Step: s.name + "/inventory", Op: OpCheck, Attempts: attempts, Err: err}}, Cause: context.Cause(ctx)}
		}
		plan := inventoryPlan{stack: s, loaded: loaded, desired: desiredInventory(s)}
		orphans := orphaned(loaded, plan.desired)
		if len(e.config.targets) > 0 {
			// A part of the stack tells nothing about what the whole no longer wants.
			plan.desired = mergeInventory(loaded, plan.desired)
			orphans = nil
		}
		for _, entry := range orphans {
			if step, ok := s.prune(entry); ok {
				pruned = append(pruned, step)
			} else {
				// Nobody knows how to delete it; it stays known.
				plan.stranded = append(plan.stranded, entry)
				plan.desired = mergeInventory(plan.desired, []InventoryEntry{entry})
			}
		}
		plan.write = !equalInventory(loaded, plan.desired)
		p.inventory = append(p.inventory, plan)
	}
	// What is no longer wanted goes when all that is wanted is there.
	var all []string
	for _, s := range e.steps {
		all = append(all, s.ID)
	}
	for i := range pruned {
		pruned[i].Needs = append(slices.Clip(pruned[i].Needs), all...)
	}
	return pruned, nil
}

// orphans tells of what stays although no stack wants it.
func (i inventoryPlan) orphans() []Finding {
	var findings []Finding
	for _, entry := range i.stranded {
		for _, o := range entry.Objects {
			findings = append(findings, Finding{Severity: SeverityWarning, Code: CodeOrphan, Step: entry.Step, Object: &o,
				Cause: "an earlier install made it, nothing wants it any more, and it cannot be taken away from here",
				Fix:   "give access to where it is, or take it away by hand"})
		}
	}
	return findings
}

// prunedSuffix is added to the id of the step that made what is pruned.
const prunedSuffix = "/pruned"

// prune returns the step that takes away what the entry names.
func (s Stack) prune(entry InventoryEntry) (boundStep, bool) {
	if s.pruner == nil {
		return boundStep{}, false
	}
	step, ok := s.pruner(entry)
	step.ID = entry.Step + prunedSuffix
	if len(step.Objects) == 0 {
		step.Objects = entry.Objects
	}
	return boundStep{Step: step, stack: s.name, pruned: true}, ok
}

// joinRunErrors makes one error of those of the probes and of the steps.
func joinRunErrors(ctx context.Context, errs ...error) error {
	joined := &RunError{Cause: context.Cause(ctx)}
	for _, err := range errs {
		run, ok := errors.AsType[*RunError](err)
		if !ok {
			if err != nil {
				return errors.Join(errs...)
			}
			continue
		}
		joined.Failed = append(joined.Failed, run.Failed...)
		joined.NotTried = append(joined.NotTried, run.NotTried...)
	}
	if joined.Cause == nil && len(joined.Failed) == 0 {
		return nil
	}
	return joined
}

// Steps returns every step of the plan, in the order of the stacks.
func (p *ExecutionPlan) Steps() []PlannedStep { return slices.Clone(p.steps) }

// Step returns the step with the given id.
func (p *ExecutionPlan) Step(id string) (PlannedStep, bool) {
	i := slices.IndexFunc(p.steps, func(s PlannedStep) bool { return s.ID == id })
	if i < 0 {
		return PlannedStep{}, false
	}
	return p.steps[i], true
}

// Changes returns the steps whose action is not [ActionNone].
func (p *ExecutionPlan) Changes() []PlannedStep {
	return slices.DeleteFunc(p.Steps(), func(s PlannedStep) bool { return s.Change.Action == ActionNone })
}

// HasChanges reports whether installing would write anything. A pipeline can
// turn it into an exit code.
func (p *ExecutionPlan) HasChanges() bool {
	return len(p.Changes()) > 0 || slices.ContainsFunc(p.inventory, func(i inventoryPlan) bool { return i.write })
}

// Touches reports whether a step that matches the pattern has a change. The
// pattern is as in [path.Match], where '*' stands for one segment: "flyte/ml/dataplanes/dp-3/*".
func (p *ExecutionPlan) Touches(pattern string) bool {
	return slices.ContainsFunc(p.Changes(), func(s PlannedStep) bool { return matches(pattern, s.ID) })
}

func matches(pattern, id string) bool {
	ok, err := path.Match(pattern, id)
	return err == nil && ok
}

// Findings returns what probes and checks found.
func (p *ExecutionPlan) Findings() []Finding { return slices.Clone(p.findings) }

// Err returns a [*BlockedError] if findings or blocked steps forbid to carry
// the plan out, nil if none does.
func (p *ExecutionPlan) Err() error {
	blocked := &BlockedError{}
	for _, f := range p.findings {
		if f.Severity == SeverityError {
			blocked.Findings = append(blocked.Findings, f)
		}
	}
	for _, s := range p.steps {
		if s.Change.Action == ActionBlocked {
			blocked.Steps = append(blocked.Steps, BlockedStep{ID: s.ID, Reason: s.Change.Reason, Err: s.Change.Err})
		}
	}
	if len(blocked.Findings) == 0 && len(blocked.Steps) == 0 {
		return nil
	}
	return blocked
}

// bound returns the plan's steps as the engine runs them.
func (p *ExecutionPlan) bound() []boundStep {
	steps := make([]boundStep, len(p.steps))
	for i, s := range p.steps {
		steps[i] = s.step
	}
	return steps
}
