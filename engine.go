package planewright

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/planewright/planewright/internal/graph"
)

// engine is what the verbs share: the stacks they were given, flattened to
// one graph, and one run.
type engine struct {
	config config
	stacks []Stack
	steps  []boundStep
	events *emitter
	run    *runState
	// apart allows steps to need steps of stacks that are not given.
	apart bool
}

// apart is for verbs that make nothing: a stack can be looked at, rendered and
// taken away without the stacks that it stands on.
type apart struct{}

func (apart) addTo(e *engine) { e.apart = true }

// Argument is what a verb takes after the context, in any order: the stacks
// to act on, and the options that say how. Only [Stack] and [Option] are arguments.
type Argument interface {
	addTo(*engine)
}

func (s Stack) addTo(e *engine)      { e.stacks = append(e.stacks, s) }
func (f optionFunc) addTo(e *engine) { f(&e.config) }

// boundStep is a step with the name of its stack.
type boundStep struct {
	Step
	stack string
	// pruned is set for a step that a pruner made.
	pruned bool
}

// newEngine validates the stacks and starts the emitter; close ends it.
func newEngine(arguments []Argument) (*engine, error) {
	e := &engine{config: newConfig()}
	for _, a := range arguments {
		a.addTo(e)
	}
	e.config.complete()
	var errs []error
	for _, s := range e.stacks {
		if s.err != nil {
			errs = append(errs, s.err)
		}
		for _, step := range s.steps {
			e.steps = append(e.steps, boundStep{Step: step, stack: s.name})
		}
	}
	errs = append(errs, e.validate())
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	e.events = newEmitter(e.config.handle)
	e.run = newRunState(e.config.log, e.events.emit)
	return e, nil
}

func (e *engine) close() { e.events.close() }

// stepID is the grammar of [Step.ID].
var stepID = regexp.MustCompile(`^[a-z0-9_.-]+(/[a-z0-9_.-]+)*$`)

func (e *engine) validate() error {
	var p Problems
	names := map[string]bool{}
	for i, s := range e.stacks {
		if names[s.name] {
			p.Add(fmt.Sprintf("stacks[%d]", i), s.name, "a stack may be given once", "give each stack a name of its own")
		}
		names[s.name] = true
	}
	nodes := make([]graph.Node, len(e.steps))
	given := make(map[string]bool, len(e.steps))
	for _, s := range e.steps {
		given[s.ID] = true
	}
	for i, s := range e.steps {
		needs := s.Needs
		if e.apart {
			needs = slices.DeleteFunc(slices.Clone(needs), func(id string) bool { return !given[id] })
		}
		nodes[i] = graph.Node{ID: s.ID, Needs: needs}
		if !stepID.MatchString(s.ID) {
			p.Add(fmt.Sprintf("steps[%d].ID", i), s.ID, "an id is segments of a-z, 0-9, '-', '_', '.' joined by '/'", "use an id like flyte/ml/namespace")
		}
		if s.Check == nil {
			p.Add(fmt.Sprintf("steps[%d].Check", i), s.ID, "a step must be able to check", "set Check")
		}
	}
	for _, problem := range graph.Check(nodes) {
		p.Add("steps", "", problem, "mend the ids in Needs")
	}
	unlocked := map[string]bool{}
	for _, s := range e.steps {
		unlocked[s.ID] = s.Unlocked
	}
	for i, s := range e.steps {
		for _, need := range s.Needs {
			if locked, ok := unlocked[need]; s.Unlocked && ok && !locked {
				p.Add(fmt.Sprintf("steps[%d].Needs", i), need, "a step that runs before the lock is taken may not need one that runs under it", "mark that one Unlocked too, or this one not")
			}
		}
	}
	for _, t := range e.config.targets {
		if !slices.ContainsFunc(e.steps, func(s boundStep) bool { return s.ID == t }) {
			p.Add("targets", t, "no step has this id", "use one of the ids in the plan")
		}
	}
	return p.Err("stacks")
}

// view is the run as one step sees it.
func (e *engine) view(id string) *Run { return &Run{runState: e.run, step: id} }

// targeted returns the steps that the targets and their needs leave.
func (e *engine) targeted(steps []boundStep) []boundStep {
	if len(e.config.targets) == 0 {
		return steps
	}
	byID := make(map[string]boundStep, len(steps))
	for _, s := range steps {
		byID[s.ID] = s
	}
	wanted := map[string]bool{}
	next := slices.Clone(e.config.targets)
	for len(next) > 0 {
		id := next[len(next)-1]
		next = next[:len(next)-1]
		if !wanted[id] {
			wanted[id] = true
			next = append(next, byID[id].Needs...)
		}
	}
	return slices.DeleteFunc(slices.Clone(steps), func(s boundStep) bool { return !wanted[s.ID] })
}

// walk runs f for each step in the order of their needs, and returns what
// failed. Needs that are not among the steps count as done.
func (e *engine) walk(ctx context.Context, steps []boundStep, f func(ctx context.Context, i int) error) []graph.Result {
	among := make(map[string]bool, len(steps))
	for _, s := range steps {
		among[s.ID] = true
	}
	nodes := make([]graph.Node, len(steps))
	for i, s := range steps {
		needs := slices.DeleteFunc(slices.Clone(s.Needs), func(id string) bool { return !among[id] })
		nodes[i] = graph.Node{ID: s.ID, Group: s.Cluster, Needs: needs, Run: func(ctx context.Context) error { return f(e.telling(ctx, s.ID), i) }}
	}
	return graph.Run(ctx, nodes, e.config.limits())
}

// backwards returns the steps with their needs turned round, for undoing.
func backwards(steps []boundStep) []boundStep {
	dependents := map[string][]string{}
	for _, s := range steps {
		for _, need := range s.Needs {
			dependents[need] = append(dependents[need], s.ID)
		}
	}
	turned := slices.Clone(steps)
	slices.Reverse(turned)
	for i := range turned {
		turned[i].Needs = dependents[turned[i].ID]
	}
	return turned
}

// retry calls f as often as the configuration allows, and tells of each
// failed attempt in an event.
func (e *engine) retry(ctx context.Context, id, cluster string, f func(attempt int) error) (int, error) {
	onRetry := func(attempt int, wait time.Duration, err error) {
		e.run.emit(Event{Kind: EventRetry, Step: id, Cluster: cluster, Attempt: attempt, Err: err,
			Message: fmt.Sprintf("attempt %d failed, next in %s: %v", attempt, wait.Round(time.Millisecond), err)})
	}
	return e.config.backoff.Retry(ctx, retryable, onRetry, f)
}

// check runs a step's check, again if it fails and may succeed later.
func (e *engine) check(ctx context.Context, s boundStep) (Change, error) {
	var change Change
	attempts, err := e.retry(ctx, s.ID, s.Cluster, func(int) error {
		var err error
		change, err = e.checkOnce(ctx, s)
		return err
	})
	if err != nil {
		return Change{}, &StepError{Step: s.ID, Cluster: s.Cluster, Op: OpCheck, Attempts: attempts, Err: err}
	}
	return change, nil
}

// checkOnce runs a step's check. What is not known yet is a change, not an error.
func (e *engine) checkOnce(ctx context.Context, s boundStep) (Change, error) {
	change, err := s.Check(ctx, e.view(s.ID))
	if unknown, ok := errors.AsType[*UnknownError](err); ok {
		return Change{Action: ActionUnknown, Reason: unknown.Error()}, nil
	}
	if err != nil {
		return Change{}, err
	}
	change.Action = cmp.Or(change.Action, ActionNone)
	for i := range change.Findings {
		change.Findings[i].Step = cmp.Or(change.Findings[i].Step, s.ID)
	}
	return change, nil
}

// probe runs the probes of all stacks at the same time and returns their
// findings in the order of the probes.
func (e *engine) probe(ctx context.Context) ([]Finding, error) {
	type result struct {
		findings []Finding
		err      error
	}
	var probes []Probe
	for _, s := range e.stacks {
		probes = append(probes, s.probes...)
	}
	results := make([]result, len(probes))
	nodes := make([]graph.Node, len(probes))
	for i, p := range probes {
		nodes[i] = graph.Node{ID: fmt.Sprint(i), Group: p.Cluster, Run: func(ctx context.Context) error {
			attempts, err := e.retry(ctx, p.ID, p.Cluster, func(int) error {
				var err error
				results[i].findings, err = p.Run(e.telling(ctx, p.ID), e.view(p.ID))
				return err
			})
			if unknown, ok := errors.AsType[*UnknownError](err); ok {
				results[i].findings, err = []Finding{{Severity: SeverityUnprobed, Code: CodeNotYet, Cause: unknown.Error()}}, nil
			}
			if err != nil {
				results[i].err = &StepError{Step: p.ID, Cluster: p.Cluster, Op: OpProbe, Attempts: attempts, Err: err}
			}
			return nil
		}}
	}
	graph.Run(ctx, nodes, e.config.limits())
	var findings []Finding
	var failed []*StepError
	for i, r := range results {
		if step, ok := errors.AsType[*StepError](r.err); ok {
			failed = append(failed, step)
		}
		for _, f := range r.findings {
			if f.Code == CodeNotYet && slices.ContainsFunc(findings, func(told Finding) bool { return told.Code == f.Code && told.Cause == f.Cause }) {
				// All that would be asked of it waits for the same step.
				continue
			}
			f.Step = cmp.Or(f.Step, probes[i].ID)
			findings = append(findings, f)
		}
	}
	if cause := context.Cause(ctx); cause != nil || len(failed) > 0 {
		return findings, &RunError{Failed: failed, Cause: cause}
	}
	return findings, nil
}

// runError makes the error of a walk.
func runError(ctx context.Context, steps []boundStep, results []graph.Result) error {
	e := &RunError{Cause: context.Cause(ctx)}
	for i, r := range results {
		switch r.State {
		case graph.Failed:
			step, ok := errors.AsType[*StepError](r.Err)
			if !ok {
				step = &StepError{Step: steps[i].ID, Cluster: steps[i].Cluster, Op: OpCheck, Err: r.Err}
			}
			e.Failed = append(e.Failed, step)
		case graph.NotStarted:
			e.NotTried = append(e.NotTried, steps[i].ID)
		case graph.Done:
		}
	}
	if e.Cause == nil && len(e.Failed) == 0 {
		return nil
	}
	return e
}

// holdLocks takes the locks of the stacks in the order of their names and
// returns a context that ends with [ErrLockLost] when one of them is lost,
// and the function that gives them back.
func (e *engine) holdLocks(ctx context.Context) (context.Context, func(), error) {
	lockers := map[string]Locker{}
	for _, s := range e.stacks {
		if s.locker != nil {
			lockers[s.locker.Name()] = s.locker
		}
	}
	names := make([]string, 0, len(lockers))
	for name := range lockers {
		names = append(names, name)
	}
	slices.Sort(names)

	ctx, cancel := context.WithCancelCause(ctx)
	var held []Lock
	var watchers sync.WaitGroup
	release := func() {
		// A run that was cancelled still gives its locks back.
		back, stop := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer stop()
		for _, l := range slices.Backward(held) {
			if err := l.Release(back); err != nil {
				e.run.emit(Event{Kind: EventLock, Err: err, Message: "the lock could not be given back and will run out by itself: " + err.Error()})
			}
		}
		cancel(nil)
		watchers.Wait()
	}
	for _, name := range names {
		progress := func(message string) { e.run.emit(Event{Kind: EventLock, Message: message}) }
		var lock Lock
		_, err := e.retry(ctx, name, "", func(int) error {
			var err error
			lock, err = lockers[name].Lock(ctx, e.config.holder, progress)
			return err
		})
		if err != nil {
			release()
			return nil, nil, fmt.Errorf("taking the lock %s: %w", name, err)
		}
		e.run.emit(Event{Kind: EventLock, Message: "holding " + name})
		held = append(held, lock)
		watchers.Go(func() {
			select {
			case <-lock.Lost():
				e.run.emit(Event{Kind: EventLock, Err: ErrLockLost, Message: "lost " + name})
				cancel(fmt.Errorf("%s: %w", name, ErrLockLost))
			case <-ctx.Done():
			}
		})
	}
	return ctx, release, nil
}
