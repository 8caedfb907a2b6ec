package apiserver

import (
	"cmp"
	"fmt"

	"github.com/planewright/planewright/kube/kubefake/internal/apis"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// decode reads the request's body as an object of the kind. Fields that the
// kind does not have are dropped and, as the request asks for it, ignored,
// warned of or refused.
func (r *Request) decode(k *kind, body []byte) (Object, []string, error) {
	obj, unknown, err := decodeObject(k, body)
	if err != nil || len(unknown) == 0 {
		return obj, nil, err
	}
	switch r.query.Get("fieldValidation") {
	case metav1.FieldValidationIgnore:
		return obj, nil, nil
	case metav1.FieldValidationStrict:
		return nil, nil, decodeError(k, k.GroupVersionKind(), runtime.NewStrictDecodingError(unknown))
	}
	warnings := make([]string, len(unknown))
	for i, u := range unknown {
		warnings[i] = u.Error()
	}
	return obj, warnings, nil
}

// decodeObject reads JSON, YAML or protobuf. What the kind has no field for
// is listed as unknown.
func decodeObject(k *kind, body []byte) (_ Object, unknown []error, _ error) {
	gvk := k.GroupVersionKind()
	obj, err := decodeAny(k, body)
	if strict, ok := runtime.AsStrictDecodingError(err); ok && obj != nil {
		unknown = strict.Errors()
	} else if err != nil {
		return nil, nil, decodeError(k, typeIn(body, gvk), err)
	}
	if found := obj.GetObjectKind().GroupVersionKind(); !found.Empty() && found != gvk {
		if found.GroupVersion() != gvk.GroupVersion() {
			return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", found.GroupVersion(), gvk.GroupVersion()))
		}
		if k.custom != nil {
			return nil, nil, apierrors.NewInvalid(found.GroupKind(), obj.(Object).GetName(), field.ErrorList{
				field.Invalid(field.NewPath("kind"), found.Kind, "must be "+gvk.Kind),
			})
		}
		return nil, nil, decodeError(k, found, fmt.Errorf("converting (%s.%s) to (%s.%s): unknown conversion", found.Version, found.Kind, cmp.Or(gvk.Group, "core"), gvk.Kind))
	}
	o, ok := obj.(Object)
	if !ok {
		return nil, nil, decodeError(k, gvk, fmt.Errorf("%T carries no metadata", obj))
	}
	o.GetObjectKind().SetGroupVersionKind(gvk)
	if k.typed {
		apis.Normalize(o)
	}
	if k.custom != nil {
		unknown = append(unknown, k.custom.prune(o.(*unstructured.Unstructured))...)
	}
	return o, unknown, nil
}

// typeIn is the type that a body claims to be of.
func typeIn(body []byte, otherwise schema.GroupVersionKind) schema.GroupVersionKind {
	var claimed metav1.TypeMeta
	if yaml.Unmarshal(body, &claimed) != nil || claimed.Kind == "" || claimed.APIVersion == "" {
		return otherwise
	}
	return claimed.GroupVersionKind()
}

func decodeAny(k *kind, body []byte) (runtime.Object, error) {
	gvk := k.GroupVersionKind()
	if k.typed {
		obj, _, err := apis.Decoder().Decode(body, &gvk, nil)
		return obj, err
	}
	u := &unstructured.Unstructured{}
	json, err := yaml.ToJSON(body)
	if err != nil {
		return nil, err
	}
	return u, u.UnmarshalJSON(json)
}

func decodeError(k *kind, found schema.GroupVersionKind, err error) error {
	return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", found.Kind, found.Version, k.Kind, err))
}

// deleteOptions reads what a delete is asked to heed, from the body or the query.
func (r *Request) deleteOptions() (*metav1.DeleteOptions, error) {
	options := &metav1.DeleteOptions{}
	if len(r.body) > 0 {
		gvk := metav1.SchemeGroupVersion.WithKind("DeleteOptions")
		if _, _, err := apis.Decoder().Decode(r.body, &gvk, options); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return options, nil
	}
	if err := metav1.Convert_url_Values_To_v1_DeleteOptions(&r.query, options, nil); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return options, nil
}

// normalize brings an object that did not come over the wire into the form of
// one that did.
func normalize(k *kind, obj Object) {
	obj.GetObjectKind().SetGroupVersionKind(k.GroupVersionKind())
	if k.typed {
		apis.Normalize(obj)
	} else if u, ok := obj.(*unstructured.Unstructured); ok && k.custom != nil {
		k.custom.prune(u)
	}
}
