package kubefake_test

import (
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAForwardLeadsToTheHealthHandler(t *testing.T) {
	ctx := t.Context()
	fleet := kubefake.NewFleet("dp-1")
	t.Cleanup(fleet.Close)
	c := client(t, fleet, "dp-1")
	_, err := c.CoreV1().Pods("default").Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "app", Labels: map[string]string{"app": "app"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "app:1"}}, ServiceAccountName: "default"},
	}, metav1.CreateOptions{})
	for err != nil { // the namespace is still being furnished
		_, err = c.CoreV1().Pods("default").Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "app", Labels: map[string]string{"app": "app"}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "app:1"}}},
		}, metav1.CreateOptions{})
	}
	_, err = c.CoreV1().Services("default").Create(ctx, parse[corev1.Service](t, `{metadata: {name: app}, spec: {selector: {app: app}, ports: [{port: 80}]}}`), metav1.CreateOptions{})
	require.NoError(t, err)
	cluster := fleet.Cluster("dp-1")
	require.NoError(t, cluster.Objects.Wait(ctx, kube.WaitRequest{Refs: []kube.Ref{{APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: "app"}}}))

	get := func() string {
		f, err := cluster.Ports.Forward(ctx, kube.ForwardRequest{Namespace: "default", Service: "app", Ports: []int{80}})
		require.NoError(t, err)
		defer f.Close()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+f.Address(80)+"/healthcheck", http.NoBody)
		require.NoError(t, err)
		res, err := http.DefaultTransport.RoundTrip(request)
		require.NoError(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.Status + " " + string(body)
	}
	assert.Equal(t, "200 OK ok\n", get())
	fleet.Configure("dp-1", kubefake.WithHealth(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "not well: "+r.URL.Path, http.StatusInternalServerError)
	})))
	assert.Equal(t, "500 Internal Server Error not well: /healthcheck\n", get())

	for range 200 { // closed is closed, however soon
		f, err := cluster.Ports.Forward(ctx, kube.ForwardRequest{Namespace: "default", Service: "app", Ports: []int{80}})
		require.NoError(t, err)
		require.NoError(t, f.Close())
		_, err = new(net.Dialer).DialContext(ctx, "tcp", f.Address(80))
		require.Error(t, err)
	}

	fleet.Configure("dp-1", kubefake.WithoutContainers())
	_, err = cluster.Ports.Forward(ctx, kube.ForwardRequest{Namespace: "default", Service: "app", Ports: []int{80}})
	require.ErrorIs(t, err, planewright.ErrUnsupported)
	require.EqualError(t, err, "port-forward to Service default/app in cluster dp-1: not supported: no container runs behind the cluster's pods")
}
