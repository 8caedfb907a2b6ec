package kube

import "context"

// Forwarder opens connections to pods from outside the cluster.
type Forwarder interface {
	// Forward forwards local ports to those of a ready pod behind the
	// Service, until Close is called or the context ends. ErrNotFound: no
	// such Service or port. ErrUnavailable: no ready pod. ErrUnsupported: the
	// cluster has nothing to forward to (no container runs behind its pods).
	Forward(ctx context.Context, request ForwardRequest) (Forwarding, error)
}

// ForwardRequest says what to forward to.
type ForwardRequest struct {
	Namespace, Service string
	// Ports are ports of the Service, by number.
	Ports []int
}

// Forwarding is an open port-forward.
type Forwarding interface {
	// Address returns the local address ("127.0.0.1:40123") that stands for a port of the Service.
	Address(port int) string
	// Done is closed when the forward has ended, by Close or by a broken connection.
	Done() <-chan struct{}
	// Close ends the forward. It is idempotent.
	Close() error
}
