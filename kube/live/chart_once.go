package live

import (
	"context"
	"sync"
)

// once does a thing once a key, however many ask for it at the same time, and
// remembers what came of it. What failed is tried again by whoever asks next.
type once[K comparable, V any] struct {
	mu    sync.Mutex
	calls map[K]*onceCall[V]
}

type onceCall[V any] struct {
	done  chan struct{}
	value V
	err   error
}

func (o *once[K, V]) do(ctx context.Context, key K, load func(context.Context) (V, error)) (V, error) {
	for {
		call, mine := o.join(key)
		if mine {
			call.value, call.err = load(ctx)
			if call.err != nil {
				o.mu.Lock()
				delete(o.calls, key)
				o.mu.Unlock()
			}
			close(call.done)
			return call.value, call.err
		}
		select {
		case <-call.done:
		case <-ctx.Done():
			var none V
			return none, context.Cause(ctx)
		}
		if call.err == nil {
			return call.value, nil
		}
		// It failed for whoever did it, perhaps only because they gave up.
		if err := ctx.Err(); err != nil {
			var none V
			return none, context.Cause(ctx)
		}
	}
}

// join returns the call for the key, and whether it is the caller's to make.
func (o *once[K, V]) join(key K) (*onceCall[V], bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if call, ok := o.calls[key]; ok {
		return call, false
	}
	if o.calls == nil {
		o.calls = map[K]*onceCall[V]{}
	}
	call := &onceCall[V]{done: make(chan struct{})}
	o.calls[key] = call
	return call, true
}
