package e2e_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
)

// snapshot is every object of a cluster that outlives the moment, by kind,
// namespace and name, without what differs from run to run.
type snapshot map[string]map[string]any

// passing are kinds that the cluster itself makes and unmakes all the time.
var passing = []string{"Event", "Lease", "Node", "Pod", "ReplicaSet", "EndpointSlice", "Endpoints", "ControllerRevision", "CSINode", "APIService",
	"FlowSchema", "PriorityLevelConfiguration", "IPAddress", "ServiceCIDR", "ComponentStatus"}

// takeSnapshot reads everything in a cluster.
func takeSnapshot(t *testing.T, cluster string) snapshot {
	t.Helper()
	config, err := world.stack.RESTConfig(cluster)
	require.NoError(t, err)
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	require.NoError(t, err)
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	lists, err := disco.ServerPreferredResources()
	require.NoError(t, err)
	s := snapshot{}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		require.NoError(t, err)
		for _, r := range list.APIResources {
			if !slices.Contains(r.Verbs, "list") || slices.Contains(passing, r.Kind) {
				continue
			}
			objects, err := client.Resource(gv.WithResource(r.Name)).List(context.Background(), metav1.ListOptions{})
			require.NoError(t, err)
			for _, o := range objects.Items {
				s[o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName()] = lasting(&o)
			}
		}
	}
	return s
}

// lasting returns the object without identities, versions, times and status.
func lasting(o *unstructured.Unstructured) map[string]any {
	o = o.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "deletionTimestamp"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(o.Object, "status")
	annotations := o.GetAnnotations()
	delete(annotations, "deployment.kubernetes.io/revision")
	o.SetAnnotations(annotations)
	switch o.GetKind() {
	case "Service":
		unstructured.RemoveNestedField(o.Object, "spec", "clusterIP")
		unstructured.RemoveNestedField(o.Object, "spec", "clusterIPs")
		ports, _, _ := unstructured.NestedSlice(o.Object, "spec", "ports")
		for _, port := range ports {
			if p, ok := port.(map[string]any); ok {
				delete(p, "nodePort")
			}
		}
		_ = unstructured.SetNestedSlice(o.Object, ports, "spec", "ports")
	case "Secret":
		if strings.HasPrefix(o.GetName(), "sh.helm.release.v1.") {
			// A record holds times, and its number counts the attempts; the
			// tests look at the latest record through helm.
			return map[string]any{"kind": "Secret"}
		}
		if o.Object["type"] == "kubernetes.io/service-account-token" || o.GetName() == "cluster-credentials" {
			// Tokens are new in every installation.
			annotations := o.GetAnnotations()
			delete(annotations, "kubernetes.io/service-account.uid")
			o.SetAnnotations(annotations)
			data, _, _ := unstructured.NestedMap(o.Object, "data")
			for key := range data {
				_ = unstructured.SetNestedField(o.Object, "", "data", key)
			}
		}
	}
	return o.Object
}

// keys returns the names of the objects, sorted.
func (s snapshot) keys() []string {
	keys := make([]string, 0, len(s))
	for k := range s {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// without returns the snapshot without what is in the other, by name.
func (s snapshot) without(other snapshot) snapshot {
	rest := snapshot{}
	for k, v := range s {
		if _, ok := other[k]; !ok {
			rest[k] = v
		}
	}
	return rest
}
