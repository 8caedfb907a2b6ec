package flyte_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// stateKinds are the kinds of objects that an install can leave behind.
var stateKinds = [...]kube.ListRequest{
	{APIVersion: "v1", Kind: "Namespace"},
	{APIVersion: "v1", Kind: "Secret"},
	{APIVersion: "v1", Kind: "ConfigMap"},
	{APIVersion: "v1", Kind: "Service"},
	{APIVersion: "v1", Kind: "ServiceAccount"},
	{APIVersion: "apps/v1", Kind: "Deployment"},
	{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole"},
	{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRoleBinding"},
	{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"},
	{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
}

// state returns every object of the cluster as text, by its name, without what
// differs from run to run: uids, versions, times, and the packed content of Helm's records.
func (w world) state(tb testing.TB) map[string]string {
	tb.Helper()
	all := map[string]string{}
	for _, request := range stateKinds {
		list, err := w.fleet.Cluster("main").Objects.List(tb.Context(), request)
		require.NoError(tb, err)
		for _, obj := range list {
			all[kube.RefOf(obj).String()] = stable(tb, obj)
		}
	}
	return all
}

func stable(tb testing.TB, obj *unstructured.Unstructured) string {
	tb.Helper()
	obj = obj.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields", "generation"} {
		unstructured.RemoveNestedField(obj.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(obj.Object, "status")
	unstructured.RemoveNestedField(obj.Object, "spec", "clusterIP")
	unstructured.RemoveNestedField(obj.Object, "spec", "clusterIPs")
	if obj.GetKind() == "Secret" && obj.GetLabels()["owner"] == "helm" {
		unstructured.RemoveNestedField(obj.Object, "data")
		for _, label := range []string{"modifiedAt", "createdAt"} {
			unstructured.RemoveNestedField(obj.Object, "metadata", "labels", label)
		}
	}
	text, err := json.Marshal(obj.Object)
	require.NoError(tb, err)
	return string(text)
}

// names returns the names of the objects, sorted.
func names(state map[string]string) []string { return slices.Sorted(maps.Keys(state)) }

// get reads an object of the cluster.
func (w world) get(tb testing.TB, apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	tb.Helper()
	obj, err := w.cluster.Objects.Get(tb.Context(), kube.Ref{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name})
	require.NoError(tb, err)
	return obj
}

// create makes an object as somebody else would.
func (w world) create(tb testing.TB, object map[string]any) {
	tb.Helper()
	_, err := w.cluster.Objects.Create(tb.Context(), &unstructured.Unstructured{Object: object})
	require.NoError(tb, err)
}

func metadata(namespace, name string) map[string]any {
	m := map[string]any{"name": name}
	if namespace != "" {
		m["namespace"] = namespace
	}
	return m
}

// podAnnotations returns the annotations of Flyte's pods.
func (w world) podAnnotations(tb testing.TB) map[string]string {
	tb.Helper()
	annotations, _, _ := unstructured.NestedStringMap(w.get(tb, "apps/v1", "Deployment", "flyte", "flyte-backend-flyte-binary").Object,
		"spec", "template", "metadata", "annotations")
	return annotations
}
