package live

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/client-go/rest"
)

// TokenSource returns a bearer token for an API server, and when it ends. The
// zero time means that it does not end.
type TokenSource func(ctx context.Context) (token planewright.Secret, expires time.Time, err error)

// FromTokens returns the cluster whose API server is at a URL, whose
// certificate is signed by the authorities (PEM; none means the system's), and
// which takes bearer tokens from the source: the short-lived ones that a cloud
// gives. A token is kept until shortly before its end, and given up when the
// API server refuses it. Errors are those of [FromConfig].
func FromTokens(name, url string, authorities []byte, source TokenSource, opts ...Option) (kube.Cluster, error) {
	if source == nil {
		var p planewright.Problems
		p.Add("source", "", "there is no source of tokens", "a function that returns a token, for example cloud.ClusterRef's Token")
		return kube.Cluster{}, p.Err("cluster " + name)
	}
	tokens := &tokens{name: name, source: source, now: time.Now}
	return FromConfig(name, &rest.Config{
		Host:            url,
		TLSClientConfig: rest.TLSClientConfig{CAData: authorities},
		WrapTransport:   tokens.wrap,
	}, opts...)
}

// tokenMargin is how long before its end a token is no longer used: longer
// than a request may be on its way.
const tokenMargin = 2 * time.Minute

// tokens keeps one token for all requests. client-go has such a thing too, but
// its sources get no context, so that a cancelled request would go on asking.
type tokens struct {
	name   string
	source TokenSource
	now    func() time.Time

	mu      sync.Mutex
	token   []byte
	expires time.Time
}

func (t *tokens) wrap(next http.RoundTripper) http.RoundTripper { return bearer{t, next} }

// get returns a token that is good for a while.
func (t *tokens) get(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != nil && (t.expires.IsZero() || t.now().Add(tokenMargin).Before(t.expires)) {
		return string(t.token), nil
	}
	secret, expires, err := t.source(ctx)
	if err != nil {
		return "", t.fail(err)
	}
	token, err := secret.Resolve(ctx)
	if err != nil {
		return "", t.fail(err)
	}
	if len(token) == 0 {
		return "", t.fail(errors.New("the token is empty"))
	}
	t.token, t.expires = token, expires
	return string(token), nil
}

func (t *tokens) fail(err error) error { return &tokenError{t.name, err} }

// tokenError says that there is no token to ask the API server with.
type tokenError struct {
	cluster string
	err     error
}

func (e *tokenError) Error() string {
	return fmt.Sprintf("get a token for cluster %s: %v", e.cluster, e.err)
}

func (e *tokenError) Unwrap() error { return e.err }

// verdict is the source's own, where it has one: it knows its cloud.
func (e *tokenError) verdict() verdict {
	var source planewright.Retryable
	if errors.As(e.err, &source) {
		return verdict{retry: source.Retryable()}
	}
	return verdict{sentinel: planewright.ErrDenied}
}

// drop forgets a token that was refused, unless another has taken its place.
func (t *tokens) drop(refused string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if string(t.token) == refused {
		t.token = nil
	}
}

// bearer adds the token to requests.
type bearer struct {
	tokens *tokens
	next   http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (b bearer) RoundTrip(request *http.Request) (*http.Response, error) {
	token, err := b.tokens.get(request.Context())
	if err != nil {
		if request.Body != nil { // a RoundTripper closes it whatever happens
			_ = request.Body.Close()
		}
		return nil, err
	}
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := b.next.RoundTrip(request)
	if err == nil && response.StatusCode == http.StatusUnauthorized {
		b.tokens.drop(token)
	}
	return response, err
}

// WrappedRoundTripper lets client-go find the transport below.
func (b bearer) WrappedRoundTripper() http.RoundTripper { return b.next }
