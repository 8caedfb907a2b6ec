package kubefake

import (
	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Objects returns all that a cluster holds, by kind, namespace and name, past
// permissions, faults and the call log: what a test compares. It panics if
// there is no cluster of that name.
func (f *Fleet) Objects(cluster string) []*unstructured.Unstructured {
	var objects []*unstructured.Unstructured
	f.cluster(cluster).server.Do(func(tx apiserver.Tx) {
		tx.All(func(obj apiserver.Object) {
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj.DeepCopyObject())
			if err == nil {
				objects = append(objects, &unstructured.Unstructured{Object: content})
			}
		})
	})
	return objects
}
