package kubetest

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (s *suite) forwarder(t *testing.T) {
	s.test(t, "refuses what does not exist or is not ready", testForwardRefused)
	if s.noContainers {
		s.test(t, "says that there is nothing to forward to", testForwardUnsupported)
		return
	}
	s.test(t, "forwards until it is closed", testForward)
	s.test(t, "ends with its context", testForwardContext)
}

// serve starts a workload behind a Service with two ports.
func (s *scene) serve(t *testing.T) kube.ForwardRequest {
	t.Helper()
	app := s.object(deployment("app", "registry.example/app:1"))
	s.apply(t, app)
	s.apply(t, s.object(`{apiVersion: v1, kind: Service, metadata: {name: app}, spec: {selector: {app: app}, ports: [{name: http, port: 80, targetPort: 8080}, {name: more, port: 81, targetPort: 8080}]}}`))
	require.NoError(t, s.wait(kube.WaitRequest{Refs: []kube.Ref{kube.RefOf(app)}}))
	return kube.ForwardRequest{Namespace: s.namespace, Service: "app", Ports: []int{80, 81}}
}

func testForwardRefused(s *scene) {
	t := s.t
	_, err := s.cluster.Ports.Forward(s.ctx, kube.ForwardRequest{Namespace: s.namespace, Service: "nobody", Ports: []int{80}})
	require.ErrorIs(t, err, planewright.ErrNotFound)
	require.ErrorContains(t, err, "nobody")

	s.apply(t, s.object(`{apiVersion: v1, kind: Service, metadata: {name: idle}, spec: {selector: {app: nobody}, ports: [{port: 80}]}}`))
	_, err = s.cluster.Ports.Forward(s.ctx, kube.ForwardRequest{Namespace: s.namespace, Service: "idle", Ports: []int{80}})
	require.ErrorIs(t, err, planewright.ErrUnavailable)
	assert.True(t, retryable(err), "pods may become ready")
	require.ErrorContains(t, err, "idle")
	require.ErrorContains(t, err, s.cluster.Name)

	request := s.serve(t)
	request.Ports = []int{80, 8080}
	_, err = s.cluster.Ports.Forward(s.ctx, request)
	require.ErrorIs(t, err, planewright.ErrNotFound)
	require.ErrorContains(t, err, "8080")

	s.apply(t, s.object(`{apiVersion: v1, kind: Service, metadata: {name: misnamed}, spec: {selector: {app: app}, ports: [{port: 80, targetPort: grpc}]}}`))
	_, err = s.cluster.Ports.Forward(s.ctx, kube.ForwardRequest{Namespace: s.namespace, Service: "misnamed", Ports: []int{80}})
	require.ErrorIs(t, err, planewright.ErrNotFound, "no container of the pod has a port of that name")
	assert.ErrorContains(t, err, "grpc")
}

func testForwardUnsupported(s *scene) {
	t := s.t
	_, err := s.cluster.Ports.Forward(s.ctx, s.serve(t))
	require.ErrorIs(t, err, planewright.ErrUnsupported)
	assert.False(t, retryable(err))
}

func testForward(s *scene) {
	t := s.t
	request := s.serve(t)
	f, err := s.cluster.Ports.Forward(s.ctx, request)
	require.NoError(t, err)
	assert.NotEqual(t, f.Address(80), f.Address(81))
	for _, port := range request.Ports {
		conn, err := dial(s.ctx, f.Address(port))
		require.NoError(t, err)
		require.NoError(t, conn.Close())
	}
	select {
	case <-f.Done():
		require.Fail(t, "it ended by itself")
	default:
	}
	require.NoError(t, f.Close())
	require.NoError(t, f.Close(), "closing is idempotent")
	s.ended(t, f)
	_, err = dial(s.ctx, f.Address(80))
	assert.Error(t, err, "nobody listens any more")
}

func testForwardContext(s *scene) {
	t := s.t
	ctx, cancel := context.WithCancel(s.ctx)
	f, err := s.cluster.Ports.Forward(ctx, s.serve(t))
	require.NoError(t, err)
	cancel()
	s.ended(t, f)
}

func (s *scene) ended(t *testing.T, f kube.Forwarding) {
	t.Helper()
	select {
	case <-f.Done():
	case <-s.ctx.Done():
		require.Fail(t, "it did not end")
	}
}

func dial(ctx context.Context, address string) (net.Conn, error) {
	return (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", address)
}
