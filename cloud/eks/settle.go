package eks

import (
	"context"
	"fmt"
	"time"

	"github.com/planewright/planewright"
)

// IAM answers from replicas: what was written is seen by all of them only after
// some seconds.
const (
	settleFirst = 250 * time.Millisecond
	settleMost  = 5 * time.Second
	// settleWithin bounds how long replicas may lag.
	settleWithin = time.Minute
)

// settled waits until a question was answered by yes twice in a row: one
// replica may know already what another does not.
func (a *account) settled(ctx context.Context, run *planewright.Run, what string, ask func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, settleWithin, fmt.Errorf("%s is not seen by all of IAM after %s: %w", what, settleWithin, planewright.ErrTimeout))
	defer cancel()
	pause, yes, told := settleFirst, 0, false
	for {
		ok, err := ask(ctx)
		if err != nil && !is(err, planewright.ErrNotFound) {
			return err
		}
		if ok && err == nil {
			if yes++; yes == 2 {
				return nil
			}
		} else {
			yes = 0
			if !told {
				run.Progress("waiting until %s is seen by all of IAM", what)
				told = true
			}
			if err := a.wait(ctx, pause); err != nil {
				return err
			}
			pause = min(2*pause, settleMost)
		}
	}
}

// again is an error after which another look tells what to do: somebody was
// faster.
type again struct{ error }

// Unwrap returns the error.
func (e again) Unwrap() error { return e.error }

// Retryable implements [planewright.Retryable].
func (again) Retryable() bool { return true }

// unchanged reports whether a check found nothing to do.
func unchanged(change planewright.Change) bool {
	return change.Action == "" || change.Action == planewright.ActionNone
}
