package apiserver

import (
	"sync"

	"github.com/planewright/planewright/kube/kubefake/internal/apis"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// kind is one kind that is served, at the one version it is stored in.
type kind struct {
	*apis.Resource
	// typed tells that the kind has a Go type; the others are unstructured.
	typed bool
	// custom is set for the kinds that a CustomResourceDefinition brings.
	custom *customKind

	managers sync.Map // subresource → func() (*managedfields.FieldManager, error)
}

func newKind(r *apis.Resource) *kind {
	return &kind{Resource: r, typed: apis.Scheme().Recognizes(r.GroupVersionKind())}
}

// newObject returns an empty object of the kind.
func (k *kind) newObject() Object {
	gvk := k.GroupVersionKind()
	if k.typed {
		obj, err := apis.Scheme().New(gvk)
		if err == nil {
			o := obj.(Object)
			o.GetObjectKind().SetGroupVersionKind(gvk)
			return o
		}
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u
}

// fields returns the manager of the kind's fields for the main resource ("")
// or a subresource. It is built at first use.
func (k *kind) fields(subresource string) (*managedfields.FieldManager, error) {
	if f, ok := k.managers.Load(subresource); ok {
		return f.(*managedfields.FieldManager), nil
	}
	f, err := newFieldManager(k, subresource)
	if err != nil {
		return nil, err
	}
	k.managers.Store(subresource, f)
	return f, nil
}

// builtin are the kinds that every server serves. They hold nothing of a
// cluster, so all servers share them.
var builtin = sync.OnceValue(func() map[schema.GroupResource]*kind { //nolint:gochecknoglobals // made once, never changed
	m := map[schema.GroupResource]*kind{}
	for _, r := range apis.Builtin() {
		m[r.GroupResource()] = newKind(r)
	}
	return m
})
