package admin

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/planewright/planewright"
)

// The defaults of a [Client].
const (
	// DefaultRetries is how often a call is tried again.
	DefaultRetries = 4
	// DefaultTimeout is how long one attempt of a call may take.
	DefaultTimeout = 15 * time.Second
	// DefaultAuthorizationHeader is the header in which flyteadmin looks for
	// tokens unless it is configured otherwise. Load balancers and meshes tend
	// to have plans of their own for the header Authorization.
	DefaultAuthorizationHeader = "flyte-authorization"
)

// Option configures a [Client].
type Option func(*settings)

type settings struct {
	token       planewright.Secret
	credentials *ClientCredentials
	header      string
	roots       []byte
	dial        func(ctx context.Context, network, address string) (net.Conn, error)
	client      *http.Client
	retries     int
	timeout     time.Duration
}

// WithToken sends a bearer token with every call. The secret is resolved at
// each call, so that a token in a file may be rotated. By default nothing is sent.
func WithToken(token planewright.Secret) Option {
	return func(s *settings) { s.token = token }
}

// WithClientCredentials logs in with OAuth2 client credentials when the first
// call needs it, and again when the token has expired or is refused.
func WithClientCredentials(credentials ClientCredentials) Option {
	return func(s *settings) { s.credentials = &credentials }
}

// WithAuthorizationHeader names the header that carries the token. By default
// it is what flyteadmin tells with client credentials, and
// [DefaultAuthorizationHeader] with a token. flyteadmin's gateway reads
// "authorization" first and the header of its setting auth.httpAuthorizationHeader
// then, whatever it tells of.
func WithAuthorizationHeader(name string) Option {
	return func(s *settings) { s.header = name }
}

// WithRootCAs trusts the certificates in PEM form, and only these. By default
// the system's are trusted.
func WithRootCAs(pem []byte) Option {
	return func(s *settings) { s.roots = pem }
}

// WithDialContext opens connections with a function of the caller's: through a
// port-forward, a bastion. By default and with nil, it is [net.Dialer]'s.
func WithDialContext(dial func(ctx context.Context, network, address string) (net.Conn, error)) Option {
	return func(s *settings) { s.dial = dial }
}

// WithHTTPClient makes the calls with a client of the caller's, its proxies and
// its certificates. Redirects are not followed whatever it says, and its cookies
// are not used. It cannot be combined with [WithRootCAs] and [WithDialContext].
func WithHTTPClient(client *http.Client) Option {
	return func(s *settings) { s.client = client }
}

// WithRetries sets how often a call is tried again, [DefaultRetries] by
// default. Zero switches retries off.
func WithRetries(n int) Option {
	return func(s *settings) { s.retries = n }
}

// WithTimeout bounds one attempt of a call, [DefaultTimeout] by default; the
// call as a whole is bounded by its context. Zero means the default.
func WithTimeout(d time.Duration) Option {
	return func(s *settings) { s.timeout = d }
}
