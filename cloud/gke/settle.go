package gke

import (
	"context"
	"fmt"
	"time"

	"github.com/planewright/planewright"
)

// IAM is seen to have changed only after some seconds, a minute at most.
// https://cloud.google.com/iam/docs/access-change-propagation
const (
	settleFirst  = 500 * time.Millisecond
	settleMost   = 5 * time.Second
	settleWithin = time.Minute
)

// settled waits until a question is answered by yes.
func (p *project) settled(ctx context.Context, run *planewright.Run, what string, ask func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, settleWithin, fmt.Errorf("%s is not seen after %s: %w", what, settleWithin, planewright.ErrTimeout))
	defer cancel()
	for pause := settleFirst; ; pause = min(2*pause, settleMost) {
		ok, err := ask(ctx)
		if err != nil || ok {
			return err
		}
		run.Progress("waiting until %s is seen", what)
		if err := p.wait(ctx, pause); err != nil {
			return err
		}
	}
}

// again is an error after which another look tells what to do: somebody was faster.
type again struct{ error }

// Unwrap returns the error.
func (e again) Unwrap() error { return e.error }

// Retryable implements [planewright.Retryable].
func (again) Retryable() bool { return true }
