package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/live"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// kubelet is an API server with one Service and its pod, that forwards ports to
// something that says which port it is and repeats what it hears. It does not know
// websockets.
type kubelet struct {
	connections atomic.Int32
	hangUp      chan struct{}
}

func (k *kubelet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	reply := func(v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	switch r.URL.Path {
	case "/api":
		_, _ = fmt.Fprint(w, `{"kind":"APIVersions","versions":["v1"]}`)
	case "/apis":
		_, _ = fmt.Fprint(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`)
	case "/api/v1":
		_, _ = fmt.Fprint(w, `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"services","namespaced":true,"kind":"Service"},{"name":"pods","namespaced":true,"kind":"Pod"}]}`)
	case "/api/v1/namespaces/flyte/services/web":
		reply(&corev1.Service{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "flyte"},
			Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{
				{Name: "http", Port: 80, TargetPort: intstr.FromString("http")}, {Name: "grpc", Port: 81, TargetPort: intstr.FromInt32(8089)},
			}},
		})
	case "/api/v1/namespaces/flyte/pods":
		pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Namespace: "flyte"}}
		pod.Spec.Containers = []corev1.Container{{Name: "main", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8088}}}}
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		reply(&corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Items: []corev1.Pod{pod}})
	case "/api/v1/namespaces/flyte/pods/web-1/portforward":
		if r.Method != http.MethodPost {
			answer(w, metav1.Status{Code: 400, Reason: metav1.StatusReasonBadRequest, Message: "no websockets here"})
			return
		}
		k.forward(w, r)
	default:
		answer(w, metav1.Status{Code: 404, Reason: metav1.StatusReasonNotFound, Message: r.URL.Path})
	}
}

func (k *kubelet) forward(w http.ResponseWriter, r *http.Request) {
	k.connections.Add(1)
	if _, err := httpstream.Handshake(r, w, []string{"portforward.k8s.io"}); err != nil {
		return
	}
	connection := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(stream httpstream.Stream, replied <-chan struct{}) error {
		go func() {
			defer func() { _ = stream.Close() }()
			<-replied
			if stream.Headers().Get(corev1.StreamType) != corev1.StreamTypeData {
				return
			}
			_, _ = fmt.Fprintf(stream, "%s:", stream.Headers().Get(corev1.PortHeader))
			buffer := make([]byte, 16)
			n, _ := stream.Read(buffer)
			_, _ = stream.Write(buffer[:n])
		}()
		return nil
	})
	if connection == nil {
		return
	}
	defer func() { _ = connection.Close() }()
	select {
	case <-connection.CloseChan():
	case <-k.hangUp:
	}
}

// say sends a text to a forwarded port and returns the answer.
func say(t *testing.T, address, text string) string {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprint(conn, text)
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	data, err := io.ReadAll(conn)
	require.NoError(t, err)
	return string(data)
}

func TestForwardCarriesSeveralPortsOverOneConnection(t *testing.T) {
	good, ca := certificate(t, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	k := &kubelet{hangUp: make(chan struct{})}
	cluster, err := live.FromConfig("dp-1", &rest.Config{Host: serve(t, good, k.ServeHTTP), TLSClientConfig: rest.TLSClientConfig{CAData: ca}})
	require.NoError(t, err)

	open, err := cluster.Ports.Forward(inTime(t), kube.ForwardRequest{Namespace: "flyte", Service: "web", Ports: []int{80, 81}})
	require.NoError(t, err)
	host, _, err := net.SplitHostPort(open.Address(80))
	require.NoError(t, err)
	assert.Equal(t, "127.0.0.1", host, "nobody else can reach it")
	assert.Equal(t, "8088:ping", say(t, open.Address(80), "ping"), "a named port is looked up in the pod")
	assert.Equal(t, "8089:pong", say(t, open.Address(81), "pong"))
	assert.Empty(t, open.Address(443))
	assert.Equal(t, int32(1), k.connections.Load())
	require.NoError(t, open.Close())
	require.NoError(t, open.Close())
	<-open.Done()
	_, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", open.Address(80))
	require.Error(t, err, "nothing listens any more")

	t.Run("it ends with the context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		open, err := cluster.Ports.Forward(ctx, kube.ForwardRequest{Namespace: "flyte", Service: "web", Ports: []int{80}})
		require.NoError(t, err)
		cancel()
		<-open.Done()
	})
	t.Run("it ends with the connection", func(t *testing.T) {
		open, err := cluster.Ports.Forward(inTime(t), kube.ForwardRequest{Namespace: "flyte", Service: "web", Ports: []int{80}})
		require.NoError(t, err)
		close(k.hangUp)
		<-open.Done()
		require.NoError(t, open.Close())
	})
}

func TestForwardToANodeThatCannotBeReached(t *testing.T) {
	good, ca := certificate(t, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	k := &kubelet{}
	cluster, err := live.FromConfig("dp-1", &rest.Config{TLSClientConfig: rest.TLSClientConfig{CAData: ca}, Host: serve(t, good, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/namespaces/flyte/pods/web-1/portforward" {
			answer(w, metav1.Status{Code: 500, Reason: metav1.StatusReasonInternalError, Message: "error dialing backend: dial tcp 10.0.0.7:10250: connect: connection refused"})
			return
		}
		k.ServeHTTP(w, r)
	})})
	require.NoError(t, err)
	_, err = cluster.Ports.Forward(inTime(t), kube.ForwardRequest{Namespace: "flyte", Service: "web", Ports: []int{80}})
	require.ErrorIs(t, err, planewright.ErrUnsupported)
	require.ErrorContains(t, err, "cannot reach the kubelet")
	assert.False(t, retryable(err))
}
