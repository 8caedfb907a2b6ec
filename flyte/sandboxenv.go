package flyte

import (
	"context"
	"net"
	"net/http"
	"path/filepath"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/container"
)

// SandboxEnv is what a sandbox is installed on: a container engine of this
// machine, and the user's home folder. It is a value; its methods return changed copies.
type SandboxEnv struct {
	engine    container.Engine
	home      string
	listener  Listener
	transport http.RoundTripper
}

// Listener finds out whether a port of this machine is free, by listening to
// it for a moment. A *[net.ListenConfig] is one.
type Listener interface {
	Listen(ctx context.Context, network, address string) (net.Listener, error)
}

// NewSandboxEnv makes a SandboxEnv of an engine, see package container/docker,
// and the home folder that flytectl would keep its files in, as os.UserHomeDir
// tells it: below it are .flyte/config-sandbox.yaml and .flyte/sandbox.
func NewSandboxEnv(engine container.Engine, home string) SandboxEnv {
	return SandboxEnv{engine: engine, home: home}
}

// WithListener sets what finds out whether ports are free. By default it is a [net.ListenConfig].
func (e SandboxEnv) WithListener(listener Listener) SandboxEnv {
	e.listener = listener
	return e
}

// WithTransport sets how the sandbox is asked for its health. By default it is
// by a connection to this machine, through no proxy.
func (e SandboxEnv) WithTransport(transport http.RoundTripper) SandboxEnv {
	e.transport = transport
	return e
}

// sandboxFolder is the folder that the container sees.
func (e SandboxEnv) sandboxFolder() string { return filepath.Join(e.home, ".flyte", "sandbox") }

func (e SandboxEnv) validate(p *planewright.Problems) {
	if e.engine == nil {
		p.Add("env.engine", "", "a sandbox runs in a container engine", "make one with package container/docker or container/containerfake")
	}
	if !filepath.IsAbs(e.home) {
		p.Add("env.home", e.home, "the home folder is an absolute path", "use what os.UserHomeDir returns")
	}
}

// free reports why a port of this machine cannot be listened to, nil if it can.
func (e SandboxEnv) free(ctx context.Context, address string) error {
	listener := e.listener
	if listener == nil {
		listener = new(net.ListenConfig)
	}
	listening, err := listener.Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return listening.Close()
}
