package planewright

import (
	"context"
)

// tellKey is the key under which a context carries where its step's progress goes.
type tellKey struct{}

// Tell tells progress from deep below a step, where only its context is at
// hand: an adapter that has to wait because the other side asks it to. It is
// what [Run.Progress] is nearer by, and does nothing for a context that is of
// no step. Never give it a secret.
func Tell(ctx context.Context, format string, args ...any) {
	if run, ok := ctx.Value(tellKey{}).(*Run); ok {
		run.Progress(format, args...)
	}
}

// telling returns a context that carries where the step's progress goes.
func (e *engine) telling(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, tellKey{}, e.view(id))
}
