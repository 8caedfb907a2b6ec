package planewright

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
)

// Run is one execution of a verb, as a step sees it: it carries outputs from
// step to step, resolves secrets once, and takes progress. Tests of a step
// make one with [NewRun].
type Run struct {
	*runState
	step string
}

// runState is shared by all steps of a run.
type runState struct {
	log  *slog.Logger
	emit func(Event)

	mu      sync.Mutex
	outputs map[string]any
	secrets map[SecretSource][]byte
	kept    []Kept
}

// NewRun makes a run of its own, with no events and no log, for testing the
// functions of a step one by one.
func NewRun() *Run {
	return &Run{runState: newRunState(slog.New(slog.DiscardHandler), func(Event) {})}
}

func newRunState(log *slog.Logger, emit func(Event)) *runState {
	return &runState{log: log, emit: emit, outputs: map[string]any{}, secrets: map[SecretSource][]byte{}}
}

// Progress tells what the step is doing or waiting for. Never give it a secret.
func (r *Run) Progress(format string, args ...any) {
	r.emit(Event{Kind: EventProgress, Step: r.step, Message: fmt.Sprintf(format, args...)})
}

// Logger is where details go that are no events. It discards unless the caller set [WithLogger].
func (r *Run) Logger() *slog.Logger { return r.log }

// Resolve returns the secret's bytes, asking its source once a run.
func (r *Run) Resolve(ctx context.Context, s Secret) ([]byte, error) {
	r.mu.Lock()
	v, ok := r.secrets[s.source]
	r.mu.Unlock()
	if ok {
		return v, nil
	}
	v, err := s.Resolve(ctx)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.secrets[s.source] = v
	r.mu.Unlock()
	return v, nil
}

// Keep notes that an uninstall leaves the object in place, and why. The report lists it.
func (r *Run) Keep(object Object, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = append(r.kept, Kept{Object: object, Reason: reason})
}

func (r *Run) setOutput(key string, value any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outputs[key] = value
}

func (r *Run) output(key string) (any, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.outputs[key]
	return v, ok
}

// Kept is something that an uninstall left in place.
type Kept struct {
	Object Object `json:"object"`
	Reason string `json:"reason"`
}
