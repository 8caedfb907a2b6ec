package apiserver

import (
	"errors"
	"fmt"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// customSchema is the schema of one version of a custom kind, ready for use.
type customSchema struct {
	structural *structuralschema.Structural
	validator  *validate.SchemaValidator
	types      managedfields.TypeConverter
}

func newCustomSchema(crd *apiextensionsv1.CustomResourceDefinition, v *apiextensionsv1.CustomResourceDefinitionVersion) (*customSchema, error) {
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return nil, fmt.Errorf("version %s of %s has no schema", v.Name, crd.Name)
	}
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, internal, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(internal)
	if err != nil {
		return nil, err
	}
	types, err := customTypes(crd, v.Name, structural.ToKubeOpenAPI())
	if err != nil {
		return nil, err
	}
	return &customSchema{
		structural: structural,
		validator:  validate.NewSchemaValidator(structural.ToKubeOpenAPI(), nil, "", strfmt.Default),
		types:      types,
	}, nil
}

// customTypes tells how the fields of a custom kind merge: as its schema says,
// and its metadata like any other.
func customTypes(crd *apiextensionsv1.CustomResourceDefinition, version string, root *spec.Schema) (managedfields.TypeConverter, error) {
	const meta = "ObjectMeta"
	if root.Properties == nil {
		root.Properties = map[string]spec.Schema{}
	}
	root.Type = spec.StringOrArray{"object"}
	root.Properties["apiVersion"] = *spec.StringProperty()
	root.Properties["kind"] = *spec.StringProperty()
	root.Properties["metadata"] = *spec.RefSchema("#/definitions/" + meta)
	root.AddExtension("x-kubernetes-group-version-kind", []any{
		map[string]any{"group": crd.Spec.Group, "version": version, "kind": crd.Spec.Names.Kind},
	})
	return managedfields.NewTypeConverter(map[string]*spec.Schema{crd.Spec.Names.Kind + "." + version: root, meta: objectMeta()}, false)
}

// objectMeta is the part of the metadata's schema that says how it merges.
func objectMeta() *spec.Schema {
	text := func() *spec.Schema { return spec.StringProperty() }
	dictionary := spec.MapProperty(text())
	finalizers := spec.ArrayProperty(text())
	finalizers.AddExtension("x-kubernetes-list-type", "set")
	owner := &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}, Properties: map[string]spec.Schema{
		"apiVersion": *text(), "kind": *text(), "name": *text(), "uid": *text(),
		"controller": *spec.BooleanProperty(), "blockOwnerDeletion": *spec.BooleanProperty(),
	}}}
	owner.AddExtension("x-kubernetes-map-type", "atomic")
	owners := spec.ArrayProperty(owner)
	owners.AddExtension("x-kubernetes-list-type", "map")
	owners.AddExtension("x-kubernetes-list-map-keys", []any{"uid"})
	managed := spec.ArrayProperty(&spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}}})
	managed.AddExtension("x-kubernetes-list-type", "atomic")
	return &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}, Properties: map[string]spec.Schema{
		"name": *text(), "generateName": *text(), "namespace": *text(), "selfLink": *text(), "uid": *text(),
		"resourceVersion": *text(), "generation": *spec.Int64Property(),
		"creationTimestamp": *text(), "deletionTimestamp": *text(), "deletionGracePeriodSeconds": *spec.Int64Property(),
		"labels": *dictionary, "annotations": *dictionary,
		"ownerReferences": *owners, "finalizers": *finalizers, "managedFields": *managed,
	}}}
}

func (c *customSchema) prune(obj map[string]any) []string {
	return pruning.PruneWithOptions(obj, c.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
}

func (c *customSchema) setDefaults(obj map[string]any) { setDefaults(obj, c.structural) }

// setDefaults fills in what the schema has a default for, and drops nulls
// where the schema allows none.
func setDefaults(value any, s *structuralschema.Structural) {
	if s == nil {
		return
	}
	switch v := value.(type) {
	case map[string]any:
		for name, property := range s.Properties {
			if given, ok := v[name]; property.Default.Object != nil && (!ok || given == nil && !property.Nullable) {
				v[name] = runtime.DeepCopyJSONValue(property.Default.Object)
			}
		}
		for name, given := range v {
			property := propertyOf(s, name)
			if given == nil && property != nil && !property.Nullable {
				delete(v, name)
				continue
			}
			setDefaults(given, property)
		}
	case []any:
		for _, item := range v {
			setDefaults(item, s.Items)
		}
	}
}

func propertyOf(s *structuralschema.Structural, name string) *structuralschema.Structural {
	if property, ok := s.Properties[name]; ok {
		return &property
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Structural
	}
	return nil
}

func (c *customSchema) validate(obj map[string]any) field.ErrorList {
	var errs field.ErrorList
	for _, err := range c.validator.Validate(obj).Errors {
		var v *openapierrors.Validation
		if !errors.As(err, &v) {
			errs = append(errs, field.Invalid(nil, "", err.Error()))
			continue
		}
		path := fieldPath(v.Name)
		switch v.Code() {
		case openapierrors.RequiredFailCode:
			errs = append(errs, field.Required(path, ""))
		case openapierrors.EnumFailCode:
			errs = append(errs, field.NotSupported(path, v.Value, texts(v.Values)))
		case openapierrors.InvalidTypeCode:
			errs = append(errs, field.TypeInvalid(path, v.Value, err.Error()))
		default:
			errs = append(errs, field.Invalid(path, v.Value, err.Error()))
		}
	}
	return errs
}

func texts(values []any) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = fmt.Sprint(v)
	}
	return list
}
