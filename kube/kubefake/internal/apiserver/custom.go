package apiserver

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/planewright/planewright/kube/kubefake/internal/apis"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// customKind is what a CustomResourceDefinition says of one version of its kind.
type customKind struct {
	// versions are the versions that are served, storage tells whether
	// objects are kept at this one, established whether it is served by now.
	versions             []string
	storage, established bool
	schema               func() (*customSchema, error)
}

// define takes over what a CustomResourceDefinition says, nil for one that is gone.
func (s *Server) define(old, crd *apiextensionsv1.CustomResourceDefinition) {
	if crd == nil {
		resource := schema.GroupResource{Group: old.Spec.Group, Resource: old.Spec.Names.Plural}
		delete(s.custom, resource)
		delete(s.tables, resource)
		return
	}
	if old != nil && reflect.DeepEqual(old.Spec, crd.Spec) && established(old) == established(crd) {
		return
	}
	versions := map[string]*kind{}
	var served []string
	for _, v := range crd.Spec.Versions {
		if v.Served {
			served = append(served, v.Name)
		}
	}
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		names := crd.Spec.Names
		k := &kind{
			Resource: &apis.Resource{
				Group: crd.Spec.Group, Version: v.Name, Kind: names.Kind, Plural: names.Plural, Singular: names.Singular,
				ShortNames: names.ShortNames, Categories: names.Categories,
				Namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
				Status:     v.Subresources != nil && v.Subresources.Status != nil,
				Verbs:      []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"},
			},
			custom: &customKind{
				versions: served, storage: v.Storage, established: established(crd) && v.Served,
				schema: sync.OnceValues(func() (*customSchema, error) { return newCustomSchema(crd, v) }),
			},
		}
		versions[v.Name] = k
	}
	s.custom[schema.GroupResource{Group: crd.Spec.Group, Resource: crd.Spec.Names.Plural}] = versions
}

func established(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	})
}

// stored is the kind at the version that objects are kept in.
func (k *kind) stored(s *Server) *kind {
	if k.custom == nil || k.custom.storage {
		return k
	}
	for _, other := range s.custom[k.GroupResource()] {
		if other.custom.storage {
			return other
		}
	}
	return k
}

// in returns the object at this version of the kind. Versions differ in name
// only: conversion webhooks are not called.
func (k *kind) in(obj Object) Object {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok || u.GetAPIVersion() == k.GroupVersion().String() {
		return obj
	}
	converted := &unstructured.Unstructured{Object: make(map[string]any, len(u.Object))}
	for key, value := range u.Object {
		converted.Object[key] = value
	}
	converted.SetAPIVersion(k.GroupVersion().String())
	return converted
}

// at encodes a record at this version of the kind.
func (k *kind) at(rec *record) ([]byte, error) {
	if obj := k.in(rec.obj); obj != rec.obj {
		b, err := json.Marshal(obj)
		return trimNewline(b), err
	}
	return rec.encoded()
}

func (c *customKind) types() (managedfields.TypeConverter, error) {
	cs, err := c.schema()
	if err != nil {
		return nil, err
	}
	return cs.types, nil
}

func (c *customKind) setDefaults(obj runtime.Object) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		if cs, err := c.schema(); err == nil {
			cs.setDefaults(u.Object)
		}
	}
}

// prune drops the fields that the schema does not have and names them.
func (c *customKind) prune(u *unstructured.Unstructured) (unknown []error) {
	normalizeMetadata(u)
	cs, err := c.schema()
	if err != nil {
		return nil
	}
	for _, path := range cs.prune(u.Object) {
		unknown = append(unknown, fmt.Errorf("unknown field %q", path))
	}
	cs.setDefaults(u.Object)
	return unknown
}

// normalizeMetadata drops nulls and unknown fields from the metadata.
func normalizeMetadata(u *unstructured.Unstructured) {
	metadata, ok := u.Object["metadata"].(map[string]any)
	if !ok {
		return
	}
	var typed metav1.ObjectMeta
	if runtime.DefaultUnstructuredConverter.FromUnstructured(metadata, &typed) != nil {
		return
	}
	normal, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&typed)
	if err != nil {
		return
	}
	if normal["creationTimestamp"] == nil {
		delete(normal, "creationTimestamp")
	}
	u.Object["metadata"] = normal
}

func (k *kind) prepareCustom(obj Object) field.ErrorList {
	u := obj.(*unstructured.Unstructured)
	if k.Status {
		delete(u.Object, "status")
	}
	errs := apivalidation.ValidateObjectMetaAccessor(u, k.Namespaced, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	return append(errs, k.validateCustom(u)...)
}

func (k *kind) prepareCustomUpdate(obj, old Object, subresource string) field.ErrorList {
	u, before := obj.(*unstructured.Unstructured), old.(*unstructured.Unstructured)
	switch {
	case subresource == "status":
		status, had := u.Object["status"]
		fields := u.GetManagedFields()
		u.Object = runtime.DeepCopyJSON(before.Object)
		u.SetManagedFields(fields)
		if had {
			u.Object["status"] = status
		} else {
			delete(u.Object, "status")
		}
	case k.Status:
		if status, ok := before.Object["status"]; ok {
			u.Object["status"] = runtime.DeepCopyJSONValue(status)
		} else {
			delete(u.Object, "status")
		}
	}
	if subresource != "status" && !reflect.DeepEqual(content(u, k.Status), content(before, k.Status)) {
		u.SetGeneration(before.GetGeneration() + 1)
	}
	errs := apivalidation.ValidateObjectMetaAccessorUpdate(u, before, field.NewPath("metadata"))
	errs = append(errs, apivalidation.ValidateObjectMetaAccessor(u, k.Namespaced, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))...)
	return append(errs, k.validateCustom(u)...)
}

// content is what raises the generation when it changes: all but metadata and,
// if it is a subresource, status.
func content(u *unstructured.Unstructured, status bool) map[string]any {
	m := make(map[string]any, len(u.Object))
	for key, value := range u.Object {
		if key != "metadata" && (key != "status" || !status) {
			m[key] = value
		}
	}
	return m
}

func (k *kind) validateCustom(u *unstructured.Unstructured) field.ErrorList {
	if k.custom == nil {
		return nil
	}
	cs, err := k.custom.schema()
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	return cs.validate(u.Object)
}

// fieldPath turns the dotted path of a schema error into one for clients.
func fieldPath(path string) *field.Path {
	path = strings.TrimPrefix(path, ".")
	if path == "" {
		return nil
	}
	return field.NewPath(path)
}
