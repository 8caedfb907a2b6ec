package live

import (
	"context"
	"runtime"

	"github.com/planewright/planewright/kube"
	"golang.org/x/sync/semaphore"
)

// renderGate is the key of what bounds how many releases of one chart are
// rendered at once.
type renderGate struct{}

// gate waits for its turn to render a chart. Rendering is all work and no
// waiting: of a thousand releases that are rendered at once none is ready sooner,
// all of them lie in memory, and what must not be late (the renewal of a lock)
// waits behind them. The function that is returned ends the turn.
func gate(ctx context.Context, chart *kube.Chart) (func(), error) {
	made, err := chart.Once(renderGate{}, func() (any, error) {
		return semaphore.NewWeighted(int64(2 * runtime.GOMAXPROCS(0))), nil
	})
	if err != nil {
		return nil, err
	}
	turns, _ := made.(*semaphore.Weighted)
	if turns.Acquire(ctx, 1) != nil {
		return nil, context.Cause(ctx)
	}
	return func() { turns.Release(1) }, nil
}
