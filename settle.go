package planewright

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"
)

// applyStep brings one step from what the plan saw to what it wants.
func (a *application) applyStep(ctx context.Context, s boundStep) error {
	planned, _ := a.plan.Step(s.ID)
	report := a.reports[s.ID]
	report.Started, report.Reason = time.Now(), ""
	outcome, err := a.settle(ctx, s, planned.Change, report)
	report.Ended, report.Outcome, report.Err = time.Now(), outcome, err
	a.run.emit(Event{Kind: EventFinished, Stack: s.stack, Step: s.ID, Title: s.Title, Cluster: s.Cluster, Action: report.Action,
		Outcome: outcome, Attempt: report.Attempts, Err: err})
	return err
}

func (a *application) settle(ctx context.Context, s boundStep, planned Change, report *StepReport) (Outcome, error) {
	if planned.Action == ActionNone && a.plan.run != nil {
		// The check that found so also set the step's outputs.
		return a.unchanged(ctx, s, planned, report)
	}
	found, err := a.check(ctx, s)
	if err != nil {
		return OutcomeFailed, err
	}
	report.Action = found.Action
	switch {
	case found.Action == ActionNone:
		return a.unchanged(ctx, s, found, report)
	case found.Action == ActionBlocked:
		return OutcomeFailed, &StepError{Step: s.ID, Cluster: s.Cluster, Op: OpCheck, Attempts: 1, Err: &BlockedError{Steps: []BlockedStep{{ID: s.ID, Reason: found.Reason, Err: found.Err}}}}
	case found.Action == ActionUnknown:
		return OutcomeFailed, &StepError{Step: s.ID, Cluster: s.Cluster, Op: OpCheck, Attempts: 1, Err: fmt.Errorf("%s: %w", found.Reason, ErrUnknown)}
	case planned.Action != ActionUnknown && !sameChange(planned, found):
		return OutcomeFailed, &StepError{Step: s.ID, Cluster: s.Cluster, Op: OpCheck, Attempts: 1, Err: &StaleError{Step: s.ID, Planned: planned, Found: found}}
	}
	a.run.emit(Event{Kind: EventStarted, Stack: s.stack, Step: s.ID, Title: s.Title, Cluster: s.Cluster, Action: found.Action, Message: found.Reason})
	return a.write(ctx, s, found, report)
}

// unchanged awaits what an earlier install wrote, if that has not taken effect.
func (a *application) unchanged(ctx context.Context, s boundStep, found Change, report *StepReport) (Outcome, error) {
	if found.Pending == "" || s.Await == nil {
		return OutcomeUnchanged, nil
	}
	a.run.emit(Event{Kind: EventStarted, Stack: s.stack, Step: s.ID, Title: s.Title, Cluster: s.Cluster, Action: ActionNone, Message: found.Pending})
	limited, cancel := a.limit(ctx, s)
	defer cancel()
	attempts, err := a.retry(limited, s.ID, s.Cluster, func(int) error { return s.Await(limited, a.view(s.ID)) })
	report.Attempts = attempts
	switch {
	case err == nil:
		report.Reason = "waited for"
		return OutcomeUnchanged, nil
	case ctx.Err() != nil:
		report.Reason = "not waited for"
	}
	return OutcomeFailed, &StepError{Step: s.ID, Cluster: s.Cluster, Op: OpAwait, Attempts: attempts, Err: withCause(limited, err)}
}

// limit bounds a step by its own time, or the run's.
func (a *application) limit(ctx context.Context, s boundStep) (context.Context, context.CancelFunc) {
	timeout := s.Timeout
	if timeout <= 0 {
		timeout = a.config.stepTimeout
	}
	return context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%w after %s", ErrTimeout, timeout))
}

// sameChange reports whether what would be done now is what the plan shows.
func sameChange(planned, found Change) bool {
	return planned.Action == found.Action && planned.Fingerprint == found.Fingerprint &&
		(len(planned.Diff) == 0 && len(found.Diff) == 0 || reflect.DeepEqual(planned.Diff, found.Diff))
}

// write applies and awaits a step, again if it fails and may succeed later.
func (a *application) write(ctx context.Context, s boundStep, before Change, report *StepReport) (Outcome, error) {
	limited, cancel := a.limit(ctx, s)
	defer cancel()
	op := OpApply
	attempts, err := a.retry(limited, s.ID, s.Cluster, func(attempt int) error {
		if attempt > 1 {
			// The attempt before may have got through; what it changed is not a stale plan.
			if again, err := a.checkOnce(limited, s); err != nil {
				return err
			} else if again.Action == ActionBlocked {
				return &BlockedError{Steps: []BlockedStep{{ID: s.ID, Reason: again.Reason, Err: again.Err}}}
			} else if again.Action == ActionNone {
				return a.await(limited, s, &op)
			}
		}
		op = OpApply
		if s.Apply != nil {
			if err := s.Apply(limited, a.view(s.ID)); err != nil {
				return err
			}
		}
		return a.await(limited, s, &op)
	})
	report.Attempts = attempts
	if err == nil {
		return OutcomeDone, nil
	}
	failed := &StepError{Step: s.ID, Cluster: s.Cluster, Op: op, Attempts: attempts, Err: withCause(limited, err)}
	if ctx.Err() != nil {
		return a.lookAgain(ctx, s, before, failed, report)
	}
	return OutcomeFailed, failed
}

func (a *application) await(ctx context.Context, s boundStep, op *string) error {
	if s.Await == nil {
		return nil
	}
	*op = OpAwait
	return s.Await(ctx, a.view(s.ID))
}

// withCause adds why a context ended to an error that only says that it did.
func withCause(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if cause == nil || errors.Is(err, cause) || !errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%w: %w", cause, err)
}

// lookAgain finds out what became of a step that was cut off: done, not
// begun, or not to be told.
func (a *application) lookAgain(ctx context.Context, s boundStep, before Change, failed *StepError, report *StepReport) (Outcome, error) {
	again, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	now, err := a.checkOnce(again, s)
	switch {
	case err != nil:
		return OutcomeUnknown, failed
	case now.Action == ActionNone:
		if failed.Op == OpAwait {
			report.Reason = "written, not waited for"
		}
		return OutcomeDone, nil
	case sameChange(before, now):
		report.Reason = "stopped before it wrote anything"
		return OutcomeNotTried, failed
	}
	return OutcomeUnknown, failed
}
