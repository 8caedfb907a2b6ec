package apiserver

import (
	"fmt"
	"sync"

	"github.com/planewright/planewright/kube/kubefake/internal/apis"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// builtinTypes knows how the fields of built-in kinds merge. Parsing their
// schema takes a tenth of a second, so a process does it once.
var builtinTypes = sync.OnceValue(func() managedfields.TypeConverter { //nolint:gochecknoglobals // made once, never changed
	return applyconfigurations.NewTypeConverter(apis.Scheme())
})

// newFieldManager makes the real server's field manager for a kind.
func newFieldManager(k *kind, subresource string) (*managedfields.FieldManager, error) {
	converter := fieldConverter{k}
	gvk := k.GroupVersionKind()
	reset := map[fieldpath.APIVersion]fieldpath.Filter{}
	version := fieldpath.APIVersion(k.GroupVersion().String())
	switch {
	case subresource == "status":
		reset[version] = fieldpath.NewExcludeSetFilter(fieldpath.NewSet(fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata")))
	case k.Status:
		reset[version] = fieldpath.NewExcludeSetFilter(fieldpath.NewSet(fieldpath.MakePathOrDie("status")))
	}
	if k.typed && k.Group != "apiextensions.k8s.io" {
		return managedfields.NewDefaultFieldManager(builtinTypes(), converter, converter, converter, gvk, k.GroupVersion(), subresource, reset)
	}
	types := managedfields.NewDeducedTypeConverter()
	if k.custom != nil {
		var err error
		if types, err = k.custom.types(); err != nil {
			return nil, err
		}
	}
	return managedfields.NewDefaultCRDFieldManager(types, converter, converter, converter, gvk, k.GroupVersion(), subresource, reset)
}

// managed notes in the object which fields the manager changes. An object that
// does not fit its schema keeps the notes it had; validation refuses it later.
func managed(fields *managedfields.FieldManager, old, obj Object, manager string) Object {
	updated, err := fields.Update(old, obj, manager)
	if err != nil {
		obj.SetManagedFields(old.GetManagedFields())
		return obj
	}
	return updated.(Object)
}

// fieldConverter gives the field manager objects of the kind's own type,
// whatever it made of them. Every kind has one version, so no conversion
// changes content.
type fieldConverter struct{ kind *kind }

// New implements [runtime.ObjectCreater].
func (c fieldConverter) New(schema.GroupVersionKind) (runtime.Object, error) {
	return c.kind.newObject(), nil
}

// Default implements [runtime.ObjectDefaulter].
func (c fieldConverter) Default(obj runtime.Object) {
	if c.kind.typed {
		apis.Normalize(obj)
	} else if c.kind.custom != nil {
		c.kind.custom.setDefaults(obj)
	}
}

// ConvertToVersion implements [runtime.ObjectConvertor].
func (c fieldConverter) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	if gvk, ok := target.KindForGroupVersionKinds([]schema.GroupVersionKind{c.kind.GroupVersionKind()}); !ok || gvk != c.kind.GroupVersionKind() {
		return nil, runtime.NewNotRegisteredErrForTarget("kubefake", nil, target)
	}
	u, ok := in.(*unstructured.Unstructured)
	if !ok || !c.kind.typed {
		return in, nil
	}
	out := c.kind.newObject()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, out); err != nil {
		return nil, err
	}
	out.GetObjectKind().SetGroupVersionKind(c.kind.GroupVersionKind())
	return out, nil
}

// Convert implements [runtime.ObjectConvertor].
func (c fieldConverter) Convert(in, out, _ any) error {
	return fmt.Errorf("converting %T to %T is not supported", in, out)
}

// ConvertFieldLabel implements [runtime.ObjectConvertor].
func (c fieldConverter) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}
