package containerfake

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"syscall"
)

// Transport leads requests to ports of this machine to the containers that
// publish them. Where none does the connection is refused.
func (f *Fake) Transport() http.RoundTripper { return transport{f} }

type transport struct{ fake *Fake }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, context.Cause(r.Context())
	}
	port, err := strconv.Atoi(r.URL.Port())
	if err != nil {
		return nil, fmt.Errorf("%s has no port: %w", r.URL.Host, err)
	}
	handler := t.fake.served(port)
	if handler == nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, r)
	response := recorder.Result()
	response.Request = r
	return response, nil
}

// served is what answers at a port of this machine.
func (f *Fake) served(port int) http.Handler {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.publisher(port, nil)
	if c == nil {
		return nil
	}
	for _, p := range c.Ports {
		if p.Host == port {
			return c.image.Serves[p.Container]
		}
	}
	return nil
}

// Listen tells whether a port of this machine is free, in the manner of
// [net.ListenConfig]: what it returns listens to nothing.
func (f *Fake) Listen(ctx context.Context, _, address string) (net.Listener, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	_, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	taken := f.publisher(port, nil) != nil
	for _, p := range f.taken {
		taken = taken || p == port
	}
	if taken {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Err: syscall.EADDRINUSE}
	}
	return idle{}, nil
}

// idle is a listener that nobody connects to.
type idle struct{}

func (idle) Accept() (net.Conn, error) { return nil, errors.ErrUnsupported }
func (idle) Close() error              { return nil }
func (idle) Addr() net.Addr            { return &net.TCPAddr{} }
