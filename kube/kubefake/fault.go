package kubefake

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Fault is what a call meets instead of its answer.
type Fault string

// The faults. Those with a number in their comment are answers of an API
// server; the others leave the client without an answer.
const (
	// None answers as usual: for rules that only add latency or call a function.
	None Fault = ""
	// Throttled is 429 with Retry-After: 1, which client-go heeds by itself.
	Throttled Fault = "throttled"
	// Unavailable is 503.
	Unavailable Fault = "unavailable"
	// ServerError is 500.
	ServerError Fault = "server-error"
	// Timeout is 504: the server gave up.
	Timeout Fault = "timeout"
	// Conflict is 409: somebody else has changed the object.
	Conflict Fault = "conflict"
	// Denied is 403.
	Denied Fault = "denied"
	// Unauthorized is 401.
	Unauthorized Fault = "unauthorized"
	// Reset breaks the connection.
	Reset Fault = "reset"
	// Unreachable refuses the connection.
	Unreachable Fault = "unreachable"
	// CertificateExpired fails the TLS handshake.
	CertificateExpired Fault = "certificate-expired"
	// Block gives no answer until the call's context ends.
	Block Fault = "block"
	// Killed is the death of the client's process: neither this call nor any
	// later one on the fleet is answered, until [Fleet.Revive].
	Killed Fault = "killed"
)

// ErrKilled is what clients get after [Killed] or [Fleet.Kill].
var ErrKilled = errors.New("kubefake: this process was killed")

// Faults returns all faults but [None].
func Faults() []Fault {
	return []Fault{Throttled, Unavailable, ServerError, Timeout, Conflict, Denied, Unauthorized, Reset, Unreachable, CertificateExpired, Block, Killed}
}

// answer makes what a client gets of the fault.
func (r *Rule) answer(ctx context.Context, c *cluster, call CallRecord) (*apiserver.Reply, error) {
	resource := schema.GroupResource{Group: call.Group, Resource: call.Resource}
	switch r.fault {
	case Throttled:
		err := apierrors.NewTooManyRequests("too many requests, please try again later", 1)
		return apiserver.ErrorReply(err), nil
	case Unavailable:
		return apiserver.ErrorReply(apierrors.NewServiceUnavailable("the server is currently unable to handle the request")), nil
	case ServerError:
		return apiserver.ErrorReply(apierrors.NewInternalError(errors.New("an error on the server has prevented the request from succeeding"))), nil
	case Timeout:
		return apiserver.ErrorReply(&apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusGatewayTimeout, Reason: metav1.StatusReasonTimeout,
			Message: "Timeout: request did not complete within the allotted timeout",
		}}), nil
	case Conflict:
		return apiserver.ErrorReply(apierrors.NewConflict(resource, call.Name,
			errors.New("the object has been modified; please apply your changes to the latest version and try again"))), nil
	case Denied:
		return apiserver.ErrorReply(apierrors.NewForbidden(resource, call.Name, fmt.Errorf("by a rule of the fake fleet, user %q cannot %s it", apiserver.Administrator, call.Verb))), nil
	case Unauthorized:
		return apiserver.ErrorReply(apierrors.NewUnauthorized("Unauthorized")), nil
	case Reset:
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	case Unreachable:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	case CertificateExpired:
		now := time.Now().UTC()
		expired := &x509.Certificate{NotBefore: now.AddDate(-1, 0, -1), NotAfter: now.AddDate(0, 0, -1)}
		return nil, &tls.CertificateVerificationError{UnverifiedCertificates: []*x509.Certificate{expired}, Err: x509.CertificateInvalidError{
			Cert: expired, Reason: x509.Expired, Detail: fmt.Sprintf("current time %s is after %s", now.Format(time.RFC3339), expired.NotAfter.Format(time.RFC3339)),
		}}
	case Block:
		<-ctx.Done()
		return nil, ctx.Err()
	case Killed:
		c.fleet.Kill()
		return nil, ErrKilled
	case None:
	}
	return nil, fmt.Errorf("kubefake: no such fault: %q", r.fault)
}

// Kill is the death of the process that uses the fleet: no call is answered
// any more, until [Fleet.Revive].
func (f *Fleet) Kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.killed = true
}

// Revive is the start of a new process: calls are answered again.
func (f *Fleet) Revive() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.killed = false
}

func (f *Fleet) alive() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.killed {
		return ErrKilled
	}
	return nil
}
