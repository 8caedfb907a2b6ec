package planewright

import (
	"context"
	"time"
)

// Install makes the stacks so. It plans; if nothing would change it writes
// nothing at all, and returns as soon as what an earlier install has left
// unfinished has taken effect. Otherwise it takes the locks, plans
// again under them, and applies that plan; see [Apply] for how. Installing
// again finishes what an install that failed or was killed has left undone.
//
// It repairs drift in what it owns, and takes away what earlier installs made
// and the stacks no longer want.
//
// The report tells what was done. It is nil only if nothing was begun: a spec
// is invalid ([*ValidationError]), findings or blocked steps forbid it
// ([*BlockedError]), or something could not be looked at ([*RunError]).
func Install(ctx context.Context, arguments ...Argument) (*Report, error) {
	started := time.Now()
	e, err := newEngine(arguments)
	if err != nil {
		return nil, err
	}
	defer e.close()
	plan, err := e.plan(ctx)
	if err != nil {
		return nil, err
	}
	if err := plan.Err(); err != nil {
		return nil, err
	}
	a := newApplication(e, plan, started)
	return a.end(a.carryOut(ctx, e.plan))
}
