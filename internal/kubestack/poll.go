package kubestack

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// poll calls a condition until it returns nil: every few milliseconds at first, for
// what is about to happen, and never more than a fifth of a second behind. When the
// context ends before, the error says why and what the condition missed.
func poll(ctx context.Context, condition func(context.Context) error) error {
	backoff := wait.Backoff{Duration: 5 * time.Millisecond, Factor: 1.3, Jitter: 0.1, Steps: 16, Cap: 200 * time.Millisecond}
	var missing error
	err := backoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		err := condition(ctx)
		// What a cancelled request says would hide what was missing.
		if ctx.Err() == nil || missing == nil {
			missing = err
		}
		return err == nil, nil
	})
	switch {
	case err == nil:
		return nil
	case missing == nil: // the context had ended before the first call
		return context.Cause(ctx)
	default:
		return fmt.Errorf("%w while waiting: %w", context.Cause(ctx), missing)
	}
}
