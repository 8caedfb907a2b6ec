package planewright

import (
	"context"
	"fmt"
	"time"
)

// Locker keeps two runs from changing the same stack at once. Package kube
// has one that stands on a Lease in a cluster.
type Locker interface {
	// Lock takes the lock, waiting out a holder that has died. A holder that
	// is alive is a [*LockedError]. What it has to say while it waits goes to progress.
	Lock(ctx context.Context, holder string, progress func(string)) (Lock, error)
	// Name names the lock; the locks of several stacks are taken in the order
	// of their names.
	Name() string
}

// Lock is a lock that is held, and renewed in the background until it is released.
type Lock interface {
	// Lost is closed when the lock could not be renewed in time and somebody
	// else may have taken it.
	Lost() <-chan struct{}
	// Release gives the lock back. It is idempotent.
	Release(ctx context.Context) error
}

// LockedError names the holder of a lock. It matches [ErrLocked].
type LockedError struct {
	// Lock is the lock's name, Holder who has it, Since and Renewed when it
	// was taken and last renewed.
	Lock, Holder   string
	Since, Renewed time.Time
}

// Error implements error.
func (e *LockedError) Error() string {
	return fmt.Sprintf("%s is %v by %s since %s; wait for it to finish, or stop it: its lock runs out by itself",
		e.Lock, ErrLocked, e.Holder, e.Since.UTC().Format(time.RFC3339))
}

// Is makes the error match [ErrLocked].
func (e *LockedError) Is(target error) bool { return target == ErrLocked }
