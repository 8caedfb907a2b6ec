package gkefake

import (
	"context"
	"errors"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Fault is what a call meets instead of its answer.
type Fault string

// The faults.
const (
	// None answers as usual: for rules that only call a function.
	None Fault = ""
	// Denied is PERMISSION_DENIED.
	Denied Fault = "denied"
	// Unavailable is UNAVAILABLE.
	Unavailable Fault = "unavailable"
	// Aborted is ABORTED: somebody else has written in between.
	Aborted Fault = "aborted"
	// Exhausted is RESOURCE_EXHAUSTED: a quota is used up.
	Exhausted Fault = "resource-exhausted"
	// Throttled is RESOURCE_EXHAUSTED with the reason that calls come too fast.
	Throttled Fault = "throttled"
	// Busy is FAILED_PRECONDITION with the text of an operation under way.
	Busy Fault = "incompatible-operation"
	// Block gives no answer until the call's context ends.
	Block Fault = "block"
	// Killed is the death of the client's process: neither this call nor any
	// later one is answered, until [Fake.Revive].
	Killed Fault = "killed"
)

// ErrKilled is what clients get after [Killed].
var ErrKilled = errors.New("gkefake: this process was killed")

// Faults returns the faults that any call may meet.
func Faults() []Fault { return []Fault{Denied, Unavailable, Aborted, Exhausted, Throttled, Killed} }

// Match says which calls a rule is about.
type Match struct{ operation, object string }

// Call matches a method by its name: "SetIamPolicy"; "*" matches every one.
func Call(operation string) Match { return Match{operation: operation} }

// On restricts the match to an object: a cluster's name, a service account's e-mail, a bucket's name.
func (m Match) On(object string) Match {
	m.object = object
	return m
}

type rule struct {
	match       Match
	fault       Fault
	skip, times int
	afterEffect bool
	do          func()
}

// FaultOption says when a fault is met.
type FaultOption func(*rule)

// Times has the fault met so often; by default always.
func Times(n int) FaultOption { return func(r *rule) { r.times = n } }

// After lets so many calls pass first.
func After(n int) FaultOption { return func(r *rule) { r.skip = n } }

// AfterEffect has the call do what it does, and only its answer lost.
func AfterEffect() FaultOption { return func(r *rule) { r.afterEffect = true } }

// Do calls a function right before the call: somebody else who writes in
// between. It may use the fake.
func Do(f func()) FaultOption { return func(r *rule) { r.do = f } }

// Fail has calls meet a fault.
func (f *Fake) Fail(match Match, fault Fault, options ...FaultOption) {
	r := &rule{match: match, fault: fault, times: -1}
	for _, option := range options {
		option(r)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, r)
}

// Heal forgets all faults.
func (f *Fake) Heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = nil
}

// Revive is the start of a new process after [Killed].
func (f *Fake) Revive() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.killed = false
}

// do makes a call: it meets its fault, and is recorded. fn runs with the fake locked.
func do[T any](ctx context.Context, f *Fake, operation, object string, write bool, fn func() (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, status.FromContextError(err).Err()
	}
	r := f.rule(operation, object)
	if r.do != nil {
		r.do()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.killed {
		return none, ErrKilled
	}
	f.calls = append(f.calls, CallRecord{operation, object, write, r.fault})
	if r.fault == None {
		return fn()
	}
	if r.afterEffect {
		if _, err := fn(); err != nil {
			return none, err
		}
	}
	switch r.fault {
	case Denied:
		return none, status.Errorf(codes.PermissionDenied, "Permission denied on resource %s (or it may not exist).", object)
	case Unavailable:
		return none, status.Error(codes.Unavailable, "The service is currently unavailable.")
	case Aborted:
		return none, status.Error(codes.Aborted, "There were concurrent policy changes. Please retry the whole read-modify-write with exponential backoff.")
	case Exhausted:
		return none, status.Error(codes.ResourceExhausted, "Quota exceeded.")
	case Throttled:
		tooFast, err := status.New(codes.ResourceExhausted, "Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute'.").
			WithDetails(&errdetails.ErrorInfo{Reason: "RATE_LIMIT_EXCEEDED", Domain: "googleapis.com"})
		if err != nil {
			return none, err
		}
		return none, tooFast.Err()
	case Busy:
		return none, status.Error(codes.FailedPrecondition, "Cluster is running incompatible operation operation-1.")
	case Block:
		f.mu.Unlock()
		<-ctx.Done()
		f.mu.Lock()
		return none, status.FromContextError(ctx.Err()).Err()
	case Killed:
		f.killed = true
		return none, ErrKilled
	case None:
	}
	return none, errors.New("gkefake: no such fault: " + string(r.fault))
}

// rule returns the rule for a call, and counts it.
func (f *Fake) rule(operation, object string) rule {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.rules {
		if r.match.operation != "*" && r.match.operation != operation || r.match.object != "" && r.match.object != object || r.times == 0 {
			continue
		}
		if r.skip > 0 {
			r.skip--
			continue
		}
		if r.times > 0 {
			r.times--
		}
		return *r
	}
	return rule{}
}
