package admin

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/planewright/planewright"
)

// Client makes calls to one flyteadmin. It is made by [New], and safe for
// concurrent use.
type Client struct {
	endpoint *url.URL
	http     *http.Client
	auth     authorizer
	retries  int
	timeout  time.Duration
}

// New makes a client. The endpoint is flyteadmin's URL as its users write it,
// "https://flyte.acme.example", with a path if the gateway is behind one.
// Nothing is sent before the first call. Proxies are those of the environment,
// as net/http reads them, unless an option says how to connect.
//
// The error is a [*planewright.ValidationError] with every problem of the
// endpoint and the options.
func New(endpoint string, options ...Option) (*Client, error) {
	s := settings{retries: DefaultRetries, timeout: DefaultTimeout}
	for _, option := range options {
		option(&s)
	}
	var problems planewright.Problems
	base := checkEndpoint(&problems, endpoint)
	s.check(&problems)
	transport := s.httpClient(&problems)
	if err := problems.Err("flyteadmin client"); err != nil {
		return nil, err
	}
	if s.timeout == 0 {
		s.timeout = DefaultTimeout
	}
	c := &Client{endpoint: base, http: transport, retries: s.retries, timeout: s.timeout}
	c.auth = s.authorizer(c)
	return c, nil
}

// Endpoint returns the URL that the client was made with.
func (c *Client) Endpoint() string { return c.endpoint.String() }

// String names the client by its endpoint, without credentials.
func (c *Client) String() string { return "flyteadmin at " + c.endpoint.String() }

// GoString is [Client.String], also for %#v.
func (c *Client) GoString() string { return c.String() }

// CloseIdleConnections closes connections that are kept open for later calls:
// before a port-forward that they go through is closed.
func (c *Client) CloseIdleConnections() { c.http.CloseIdleConnections() }

// Health calls flyteadmin's health check, which answers as soon as the gateway
// serves; it says nothing of the database. It needs no credentials.
func (c *Client) Health(ctx context.Context) error {
	return c.do(ctx, call{op: "Health", method: http.MethodGet, path: "/healthcheck", anonymous: true, discard: true}, nil)
}

// checkEndpoint parses the endpoint. What it prints of it holds no password.
func checkEndpoint(problems *planewright.Problems, endpoint string) *url.URL {
	const fix = `write it as "https://flyte.acme.example"`
	u, err := url.Parse(endpoint)
	switch {
	case endpoint == "":
		problems.Add("endpoint", "", "is required", fix)
	case err != nil:
		problems.Add("endpoint", "", "must be a URL", fix)
	case u.Scheme != "http" && u.Scheme != "https":
		problems.Add("endpoint", u.Redacted(), "must begin with http:// or https://", fix+"; a gRPC address such as dns:///host:81 is not served over HTTP")
	case u.Hostname() == "":
		problems.Add("endpoint", u.Redacted(), "must name a host", fix)
	case u.User != nil:
		problems.Add("endpoint", u.Redacted(), "must hold no user and password", "use WithToken or WithClientCredentials")
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		problems.Add("endpoint", u.Redacted(), "must have no query and no fragment", fix)
	default:
		u.Path = strings.TrimRight(u.Path, "/")
		u.RawPath = strings.TrimRight(u.RawPath, "/")
		return u
	}
	return nil
}

func (s *settings) check(problems *planewright.Problems) {
	if s.credentials != nil {
		s.credentials.check(problems)
		if !s.token.IsZero() {
			problems.Add("token", "", "must not be set together with client credentials", "give one of them")
		}
	}
	if strings.ContainsAny(s.header, " \t\r\n:") {
		problems.Add("authorizationHeader", s.header, "must be the name of an HTTP header", fmt.Sprintf("leave it out, or write %q", DefaultAuthorizationHeader))
	}
	if s.retries < 0 {
		problems.Add("retries", fmt.Sprint(s.retries), "must not be negative", "use 0 to switch retries off")
	}
	if s.timeout < 0 {
		problems.Add("timeout", s.timeout.String(), "must not be negative", "use 0 for the default")
	}
}

// httpClient makes the client that makes the calls. Redirects lead to login
// pages, and would carry the token to another host: none is followed.
func (s *settings) httpClient(problems *planewright.Problems) *http.Client {
	noRedirects := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if s.client != nil {
		if s.roots != nil || s.dial != nil {
			problems.Add("httpClient", "", "must not be combined with root CAs or a dial function", "configure them in the client's transport")
		}
		return &http.Client{Transport: s.client.Transport, CheckRedirect: noRedirects, Timeout: s.client.Timeout}
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: s.dial, ForceAttemptHTTP2: true,
		MaxIdleConnsPerHost: 8, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second,
	}
	if s.dial != nil {
		transport.Proxy = nil // the function knows the way
	}
	if s.roots != nil {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(s.roots) {
			problems.Add("rootCAs", "", "must hold a certificate in PEM form", "give the file that begins with -----BEGIN CERTIFICATE-----")
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: transport, CheckRedirect: noRedirects}
}
