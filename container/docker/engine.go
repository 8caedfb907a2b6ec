package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/container"
)

// Engine is a container engine that is reached by its API. It is made by
// [New], and safe for concurrent use.
type Engine struct {
	sockets []string
	// turn is held by whoever looks for the engine.
	turn  chan struct{}
	mu    sync.Mutex
	found *client.Client
	at    string
}

var _ container.Engine = (*Engine)(nil)

// New makes an engine of the first of the sockets that answers, see [Sockets].
// They are written as DOCKER_HOST is: "unix:///var/run/docker.sock".
func New(sockets ...string) *Engine {
	return &Engine{sockets: slices.Clone(sockets), turn: make(chan struct{}, 1)}
}

// Close closes the connections to the engine.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.found == nil {
		return nil
	}
	found := e.found
	e.found = nil
	return found.Close()
}

// client returns the client of the engine that answered first.
func (e *Engine) client(ctx context.Context) (*client.Client, error) {
	if found := e.known(); found != nil {
		return found, nil
	}
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if found := e.known(); found != nil {
		return found, nil
	}
	missing := &container.NoEngineError{}
	for _, socket := range e.sockets {
		found, err := connect(ctx, socket)
		if err == nil {
			e.mu.Lock()
			e.found, e.at = found, socket
			e.mu.Unlock()
			return found, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		missing.Tried = append(missing.Tried, container.Attempt{Socket: shown(socket), Err: err})
	}
	return nil, missing
}

func (e *Engine) known() *client.Client {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.found
}

// connect makes a client of a socket, and asks who is there.
func connect(ctx context.Context, socket string) (*client.Client, error) {
	if !isLocal(socket) {
		return nil, fmt.Errorf("it is another machine's, and ports and folders of this one are needed: %w", planewright.ErrUnsupported)
	}
	c, err := client.New(client.WithHost(socket))
	if err != nil {
		return nil, err
	}
	if _, err := c.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true}); err != nil {
		return nil, errors.Join(reason(err), c.Close())
	}
	return c, nil
}

// reason is why no engine answered: the client's own text names the socket
// again, and asks whether the daemon runs.
func reason(err error) error {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err
}

// shown is a socket without a password that does not belong there.
func shown(socket string) string {
	scheme, rest, ok := strings.Cut(socket, "://")
	if i := strings.LastIndex(rest, "@"); ok && i >= 0 {
		return scheme + "://" + rest[i+1:]
	}
	return socket
}

// failed gives an error of the client its place among the sentinel errors.
func failed(ctx context.Context, op, object string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e := &container.Error{Op: op, Object: object, Err: err}
	switch {
	case cerrdefs.IsNotFound(err):
		e.Kind = planewright.ErrNotFound
	case cerrdefs.IsConflict(err), cerrdefs.IsAlreadyExists(err):
		e.Kind = planewright.ErrConflict
	case cerrdefs.IsUnauthorized(err), cerrdefs.IsPermissionDenied(err):
		e.Kind = planewright.ErrDenied
	case cerrdefs.IsInvalidArgument(err):
		e.Kind = planewright.ErrInvalid
	case client.IsErrConnectionFailed(err), cerrdefs.IsUnavailable(err):
		e.Kind, e.Transient = planewright.ErrUnavailable, true
	}
	return e
}
