package eksfake

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Fault is what a call meets instead of its answer.
type Fault string

// The faults.
const (
	// None answers as usual: for rules that only call a function.
	None Fault = ""
	// Throttled is 400 with the code Throttling, which the SDK's clients try
	// again by themselves; here it is what is left when they have given up.
	Throttled Fault = "throttled"
	// Denied is 403 with the code AccessDenied.
	Denied Fault = "denied"
	// Unavailable is 500 with the code ServiceFailure.
	Unavailable Fault = "unavailable"
	// Concurrent is 409 with the code ConcurrentModification.
	Concurrent Fault = "concurrent-modification"
	// InvalidPrincipal is 400 with the code MalformedPolicyDocument, as IAM
	// answers while it does not know a principal yet.
	InvalidPrincipal Fault = "invalid-principal"
	// Malformed is 400 with the code MalformedPolicyDocument, for a document
	// that is wrong and stays so.
	Malformed Fault = "malformed-policy"
	// RoleUnknown is 400 with the code InvalidParameterException, as EKS
	// answers while it cannot assume a role yet.
	RoleUnknown Fault = "role-unknown"
	// NotSeen is 404 with the code ResourceNotFoundException, as EKS may answer
	// right after something was made.
	NotSeen Fault = "not-seen"
	// Reset breaks the connection.
	Reset Fault = "reset"
	// Block gives no answer until the call's context ends.
	Block Fault = "block"
	// Killed is the death of the client's process: neither this call nor any
	// later one is answered, until [Fake.Revive].
	Killed Fault = "killed"
)

// ErrKilled is what clients get after [Killed].
var ErrKilled = errors.New("eksfake: this process was killed")

// Faults returns the faults that any call may meet.
func Faults() []Fault {
	return []Fault{Throttled, Denied, Unavailable, Concurrent, Reset, Killed}
}

// Match says which calls a rule is about.
type Match struct{ operation, object string }

// Call matches an operation by its name, with or without its service:
// "UpdateAssumeRolePolicy", "iam:GetRole"; "*" matches every one.
func Call(operation string) Match { return Match{operation: operation} }

// On restricts the match to an object: a role's name, a cluster's.
func (m Match) On(object string) Match {
	m.object = object
	return m
}

func (m Match) matches(c call) bool {
	_, bare, _ := strings.Cut(c.operation, ":")
	return (m.operation == "*" || m.operation == c.operation || m.operation == bare) && (m.object == "" || m.object == c.object)
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

// call is one call that is being made.
type call struct {
	operation, object string
	write             bool
}

// do makes a call: it takes its time, meets its fault, and is recorded. fn runs
// with the fake locked.
func do[T any](ctx context.Context, f *Fake, c call, fn func() (T, error)) (T, error) {
	var none T
	f.mu.Lock()
	latency := f.latency
	f.mu.Unlock()
	if latency > 0 {
		timer := time.NewTimer(latency)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return none, &smithy.OperationError{ServiceID: service(c), OperationName: c.operation, Err: &smithy.CanceledError{Err: err}}
	}
	r := f.rule(c)
	if r.do != nil {
		r.do()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.killed {
		return none, ErrKilled
	}
	f.calls = append(f.calls, CallRecord{Operation: c.operation, Object: c.object, Write: c.write, Fault: r.fault})
	if r.fault == None {
		answer, err := fn()
		return answer, wrap(c, err)
	}
	if r.afterEffect {
		if _, err := fn(); err != nil {
			return none, wrap(c, err)
		}
	}
	return none, f.meet(ctx, c, r.fault)
}

// rule returns the rule for a call, and counts it.
func (f *Fake) rule(c call) rule {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.rules {
		if !r.match.matches(c) || r.times == 0 {
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

// meet is the error of a fault. The fake is locked.
func (f *Fake) meet(ctx context.Context, c call, fault Fault) error {
	answer := func(status int, code, message string) error {
		return wrap(c, apiError{status, &smithy.GenericAPIError{Code: code, Message: message}})
	}
	switch fault {
	case Throttled:
		return answer(http.StatusBadRequest, "Throttling", "Rate exceeded")
	case Denied:
		return answer(http.StatusForbidden, "AccessDenied", "User: arn:aws:iam::"+f.account+":user/deployer is not authorized to perform: "+c.operation+" on resource: "+c.object)
	case Unavailable:
		return answer(http.StatusInternalServerError, "ServiceFailure", "The request processing has failed because of an unknown error, exception or failure.")
	case Concurrent:
		return answer(http.StatusConflict, "ConcurrentModification", "The request was rejected because multiple requests to change this object were submitted simultaneously.")
	case InvalidPrincipal:
		return answer(http.StatusBadRequest, "MalformedPolicyDocument", `Invalid principal in policy: "AWS":"arn:aws:iam::`+f.account+`:role/new"`)
	case Malformed:
		return answer(http.StatusBadRequest, "MalformedPolicyDocument", "Syntax errors in policy.")
	case NotSeen:
		return answer(http.StatusNotFound, "ResourceNotFoundException", "No cluster found for name: "+c.object+".")
	case RoleUnknown:
		return answer(http.StatusBadRequest, "InvalidParameterException", "Role with arn: arn:aws:iam::"+f.account+":role/new could not be assumed because it does not exist or the trusted entity is not correct")
	case Reset:
		return wrap(c, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET})
	case Block:
		f.mu.Unlock()
		<-ctx.Done()
		f.mu.Lock()
		return wrap(c, &smithy.CanceledError{Err: ctx.Err()})
	case Killed:
		f.killed = true
		return ErrKilled
	case None:
	}
	return errors.New("eksfake: no such fault: " + string(fault))
}

// apiError is an answer of AWS that is an error.
type apiError struct {
	status int
	smithy.APIError
}

func service(c call) string { name, _, _ := strings.Cut(c.operation, ":"); return name }

// wrap makes of an error what the SDK's clients make of it.
func wrap(c call, err error) error {
	if err == nil {
		return nil
	}
	var api apiError
	if errors.As(err, &api) {
		err = &awshttp.ResponseError{
			RequestID:     "00000000-0000-0000-0000-000000000000",
			ResponseError: &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: api.status}}, Err: api.APIError},
		}
	}
	_, operation, _ := strings.Cut(c.operation, ":")
	return &smithy.OperationError{ServiceID: service(c), OperationName: operation, Err: err}
}
