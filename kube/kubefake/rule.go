package kubefake

import (
	"context"
	"math"
	"slices"
	"time"
)

// Rule is a fault that waits for the calls it is meant for.
type Rule struct {
	fleet      *Fleet
	match      Match
	fault      Fault
	skip, left int
	latency    time.Duration
	afterwards bool
	act        func(CallRecord)
	hits       int // guarded by the fleet's lock
}

// FaultOption says when and how a [Rule] strikes.
type FaultOption func(*Rule)

// Times has the rule strike n times, then no more. Without it, it always strikes.
func Times(n int) FaultOption { return func(r *Rule) { r.left = n } }

// After lets the first n calls that match pass.
func After(n int) FaultOption { return func(r *Rule) { r.skip = n } }

// Latency keeps the call waiting before anything else happens.
func Latency(d time.Duration) FaultOption { return func(r *Rule) { r.latency = d } }

// AfterEffect has the cluster do what the call asks for; only the answer is
// lost to the fault. Without it the call has no effect.
func AfterEffect() FaultOption { return func(r *Rule) { r.afterwards = true } }

// Do calls the function when the rule strikes, before the call has any effect.
// It must not call the fleet's clusters.
func Do(f func(CallRecord)) FaultOption { return func(r *Rule) { r.act = f } }

// Fail makes calls meet a fault. Of several rules that match a call, the
// first one given strikes.
func (f *Fleet) Fail(match Match, fault Fault, opts ...FaultOption) *Rule {
	r := &Rule{fleet: f, match: match, fault: fault, left: math.MaxInt}
	for _, o := range opts {
		o(r)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, r)
	return r
}

// Hits returns how often the rule has struck.
func (r *Rule) Hits() int {
	r.fleet.mu.Lock()
	defer r.fleet.mu.Unlock()
	return r.hits
}

// Remove takes the rule back.
func (r *Rule) Remove() {
	r.fleet.mu.Lock()
	defer r.fleet.mu.Unlock()
	r.fleet.rules = slices.DeleteFunc(r.fleet.rules, func(o *Rule) bool { return o == r })
}

// Heal takes back all rules.
func (f *Fleet) Heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = nil
}

// strike finds the rule that a call meets, if any, and counts.
func (f *Fleet) strike(call CallRecord) *Rule {
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

// provoke has the rule that a call meets do what comes before its fault.
func (f *Fleet) provoke(ctx context.Context, call CallRecord) (*Rule, error) {
	r := f.strike(call)
	if r == nil {
		return nil, nil
	}
	if r.act != nil {
		r.act(call)
	}
	return r, pause(ctx, r.latency)
}

// wait keeps a call waiting for the cluster's latency.
func (c *cluster) wait(ctx context.Context) error {
	c.fleet.mu.Lock()
	d := c.settings.latency
	c.fleet.mu.Unlock()
	return pause(ctx, d)
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
