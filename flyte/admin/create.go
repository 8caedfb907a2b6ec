package admin

import (
	"context"
	"errors"

	"github.com/planewright/planewright"
)

// create makes a call that must not be made twice for nothing. After one that
// may have had its effect it looks, and tries again only if it had none. What
// is found exists for look, and it says whether it is what was to be created.
func (c *Client) create(ctx context.Context, post call, look func(context.Context) (ours bool, err error)) error {
	lost := false
	for attempt := 0; ; attempt++ {
		err := c.do(ctx, post, nil)
		var failure *Error
		if !errors.As(err, &failure) {
			return err
		}
		exists := errors.Is(err, planewright.ErrAlreadyExists)
		if exists && !lost || !exists && !failure.Uncertain || ctx.Err() != nil {
			return err
		}
		lost = true
		ours, lookErr := look(ctx)
		switch {
		case ours:
			return nil
		case lookErr == nil: // somebody else's
			if exists {
				return err
			}
			return &Error{Op: post.op, Path: post.path, Kind: planewright.ErrAlreadyExists, Message: "it exists and is not what was to be created", Err: err}
		case !errors.Is(lookErr, planewright.ErrNotFound), exists, attempt >= c.retries:
			return err
		}
		if !pause(ctx, pauseAfter(attempt, failure.retryAfter)) {
			return failure.endedBy(ctx)
		}
	}
}
