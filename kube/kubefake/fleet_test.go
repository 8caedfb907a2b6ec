package kubefake_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
)

// bubble runs a test on one fresh cluster in virtual time: a pause costs nothing.
func bubble(t *testing.T, f func(t *testing.T, fleet *kubefake.Fleet, c *kubernetes.Clientset)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		fleet := kubefake.NewFleet("dp-1")
		f(t, fleet, client(t, fleet, "dp-1"))
	})
}

func client(t *testing.T, fleet *kubefake.Fleet, cluster string) *kubernetes.Clientset {
	t.Helper()
	c, err := kubernetes.NewForConfig(fleet.Config(cluster))
	require.NoError(t, err)
	return c
}

// settle lets the controllers do what they have to.
func settle() { <-time.After(time.Second) }

// parse reads a manifest.
func parse[T any](t *testing.T, text string) *T {
	t.Helper()
	obj := new(T)
	require.NoError(t, yaml.Unmarshal([]byte(text), obj))
	return obj
}

func secret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
}

func parseQuantity(text string) *resource.Quantity {
	q := resource.MustParse(text)
	return &q
}
