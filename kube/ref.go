package kube

import (
	"github.com/planewright/planewright"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Ref names one object of a cluster.
type Ref struct {
	// APIVersion and Kind are as in a manifest: "apps/v1", "Deployment".
	APIVersion, Kind string
	// Namespace is empty for what is not namespaced.
	Namespace, Name string
}

// RefOf returns the name of an object.
func RefOf(obj *unstructured.Unstructured) Ref {
	return Ref{APIVersion: obj.GetAPIVersion(), Kind: obj.GetKind(), Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// GroupVersionKind returns the type of the object.
func (r Ref) GroupVersionKind() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(r.APIVersion, r.Kind)
}

// In returns the object's name across clusters.
func (r Ref) In(cluster string) planewright.Object {
	return planewright.Object{Cluster: cluster, APIVersion: r.APIVersion, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
}

// String prints kind, namespace and name: "Secret flyte/db".
func (r Ref) String() string { return r.In("").String() }
