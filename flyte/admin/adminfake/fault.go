package adminfake

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"

	"github.com/planewright/planewright/flyte/admin"
)

// Fault is what a call meets instead of its answer.
type Fault string

// The faults. Those with a number in their comment are answers; the others
// leave the client without one.
const (
	// None answers as usual: for rules that only add latency or call a function.
	None Fault = ""
	// Throttled is 429 with Retry-After: 1.
	Throttled Fault = "throttled"
	// Unavailable is 503 with the code UNAVAILABLE.
	Unavailable Fault = "unavailable"
	// ServerError is 500 with the code INTERNAL.
	ServerError Fault = "server-error"
	// Timeout is 504 with the code DEADLINE_EXCEEDED.
	Timeout Fault = "timeout"
	// BadGateway is 502 with a page of HTML: a load balancer without flyteadmin.
	BadGateway Fault = "bad-gateway"
	// LoginPage is 302 to where people log in with a browser.
	LoginPage Fault = "login-page"
	// NotFlyte is 200 with a page of HTML: somebody else answers.
	NotFlyte Fault = "not-flyte"
	// Denied is 403 with the code PERMISSION_DENIED.
	Denied Fault = "denied"
	// Unauthenticated is 401 with the code UNAUTHENTICATED.
	Unauthenticated Fault = "unauthenticated"
	// Reset breaks the connection.
	Reset Fault = "reset"
	// Unreachable refuses the connection. Over a real network it is as [Reset].
	Unreachable Fault = "unreachable"
	// Block gives no answer until the call's context ends.
	Block Fault = "block"
	// Killed is the death of the client's process: neither this call nor any
	// later one is answered, until [Fake.Revive].
	Killed Fault = "killed"
)

// ErrKilled is what clients get after [Killed] or [Fake.Kill].
var ErrKilled = errors.New("adminfake: this process was killed")

// Faults returns all faults but [None].
func Faults() []Fault {
	return []Fault{Throttled, Unavailable, ServerError, Timeout, BadGateway, LoginPage, NotFlyte, Denied, Unauthenticated, Reset, Unreachable, Block, Killed}
}

// answer makes what a client gets of the fault.
func (f *Fake) answer(ctx context.Context, fault Fault) (*reply, error) {
	page := func(code int) *reply {
		return &reply{status: code, header: http.Header{"Content-Type": {"text/html"}}, body: []byte("<html><body>" + http.StatusText(code) + "</body></html>")}
	}
	failure := func(s *status) (*reply, error) { return jsonReply(s.http(), s.body()), nil }
	switch fault {
	case Throttled:
		throttled, err := failure(statusf(admin.CodeResourceExhausted, "too many requests"))
		throttled.header.Set("Retry-After", "1")
		return throttled, err
	case Unavailable:
		return failure(statusf(admin.CodeUnavailable, "connection error: desc = \"transport: Error while dialing\""))
	case ServerError:
		return failure(statusf(admin.CodeInternal, "unexpected error type for: database is down"))
	case Timeout:
		return failure(statusf(admin.CodeDeadlineExceeded, "context deadline exceeded"))
	case Denied:
		return failure(statusf(admin.CodePermissionDenied, "permission denied by a rule of the fake"))
	case Unauthenticated:
		return failure(statusf(admin.CodeUnauthenticated, "token parse error: refused by a rule of the fake"))
	case BadGateway:
		return page(http.StatusBadGateway), nil
	case NotFlyte:
		return page(http.StatusOK), nil
	case LoginPage:
		login := page(http.StatusFound)
		login.header.Set("Location", "https://login.example/?redirect_url=/")
		return login, nil
	case Reset:
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	case Unreachable:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	case Block:
		<-ctx.Done()
		return nil, ctx.Err()
	case Killed:
		f.Kill()
		return nil, ErrKilled
	case None:
	}
	return nil, fmt.Errorf("adminfake: no such fault: %q", fault)
}

// Kill is the death of the process that uses the fake: no call is answered any
// more, until [Fake.Revive].
func (f *Fake) Kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.killed = true
}

// Revive is the start of a new process: calls are answered again.
func (f *Fake) Revive() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.killed = false
}

func (f *Fake) alive() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.killed {
		return ErrKilled
	}
	return nil
}
