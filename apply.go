package planewright

import (
	"context"
	"slices"
	"time"

	"github.com/planewright/planewright/internal/graph"
)

// Apply carries out a plan as it stands. It takes the locks of the plan's
// stacks if there is anything to do. Right before a step writes, it looks
// again: if the world, or the spec, is no longer what the plan shows, the step
// fails with a [*StaleError] and nothing is guessed. A step that was unknown
// in the plan is applied as what it turns out to be.
//
// A step's failure stops only the steps that need it. When the context ends
// nothing more is started, what is being written is waited for, and the
// report says of each step whether it is done, not tried or unknown.
//
// The report is never nil unless the plan is refused ([*BlockedError]); the
// error is a [*RunError]. Stacks among the arguments are an error: the plan has its own.
func Apply(ctx context.Context, plan *ExecutionPlan, options ...Option) (*Report, error) {
	if err := plan.Err(); err != nil {
		return nil, err
	}
	arguments := make([]Argument, 0, len(plan.stacks)+len(options)+1)
	for _, s := range plan.stacks {
		arguments = append(arguments, s)
	}
	for _, o := range options {
		arguments = append(arguments, o)
	}
	started := time.Now()
	e, err := newEngine(append(arguments, withTargetsOf(plan)))
	if err != nil {
		return nil, err
	}
	defer e.close()
	if plan.run != nil {
		e.run.takeOutputs(plan.run)
	} else if _, err := e.loadInventories(ctx, plan); err != nil {
		// A plan that was read holds no inventories; the world does.
		return nil, err
	}
	a := newApplication(e, plan, started)
	return a.end(a.carryOut(ctx, nil))
}

func withTargetsOf(plan *ExecutionPlan) Option {
	return optionFunc(func(c *config) { c.targets = plan.targets })
}

// application carries out one plan.
type application struct {
	*engine
	plan   *ExecutionPlan
	report *Report
	// reports has one entry a step; while steps run, each touches only its own.
	reports map[string]*StepReport
}

func newApplication(e *engine, plan *ExecutionPlan, started time.Time) *application {
	a := &application{engine: e, report: &Report{Verb: "install", Started: started}, reports: map[string]*StepReport{}}
	a.setPlan(plan)
	return a
}

// setPlan makes plan the one to carry out. What was already done keeps its report.
func (a *application) setPlan(plan *ExecutionPlan) {
	a.plan = plan
	a.report.Findings = plan.Findings()
	for _, s := range plan.steps {
		if r := a.reports[s.ID]; r == nil || r.Started.IsZero() {
			a.reports[s.ID] = &StepReport{ID: s.ID, Title: s.Title, Cluster: s.Cluster, Action: s.Change.Action, Outcome: OutcomeNotTried, Reason: "the run ended before it"}
		}
	}
}

// carryOut applies what is to change. What is only to be awaited needs no lock.
func (a *application) carryOut(ctx context.Context, replan func(context.Context) (*ExecutionPlan, error)) error {
	if a.plan.HasChanges() {
		return a.underLock(ctx, replan)
	}
	steps := slices.DeleteFunc(a.plan.bound(), func(s boundStep) bool {
		planned, _ := a.plan.Step(s.ID)
		return planned.Change.Pending == ""
	})
	return runError(ctx, steps, a.applySteps(ctx, steps))
}

// underLock applies what the lock stands on, takes the lock, and applies the
// rest. With replan it makes a new plan under the lock.
func (a *application) underLock(ctx context.Context, replan func(context.Context) (*ExecutionPlan, error)) error {
	steps := a.plan.bound()
	unlocked := slices.DeleteFunc(slices.Clone(steps), func(s boundStep) bool { return !s.Unlocked })
	if err := runError(ctx, unlocked, a.applySteps(ctx, unlocked)); err != nil {
		return err
	}
	ctx, release, err := a.holdLocks(ctx)
	if err != nil {
		return err
	}
	defer release()
	if replan != nil {
		plan, err := replan(ctx)
		if err != nil {
			return err
		}
		if err := plan.Err(); err != nil {
			return err
		}
		a.setPlan(plan)
		steps = plan.bound()
	}
	if err := a.saveInventories(ctx, func(i inventoryPlan) []InventoryEntry { return mergeInventory(i.loaded, i.desired) }); err != nil {
		return err
	}
	rest := slices.DeleteFunc(slices.Clone(steps), func(s boundStep) bool { return s.Unlocked })
	if err := runError(ctx, rest, a.applySteps(ctx, rest)); err != nil {
		return err
	}
	// Only now is what was pruned forgotten.
	return a.saveInventories(ctx, func(i inventoryPlan) []InventoryEntry { return i.desired })
}

// saveInventories writes the inventories that have to change.
func (a *application) saveInventories(ctx context.Context, entries func(inventoryPlan) []InventoryEntry) error {
	for n, i := range a.plan.inventory {
		wanted := entries(i)
		if !i.write || equalInventory(i.loaded, wanted) {
			continue
		}
		id := i.stack.name + "/inventory"
		attempts, err := a.retry(ctx, id, "", func(int) error { return i.stack.inventory.Save(ctx, wanted) })
		if err != nil {
			return &RunError{Failed: []*StepError{{Step: id, Op: OpApply, Attempts: attempts, Err: err}}, Cause: context.Cause(ctx)}
		}
		a.plan.inventory[n].loaded = wanted
	}
	return nil
}

func (a *application) applySteps(ctx context.Context, steps []boundStep) []graph.Result {
	results := a.walk(ctx, steps, func(ctx context.Context, i int) error { return a.applyStep(ctx, steps[i]) })
	for i, r := range results {
		if report := a.reports[steps[i].ID]; r.State == graph.NotStarted {
			report.Reason = "the run was stopped"
			if r.Blocker != "" && ctx.Err() == nil {
				report.Reason = "needs " + r.Blocker + ", which failed"
			}
			a.run.emit(Event{Kind: EventFinished, Stack: steps[i].stack, Step: steps[i].ID, Title: steps[i].Title, Cluster: steps[i].Cluster,
				Outcome: OutcomeNotTried, Message: report.Reason})
		}
	}
	return results
}

// end completes the report.
func (a *application) end(err error) (*Report, error) {
	r := a.report
	for _, s := range a.plan.steps {
		step := a.reports[s.ID]
		if s.Change.Action == ActionNone && step.Started.IsZero() && err == nil {
			step.Outcome, step.Reason = OutcomeUnchanged, ""
		}
		r.Steps = append(r.Steps, *step)
	}
	r.finish(a.run)
	return r, err
}
