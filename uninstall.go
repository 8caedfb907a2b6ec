package planewright

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/planewright/planewright/internal/graph"
)

// Uninstall takes away what installs of the stacks have made, in reverse
// order: what the stacks name, and what only the inventory still knows. Data,
// CustomResourceDefinitions and what the installs did not create stay; the
// report lists them. Uninstalling again finishes what was left undone.
//
// The error is a [*ValidationError] or a [*RunError], as with [Install].
func Uninstall(ctx context.Context, arguments ...Argument) (*Report, error) {
	e, err := newEngine(append(slices.Clip(arguments), apart{}))
	if err != nil {
		return nil, err
	}
	defer e.close()
	u := &removal{engine: e, report: &Report{Verb: "uninstall", Started: time.Now()}, inventory: &ExecutionPlan{}, unasked: map[string]bool{}}
	pruned, err := e.loadInventories(ctx, u.inventory)
	if err != nil {
		return nil, err
	}
	u.steps = append(e.targeted(e.steps), pruned...)
	u.reports = make([]StepReport, len(u.steps))
	for i, s := range u.steps {
		u.reports[i] = StepReport{ID: s.ID, Title: s.Title, Cluster: s.Cluster, Action: ActionDelete, Outcome: OutcomeNotTried, Reason: "the run ended before it"}
	}
	if err = u.mayUndo(ctx); err == nil {
		err = u.carryOut(ctx)
	}
	u.report.Steps = u.reports
	u.report.finish(e.run)
	return u.report, err
}

// removal undoes steps.
type removal struct {
	*engine
	report  *Report
	steps   []boundStep
	reports []StepReport
	// unasked are the steps that could not be asked whether they may be undone.
	unasked map[string]bool
	// inventory holds what was loaded; nothing else of the plan is used.
	inventory *ExecutionPlan
}

func (u *removal) carryOut(ctx context.Context) error {
	locked, release, err := u.holdLocks(ctx)
	if errors.Is(err, ErrNotFound) {
		// Where the place that holds the lock does not exist, nobody can be at work.
		locked, release, err = ctx, func() {}, nil
	}
	if err != nil {
		return err
	}
	err = u.undo(locked, func(s boundStep) bool { return !s.Unlocked })
	if err == nil {
		err = u.forget(locked)
	}
	release()
	if err != nil {
		return err
	}
	// What the lock stood on goes last.
	return u.undo(ctx, func(s boundStep) bool { return s.Unlocked })
}

func (u *removal) undo(ctx context.Context, wanted func(boundStep) bool) error {
	steps := backwards(slices.DeleteFunc(slices.Clone(u.steps), func(s boundStep) bool { return !wanted(s) }))
	results := u.walk(ctx, steps, func(ctx context.Context, i int) error { return u.undoStep(ctx, steps[i]) })
	for i, r := range results {
		if r.State == graph.NotStarted && r.Blocker != "" {
			u.reportOf(steps[i].ID).Reason = r.Blocker + " needs it and could not be taken away"
		}
	}
	return runError(ctx, steps, results)
}

func (u *removal) reportOf(id string) *StepReport {
	return &u.reports[slices.IndexFunc(u.steps, func(s boundStep) bool { return s.ID == id })]
}

func (u *removal) undoStep(ctx context.Context, s boundStep) error {
	report := u.reportOf(s.ID)
	report.Started, report.Reason = time.Now(), ""
	u.run.emit(Event{Kind: EventStarted, Stack: s.stack, Step: s.ID, Title: s.Title, Cluster: s.Cluster, Action: ActionDelete})
	timeout := s.Timeout
	if timeout <= 0 {
		timeout = u.config.stepTimeout
	}
	limited, cancel := context.WithTimeoutCause(ctx, timeout, ErrTimeout)
	defer cancel()
	var err error
	report.Attempts, err = u.retry(limited, s.ID, s.Cluster, func(int) error {
		return u.takeAway(limited, s)
	})
	report.Ended, report.Outcome = time.Now(), OutcomeDone
	if err != nil {
		report.Outcome = OutcomeFailed
		if ctx.Err() != nil {
			report.Outcome = OutcomeUnknown
		}
		err = &StepError{Step: s.ID, Cluster: s.Cluster, Op: OpUndo, Attempts: report.Attempts, Err: withCause(limited, err)}
		report.Err = err
	}
	u.run.emit(Event{Kind: EventFinished, Stack: s.stack, Step: s.ID, Title: s.Title, Cluster: s.Cluster, Action: ActionDelete, Outcome: report.Outcome, Err: err})
	return err
}

// takeAway undoes a step. For a step that a pruner made, taking away is what applying it does.
func (u *removal) takeAway(ctx context.Context, s boundStep) error {
	if u.unasked[s.ID] {
		o, err := u.objections(ctx, s)
		if err != nil {
			return err
		}
		if err := o.err(); err != nil {
			return err
		}
	}
	if !s.pruned {
		if s.Undo == nil {
			return nil
		}
		err := s.Undo(ctx, u.view(s.ID))
		if errors.Is(err, ErrUnknown) {
			// What a step makes that is not there holds nothing to take away.
			return nil
		}
		return err
	}
	change, err := u.checkOnce(ctx, s)
	if err != nil || change.Action != ActionDelete {
		return err
	}
	if err := s.Apply(ctx, u.view(s.ID)); err != nil || s.Await == nil {
		return err
	}
	return s.Await(ctx, u.view(s.ID))
}

// forget deletes the inventories, or, where only some steps were undone, their entries.
func (u *removal) forget(ctx context.Context) error {
	for _, i := range u.inventory.inventory {
		var left []InventoryEntry
		if len(u.config.targets) > 0 {
			left = slices.DeleteFunc(slices.Clone(i.loaded), func(entry InventoryEntry) bool {
				return slices.ContainsFunc(u.steps, func(s boundStep) bool { return s.ID == entry.Step })
			})
		}
		left = mergeInventory(left, i.stranded)
		for _, entry := range i.stranded {
			for _, o := range entry.Objects {
				u.view(entry.Step).Keep(o, "it cannot be taken away from here")
			}
		}
		if equalInventory(i.loaded, left) {
			continue
		}
		id := i.stack.name + "/inventory"
		attempts, err := u.retry(ctx, id, "", func(int) error { return i.stack.inventory.Save(ctx, left) })
		if err != nil {
			return &RunError{Failed: []*StepError{{Step: id, Op: OpUndo, Attempts: attempts, Err: err}}, Cause: context.Cause(ctx)}
		}
	}
	return nil
}
