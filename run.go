package planewright

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
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
	next    []string
	// told holds the findings that an event was sent for.
	told map[string]bool
}

// NewRun makes a run of its own, with no events and no log, for testing the
// functions of a step one by one.
func NewRun() *Run {
	return &Run{runState: newRunState(slog.New(slog.DiscardHandler), func(Event) {})}
}

func newRunState(log *slog.Logger, emit func(Event)) *runState {
	return &runState{log: log, emit: emit, outputs: map[string]any{}, secrets: map[SecretSource][]byte{}, told: map[string]bool{}}
}

// Progress tells what the step is doing or waiting for. Never give it a secret.
func (r *Run) Progress(format string, args ...any) {
	r.emit(Event{Kind: EventProgress, Step: r.step, Message: fmt.Sprintf(format, args...)})
}

// Logger is where details go that are no events. It discards unless the caller set [WithLogger].
func (r *Run) Logger() *slog.Logger { return r.log }

// Resolve returns the secret's bytes, asking its source once a run.
func (r *Run) Resolve(ctx context.Context, s Secret) ([]byte, error) {
	if s.source == nil || !reflect.TypeOf(s.source).Comparable() {
		return s.Resolve(ctx)
	}
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

// Advise tells the reader of the report what to do next. Never give it a secret.
func (r *Run) Advise(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.next, line) {
		r.next = append(r.next, line)
	}
}

func (r *Run) setOutput(key string, value any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outputs[key] = value
}

func (s *runState) output(key string) (any, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.outputs[key]
	return v, ok
}

// tell sends an event for each finding that had none yet: an install plans twice.
func (s *runState) tell(findings []Finding) {
	for _, f := range findings {
		key := f.Step + " " + f.String()
		s.mu.Lock()
		told := s.told[key]
		s.told[key] = true
		s.mu.Unlock()
		if !told {
			s.emit(Event{Kind: EventFinding, Step: f.Step, Finding: &f, Message: f.String()})
		}
	}
}

// takeOutputs takes over the outputs of an earlier run.
func (s *runState) takeOutputs(from *runState) {
	from.mu.Lock()
	outputs := maps.Clone(from.outputs)
	from.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(s.outputs, outputs)
}

// Kept is something that an uninstall left in place.
type Kept struct {
	Object Object `json:"object"`
	Reason string `json:"reason"`
}
