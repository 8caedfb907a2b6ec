package kubefake_test

import (
	"testing"

	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
)

func TestAClusterIsWhatItsOptionsSay(t *testing.T) {
	bubble(t, func(t *testing.T, fleet *kubefake.Fleet, _ *kubernetes.Clientset) {
		ctx := t.Context()
		facts := fleet.Cluster("dp-1").Facts
		v, err := facts.Version(ctx)
		require.NoError(t, err)
		assert.Equal(t, kube.Version{Git: kubefake.DefaultVersion, Major: 1, Minor: 37}, v)
		nodes, err := facts.Nodes(ctx)
		require.NoError(t, err)
		require.Len(t, nodes, 3)
		assert.Equal(t, "amd64", nodes[0].Architecture)
		classes, err := facts.StorageClasses(ctx)
		require.NoError(t, err)
		assert.Equal(t, []kube.StorageClass{{Name: "standard", Provisioner: "kubefake.invalid/disk", Default: true}}, classes)
		endpoint, err := facts.Endpoint(ctx)
		require.NoError(t, err)
		assert.Equal(t, kube.Endpoint{URL: "https://dp-1.kubefake.invalid", CA: fleet.CA("dp-1")}, endpoint)

		wanted := []kube.Node{
			{Name: "arm", Architecture: "arm64", OS: "linux", Ready: true, Schedulable: true},
			{Name: "idle", Architecture: "amd64", OS: "linux", Ready: false, Schedulable: false},
		}
		fleet.Add("dp-2",
			kubefake.WithVersion("v1.31.0"),
			kubefake.WithNodes(wanted...),
			kubefake.WithStorageClasses(kube.StorageClass{Name: "gp3", Provisioner: "ebs.csi.aws.com"}),
			kubefake.WithObjects(
				&corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: "flyte"}},
				&corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: "flyte"}, StringData: map[string]string{"a": "b"}},
			),
		)
		assert.Equal(t, []string{"dp-1", "dp-2"}, fleet.Names())
		other := fleet.Clusters()["dp-2"]
		v, err = other.Facts.Version(ctx)
		require.NoError(t, err)
		assert.Equal(t, 31, v.Minor)
		nodes, err = other.Facts.Nodes(ctx)
		require.NoError(t, err)
		for i := range nodes {
			assert.Equal(t, nodes[i].Name, nodes[i].Labels["kubernetes.io/hostname"])
			nodes[i].Labels = nil
		}
		assert.Equal(t, wanted, nodes)
		classes, err = other.Facts.StorageClasses(ctx)
		require.NoError(t, err)
		assert.Equal(t, []kube.StorageClass{{Name: "gp3", Provisioner: "ebs.csi.aws.com"}}, classes)
		s, err := other.Objects.Get(ctx, kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "flyte", Name: "db"})
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"a": "Yg=="}, s.Object["data"])
		assert.Zero(t, fleet.Writes("dp-2"), "what options do is not a client's call")
	})
}

func TestMistakesInATestProgramAreToldAtOnce(t *testing.T) {
	fleet := kubefake.NewFleet("dp-1", "dp-2")
	assert.PanicsWithValue(t, `kubefake: the fleet has no cluster "dp1", only dp-1, dp-2`, func() { fleet.Cluster("dp1") })
	assert.PanicsWithValue(t, `kubefake: the fleet has a cluster "dp-1" already`, func() { fleet.Add("dp-1") })
	assert.PanicsWithValue(t, `kubefake: cluster dp-1: *v1.Secret: namespaces "nowhere" not found`, func() {
		fleet.Configure("dp-1", kubefake.WithObjects(&corev1.Secret{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: "nowhere"},
		}))
	})
}

// An ingress controller serves the Ingress objects of its class, and no others.
func TestAnIngressHasAnAddressWhereItsClassIs(t *testing.T) {
	fleet := kubefake.NewFleet().Add("main", kubefake.WithLoadBalancers(0))
	defer fleet.Close()
	objects := fleet.Cluster("main").Objects
	create := func(apiVersion, kind, namespace, name string, spec map[string]any) kube.Ref {
		obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name}, "spec": spec}}
		obj.SetNamespace(namespace)
		_, err := objects.Create(t.Context(), obj)
		require.NoError(t, err)
		return kube.RefOf(obj)
	}
	address := func(ref kube.Ref) string {
		live, err := objects.Get(t.Context(), ref)
		require.NoError(t, err)
		list, _, _ := unstructured.NestedSlice(live.Object, "status", "loadBalancer", "ingress")
		if len(list) == 0 {
			return ""
		}
		entry, _ := list[0].(map[string]any)
		name, _ := entry["hostname"].(string)
		return name
	}
	create("networking.k8s.io/v1", "IngressClass", "", "nginx", map[string]any{"controller": "k8s.io/ingress-nginx"})
	backend := map[string]any{"service": map[string]any{"name": "web", "port": map[string]any{"number": int64(80)}}}
	served := create("networking.k8s.io/v1", "Ingress", "default", "served", map[string]any{"ingressClassName": "nginx", "defaultBackend": backend})
	unserved := create("networking.k8s.io/v1", "Ingress", "default", "unserved", map[string]any{"ingressClassName": "alb", "defaultBackend": backend})
	require.NoError(t, objects.Wait(t.Context(), kube.WaitRequest{Refs: []kube.Ref{served}, Until: func(obj *unstructured.Unstructured) (bool, string) {
		return obj != nil && address(served) != "", "no address"
	}}))
	assert.Equal(t, "ingress.default.main.example", address(served))
	assert.Empty(t, address(unserved))
}
