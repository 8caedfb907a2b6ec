package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// The first look at pods and events comes after firstDiagnosis, later ones
	// at growing distances up to maxDiagnosis.
	firstDiagnosis = 5 * time.Second
	maxDiagnosis   = 30 * time.Second
	// lastDiagnosis bounds the look that is taken when the time has run out.
	lastDiagnosis = 5 * time.Second
	// maxReported is how many objects a progress message speaks of.
	maxReported = 3
)

// Wait implements [kube.Objects].
func (o *objects) Wait(ctx context.Context, request kube.WaitRequest) error {
	judge := ready
	if request.Until != nil {
		judge = func(obj *unstructured.Unstructured) readiness {
			ok, reason := request.Until(obj)
			return readiness{ready: ok, reason: reason}
		}
	}
	w := newWaiter(o.c, judge)
	w.tell = request.Progress
	return w.wait(ctx, o, request.Refs)
}

func newWaiter(c *connection, judge func(*unstructured.Unstructured) readiness) *waiter {
	return &waiter{c: c, judge: judge, states: map[kube.Ref]*waitState{}, updates: make(chan waitUpdate)}
}

// waiter waits for one set of objects. Its watches report to one goroutine,
// which alone touches the states.
type waiter struct {
	c       *connection
	judge   func(*unstructured.Unstructured) readiness
	tell    func(string)
	refs    []kube.Ref // in the order of the request
	states  map[kube.Ref]*waitState
	updates chan waitUpdate
	told    string
	trouble string // what keeps a watch from being made
}

// waitState is what was last seen of one object.
type waitState struct {
	readiness
	seen    *unstructured.Unstructured
	details []string
}

// waitUpdate is news of one object, or of a watch.
type waitUpdate struct {
	ref kube.Ref
	obj *unstructured.Unstructured // nil if it does not exist
	err error                      // ends the wait
	// trouble is why a watch cannot be made at the moment; with an empty ref.
	trouble string
}

func (w *waiter) wait(ctx context.Context, o *objects, refs []kube.Ref) error {
	ctx = w.c.quiet(ctx)
	groups := map[kube.Ref][]string{}
	for _, ref := range refs {
		if _, twice := w.states[ref]; twice {
			continue
		}
		err := o.check(ctx, ref, true)
		if meta.IsNoMatchError(err) && w.judge(nil).ready {
			continue // what is not served does not exist, and that is what is waited for
		}
		if err != nil {
			return w.c.fail(ctx, "wait for", ref.In(w.c.name), err)
		}
		w.refs = append(w.refs, ref)
		w.states[ref] = &waitState{readiness: readiness{reason: "has not been looked at yet"}}
		group := kube.Ref{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace}
		groups[group] = append(groups[group], ref.Name)
	}
	if len(w.refs) == 0 {
		return nil
	}

	watching, stop := context.WithCancel(ctx)
	var watches sync.WaitGroup
	defer watches.Wait()
	defer stop()
	for group, names := range groups {
		watches.Go(func() { w.watch(watching, group, names) })
	}
	return w.follow(watching, ctx)
}

// follow takes the news until all objects are as wanted.
func (w *waiter) follow(watching, ctx context.Context) error {
	pause := firstDiagnosis
	timer := time.NewTimer(pause)
	defer timer.Stop()
	diagnosed := make(chan map[kube.Ref][]string, 1)
	for {
		select {
		case u := <-w.updates:
			if u.err != nil {
				return u.err
			}
			if u.ref == (kube.Ref{}) {
				w.trouble = u.trouble
				w.progress()
				continue
			}
			state := w.states[u.ref]
			state.seen, state.readiness = u.obj, w.judge(u.obj)
			if state.final {
				return w.failed(ctx, u.ref)
			}
			if w.allReady() {
				return nil
			}
			w.progress()
		case <-timer.C:
			pending := w.pending()
			go func() { diagnosed <- w.c.diagnose(watching, pending) }()
		case details := <-diagnosed:
			for ref, lines := range details {
				w.states[ref].details = lines
			}
			w.progress()
			pause = min(2*pause, maxDiagnosis)
			timer.Reset(pause)
		case <-ctx.Done():
			return w.ranOut(ctx)
		}
	}
}

func (w *waiter) allReady() bool {
	for _, s := range w.states {
		if !s.ready {
			return false
		}
	}
	return true
}

// pending are the objects that are not as wanted, as far as they exist.
func (w *waiter) pending() map[kube.Ref]*unstructured.Unstructured {
	pending := map[kube.Ref]*unstructured.Unstructured{}
	for ref, s := range w.states {
		if !s.ready {
			pending[ref] = s.seen
		}
	}
	return pending
}

// progress tells what is waited for, if that has changed.
func (w *waiter) progress() {
	if w.tell == nil {
		return
	}
	var parts []string
	count := 0
	for _, ref := range w.refs {
		s := w.states[ref]
		if s.ready {
			continue
		}
		if count++; count > maxReported {
			continue
		}
		part := ref.String() + " " + s.reason
		if len(s.details) > 0 {
			part += " (" + s.details[0] + ")"
		}
		parts = append(parts, part)
	}
	text := "waiting for " + strings.Join(parts, "; ")
	if count > maxReported {
		text += fmt.Sprintf("; and %d more objects", count-maxReported)
	}
	if w.trouble != "" {
		text += "; " + w.trouble
	}
	if text != w.told {
		w.told = text
		w.tell(text)
	}
}

// ranOut is the error of a wait whose context has ended: what was waited for,
// and why, as far as the cluster can tell.
func (w *waiter) ranOut(ctx context.Context) error {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastDiagnosis)
	defer cancel()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		for ref, lines := range w.c.diagnose(last, w.pending()) {
			w.states[ref].details = lines
		}
	}
	return w.error(w.c.judge(ctx, ctx.Err()), context.Cause(ctx), func(s *waitState) bool { return !s.ready })
}

// failed is the error of a wait for something that will never be ready.
func (w *waiter) failed(ctx context.Context, ref kube.Ref) error {
	last, cancel := context.WithTimeout(ctx, lastDiagnosis)
	defer cancel()
	state := w.states[ref]
	state.details = w.c.diagnose(last, map[kube.Ref]*unstructured.Unstructured{ref: state.seen})[ref]
	return w.error(verdict{sentinel: planewright.ErrUnavailable, hint: "it will not become ready by itself"},
		errors.New("it has failed"), func(s *waitState) bool { return s == state })
}

func (w *waiter) error(v verdict, cause error, about func(*waitState) bool) error {
	var lines []string
	count := 0
	for _, ref := range w.refs {
		s := w.states[ref]
		if !about(s) {
			continue
		}
		count++
		lines = append(lines, ref.String()+" "+s.reason)
		for _, d := range s.details {
			lines = append(lines, "  "+d)
		}
	}
	if w.trouble != "" {
		lines = append(lines, w.trouble)
	}
	object := fmt.Sprintf("%d of %d objects in cluster %s", count, len(w.refs), w.c.name)
	if len(w.refs) == 1 {
		object = w.refs[0].In(w.c.name).String()
	}
	return &callError{op: "wait for", object: object, verdict: v, err: &waitError{cause: cause, lines: slices.Clip(lines)}}
}

// waitError lists what was waited for in vain.
type waitError struct {
	cause error
	lines []string
}

func (e *waitError) Error() string { return e.cause.Error() + "\n  " + strings.Join(e.lines, "\n  ") }

func (e *waitError) Unwrap() error { return e.cause }
