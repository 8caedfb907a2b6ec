package eks

import (
	"context"
	"sync"
)

// atOnce is how many questions about one cluster are asked at the same time.
const atOnce = 8

// each calls a function for each item, a few at the same time. After the
// first error, which it returns, it begins no more.
func each[T any](ctx context.Context, items []T, f func(context.Context, T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var first sync.Once
	var failed error
	var workers sync.WaitGroup
	next := make(chan T)
	for range min(atOnce, len(items)) {
		workers.Go(func() {
			for item := range next {
				if err := f(ctx, item); err != nil {
					first.Do(func() { failed = err })
					cancel(err)
				}
			}
		})
	}
	for _, item := range items {
		if ctx.Err() != nil {
			break
		}
		next <- item
	}
	close(next)
	workers.Wait()
	if failed == nil {
		return context.Cause(ctx) // nil, or why the caller's ended
	}
	return failed
}
