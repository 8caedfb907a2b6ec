package live

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/planewright/planewright"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// judge tells what the error of a call means. The context is the caller's.
func (c *connection) judge(ctx context.Context, err error) verdict {
	if err := ctx.Err(); err != nil {
		return verdict{sentinel: ended(err)}
	}
	var status apierrors.APIStatus
	var token *tokenError
	switch {
	case errors.As(err, &token):
		return token.verdict()
	case meta.IsNoMatchError(err):
		return verdict{sentinel: planewright.ErrNotFound, hint: "the cluster does not serve this kind; install its CustomResourceDefinition first"}
	case errors.As(err, &status):
		return c.judgeStatus(err, status.Status())
	default:
		return c.judgeConnection(err)
	}
}

// ended is the sentinel of a context that has ended, whatever its cause.
func ended(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return timedOut{}
	}
	return context.Canceled
}

// timedOut is a deadline that has passed: ErrTimeout to this module's users,
// context.DeadlineExceeded to everybody else.
type timedOut struct{}

func (timedOut) Error() string { return planewright.ErrTimeout.Error() }

func (timedOut) Is(target error) bool {
	return target == planewright.ErrTimeout || target == context.DeadlineExceeded
}

// judgeStatus judges what the API server answered.
func (c *connection) judgeStatus(err error, s metav1.Status) verdict {
	var after time.Duration
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		after = time.Duration(seconds) * time.Second
	}
	denial := webhookDenial.MatchString(s.Message)
	switch {
	case apierrors.IsUnauthorized(err):
		return verdict{sentinel: planewright.ErrDenied, hint: c.credentials()}
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return verdict{sentinel: planewright.ErrConflict, hint: "the namespace is being deleted; wait until it is gone, or look at the finalizers that hold it"}
	case apierrors.IsForbidden(err) && !denial:
		return verdict{sentinel: planewright.ErrDenied}
	case isNamespaceMissing(err):
		return verdict{sentinel: planewright.ErrNotFound, hint: "create the namespace first"}
	case apierrors.IsNotFound(err), apierrors.IsGone(err), apierrors.IsResourceExpired(err):
		return verdict{sentinel: planewright.ErrNotFound}
	case apierrors.IsAlreadyExists(err):
		return verdict{sentinel: planewright.ErrAlreadyExists}
	case apierrors.IsConflict(err):
		// Whoever reads the object again can write it.
		return verdict{sentinel: planewright.ErrConflict, retry: true}
	case apierrors.IsTooManyRequests(err):
		return verdict{sentinel: planewright.ErrThrottled, retry: true, after: after}
	case denial:
		return verdict{sentinel: planewright.ErrDenied, hint: "a policy of the cluster forbids it"}
	case unstorable.MatchString(s.Message), apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		return verdict{sentinel: planewright.ErrInvalid}
	case apierrors.IsMethodNotSupported(err), apierrors.IsNotAcceptable(err), apierrors.IsUnsupportedMediaType(err):
		return verdict{sentinel: planewright.ErrUnsupported}
	case isWebhookFailure(s):
		return verdict{
			sentinel: planewright.ErrUnavailable,
			retry:    webhookNotReady.MatchString(s.Message),
			after:    after,
			hint:     "an admission webhook does not answer; is the workload behind it running?",
		}
	case s.Code >= http.StatusInternalServerError, apierrors.IsServerTimeout(err), apierrors.IsTimeout(err), apierrors.IsInternalError(err):
		return verdict{sentinel: planewright.ErrUnavailable, retry: s.Code != http.StatusNotImplemented, after: after}
	case s.Code >= http.StatusBadRequest && s.Code < http.StatusInternalServerError:
		return verdict{sentinel: planewright.ErrInvalid}
	}
	return verdict{}
}

// What admission webhooks say has no reason or code of its own, so its text is
// all there is to go by. A webhook that is down is reported by the API server as
// an internal error; a webhook that says no answers with a code of its choice.
var (
	webhookFailure  = regexp.MustCompile(`failed calling webhook|failed to call webhook`)
	webhookNotReady = regexp.MustCompile(`no endpoints available|connection refused|connection reset|i/o timeout|no such host|EOF|` +
		`context deadline exceeded|Client\.Timeout exceeded|no service port|service "[^"]*" not found|` +
		`x509: certificate signed by unknown authority|the server is currently unable to handle the request|status code 503`)
	// unstorable is an object that does not fit its schema or its store, which the
	// API server reports as an error of its own.
	unstorable    = regexp.MustCompile(`failed to create typed (patch|live|new) object|etcdserver: request is too large|trying to send message larger than max`)
	webhookDenial = regexp.MustCompile(`admission webhook "[^"]*" denied the request|ValidatingAdmissionPolicy '[^']*' .*denied request`)
)

func isWebhookFailure(s metav1.Status) bool { return webhookFailure.MatchString(s.Message) }

// judgeConnection judges an error that is no answer of the API server.
func (c *connection) judgeConnection(err error) verdict {
	if strings.Contains(err.Error(), "getting credentials: ") {
		return verdict{sentinel: planewright.ErrDenied, hint: c.credentials()}
	}
	return judgeNetwork(c.host(), c.credentials, err)
}

// judgeNetwork judges why a host was not reached.
func judgeNetwork(host string, credentials func() string, err error) verdict {
	var (
		invalid   x509.CertificateInvalidError
		authority x509.UnknownAuthorityError
		hostname  x509.HostnameError
		verify    *tls.CertificateVerificationError
		record    tls.RecordHeaderError
		op        *net.OpError
		dns       *net.DNSError
		urlError  *url.Error
	)
	unavailable := func(retry bool, hint string, args ...any) verdict {
		return verdict{sentinel: planewright.ErrUnavailable, retry: retry, hint: fmt.Sprintf(hint, args...)}
	}
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return unavailable(false, "the certificate of %s is not valid now: it is good from %s to %s; renew it, or set this machine's clock",
			host, invalid.Cert.NotBefore.UTC().Format(time.RFC3339), invalid.Cert.NotAfter.UTC().Format(time.RFC3339))
	case errors.As(err, &authority):
		return unavailable(false, "the certificate of %s is not signed by the configured certificate authority; is this the right cluster, and its current CA?", host)
	case errors.As(err, &hostname):
		return unavailable(false, "the certificate of %s was made for other names", host)
	case errors.As(err, &verify), errors.As(err, &invalid):
		return unavailable(false, "the certificate of %s cannot be verified", host)
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return unavailable(false, "%s does not speak TLS; is it http?", host)
	case errors.As(err, &op) && op.Op == "remote error":
		return verdict{sentinel: planewright.ErrDenied, hint: fmt.Sprintf("%s refuses the TLS handshake; %s", host, credentials())}
	case errors.As(err, &dns):
		return unavailable(!dns.IsNotFound, "%s cannot be resolved; is the address right, and can this machine see it?", host)
	case errors.Is(err, errNoAnswer), errors.Is(err, context.DeadlineExceeded):
		return unavailable(true, "%s took the request and did not answer", host)
	case errors.As(err, &op) && op.Op == "dial" && op.Timeout():
		return unavailable(true, "%s cannot be reached from here; is its endpoint private?", host)
	case errors.Is(err, syscall.ECONNREFUSED):
		return unavailable(true, "nothing listens at %s", host)
	case utilnet.IsConnectionReset(err), utilnet.IsProbableEOF(err), utilnet.IsHTTP2ConnectionLost(err), errors.Is(err, io.ErrUnexpectedEOF), utilnet.IsTimeout(err), errors.As(err, &op):
		return unavailable(true, "the connection to %s broke", host)
	case errors.As(err, &urlError):
		return unavailable(true, "%s cannot be asked", host)
	}
	return verdict{}
}
