package adminfake

import (
	"context"
	"math"
	"slices"
	"time"
)

// Rule is a fault that waits for the calls it is meant for.
type Rule struct {
	fake       *Fake
	match      Match
	fault      Fault
	skip, left int
	latency    time.Duration
	afterwards bool
	act        func(Call)
	hits       int // guarded by the fake's lock
}

// FaultOption says when and how a [Rule] strikes.
type FaultOption func(*Rule)

// Times has the rule strike n times, then no more. Without it, it always strikes.
func Times(n int) FaultOption { return func(r *Rule) { r.left = n } }

// After lets the first n calls that match pass.
func After(n int) FaultOption { return func(r *Rule) { r.skip = n } }

// Latency keeps the call waiting before anything else happens.
func Latency(d time.Duration) FaultOption { return func(r *Rule) { r.latency = d } }

// AfterEffect has flyteadmin do what the call asks for; only the answer is
// lost to the fault. Without it the call has no effect.
func AfterEffect() FaultOption { return func(r *Rule) { r.afterwards = true } }

// Do calls the function when the rule strikes, before the call has any effect:
// somebody else who comes in between. It may use the fake.
func Do(f func(Call)) FaultOption { return func(r *Rule) { r.act = f } }

// Fail makes calls meet a fault. Of several rules that match a call, the first
// one given strikes.
func (f *Fake) Fail(match Match, fault Fault, options ...FaultOption) *Rule {
	r := &Rule{fake: f, match: match, fault: fault, left: math.MaxInt}
	for _, option := range options {
		option(r)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, r)
	return r
}

// Hits returns how often the rule has struck.
func (r *Rule) Hits() int {
	r.fake.mu.Lock()
	defer r.fake.mu.Unlock()
	return r.hits
}

// Remove takes the rule back.
func (r *Rule) Remove() {
	r.fake.mu.Lock()
	defer r.fake.mu.Unlock()
	r.fake.rules = slices.DeleteFunc(r.fake.rules, func(o *Rule) bool { return o == r })
}

// Heal takes back all rules.
func (f *Fake) Heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = nil
}

// strike finds the rule that a call meets, if any, and counts.
func (f *Fake) strike(call Call) *Rule {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.rules {
		if !r.match.matches(call) {
			continue
		}
		if r.skip > 0 {
			r.skip--
			continue
		}
		if r.left > 0 {
			r.left--
			r.hits++
			return r
		}
	}
	return nil
}

// provoke has the rule that a call meets do what comes before its fault, after
// the fake's own latency.
func (f *Fake) provoke(ctx context.Context, call Call) (*Rule, error) {
	f.mu.Lock()
	latency := f.latency
	f.mu.Unlock()
	if err := pause(ctx, latency); err != nil {
		return nil, err
	}
	r := f.strike(call)
	if r == nil {
		return nil, nil
	}
	if r.act != nil {
		r.act(call)
	}
	if r.latency <= 0 { // also if the context ended meanwhile: a server would not know
		return r, nil
	}
	return r, pause(ctx, r.latency)
}

func pause(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
