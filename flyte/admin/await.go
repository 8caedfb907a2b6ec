package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/planewright/planewright"
)

// The pauses between two looks at an execution grow from the first to the second.
const (
	firstLook = 500 * time.Millisecond
	slowLook  = 10 * time.Second
)

// AwaitError says that an execution was not seen to end.
type AwaitError struct {
	// Execution is what was seen last; only its id is set if nothing was.
	Execution Execution
	// Err is why the wait ended.
	Err error
}

// Error implements error: where the execution stood, and why the wait ended.
func (e *AwaitError) Error() string {
	return fmt.Sprintf("flyteadmin: waiting for execution %s to end: it is %s: %v", e.Execution.ID, e.Execution.standing(), e.Err)
}

// Is matches planewright.ErrTimeout if the wait ran out.
func (e *AwaitError) Is(target error) bool {
	return target == planewright.ErrTimeout && errors.Is(e.Err, context.DeadlineExceeded)
}

// Unwrap returns why the wait ended.
func (e *AwaitError) Unwrap() error { return e.Err }

// AwaitExecution waits until an execution has ended, however it did: look at
// its Phase. The context bounds the wait; it looks again after pauses that
// grow from half a second to ten.
//
// progress, if it is not nil, is told where the execution stands whenever that
// changes, and of answers that fail and may come later. The error is an
// [*AwaitError]; it matches planewright.ErrTimeout if the context's deadline
// passed.
func (c *Client) AwaitExecution(ctx context.Context, id ExecutionID, progress func(string)) (Execution, error) {
	last, told := Execution{ID: id}, ""
	tell := func(text string) {
		if progress != nil && text != told {
			progress(text)
			told = text
		}
	}
	for look := firstLook; ; look = min(look*3/2, slowLook) {
		execution, err := c.Execution(ctx, id)
		var failure *Error
		switch {
		case err == nil:
			last = execution
			tell(fmt.Sprintf("execution %s is %s", id, last.standing()))
			if last.Phase.Terminal() {
				return last, nil
			}
		case ctx.Err() != nil:
			return last, &AwaitError{Execution: last, Err: err}
		case errors.As(err, &failure) && failure.Transient:
			tell(err.Error())
		default:
			return last, &AwaitError{Execution: last, Err: err}
		}
		if !pause(ctx, look) {
			return last, &AwaitError{Execution: last, Err: ctx.Err()}
		}
	}
}

// standing says in short where an execution stands: "RUNNING on dp-1".
func (e Execution) standing() string {
	switch {
	case e.Phase == "":
		return "not seen yet"
	case e.Cluster == "":
		return string(e.Phase)
	}
	return string(e.Phase) + " on " + e.Cluster
}
