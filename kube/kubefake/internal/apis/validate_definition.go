package apis

import (
	"fmt"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateDefinition(d *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	if want := d.Spec.Names.Plural + "." + d.Spec.Group; d.Name != want {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), d.Name, `must be spec.names.plural+"."+spec.group`))
	}
	for _, message := range validation.IsDNS1123Subdomain(d.Spec.Group) {
		errs = append(errs, field.Invalid(spec.Child("group"), d.Spec.Group, message))
	}
	switch d.Spec.Scope {
	case apiextensionsv1.ClusterScoped, apiextensionsv1.NamespaceScoped:
	case "":
		errs = append(errs, field.Required(spec.Child("scope"), ""))
	default:
		errs = append(errs, field.NotSupported(spec.Child("scope"), d.Spec.Scope, []apiextensionsv1.ResourceScope{apiextensionsv1.ClusterScoped, apiextensionsv1.NamespaceScoped}))
	}
	names := spec.Child("names")
	for _, n := range []struct{ field, value string }{{"plural", d.Spec.Names.Plural}, {"singular", d.Spec.Names.Singular}, {"kind", d.Spec.Names.Kind}, {"listKind", d.Spec.Names.ListKind}} {
		if n.value == "" {
			errs = append(errs, field.Required(names.Child(n.field), ""))
		}
	}
	stored := 0
	for i, v := range d.Spec.Versions {
		at := spec.Child("versions").Index(i)
		for _, message := range validation.IsDNS1035Label(v.Name) {
			errs = append(errs, field.Invalid(at.Child("name"), v.Name, message))
		}
		if v.Storage {
			stored++
		}
		errs = append(errs, validateSchema(v.Schema, at.Child("schema", "openAPIV3Schema"))...)
	}
	if stored != 1 {
		errs = append(errs, field.Invalid(spec.Child("versions"), fmt.Sprintf("%d storage versions", stored), "must have exactly one version marked as storage version"))
	}
	if len(d.Status.StoredVersions) == 0 {
		errs = append(errs, field.Invalid(field.NewPath("status", "storedVersions"), d.Status.StoredVersions, "must have at least one stored version"))
	}
	return errs
}

func validateSchema(v *apiextensionsv1.CustomResourceValidation, path *field.Path) field.ErrorList {
	if v == nil || v.OpenAPIV3Schema == nil {
		return field.ErrorList{field.Required(path, "")}
	}
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.OpenAPIV3Schema, internal, nil); err != nil {
		return field.ErrorList{field.Invalid(path, "", err.Error())}
	}
	structural, err := structuralschema.NewStructural(internal)
	if err != nil {
		return field.ErrorList{field.Invalid(path, "", err.Error())}
	}
	return structuralschema.ValidateStructural(path, structural)
}

func validateDefinitionChange(d, old *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	if d.Spec.Group != old.Spec.Group {
		errs = append(errs, field.Invalid(spec.Child("group"), d.Spec.Group, "field is immutable"))
	}
	if d.Spec.Scope != old.Spec.Scope {
		errs = append(errs, field.Invalid(spec.Child("scope"), d.Spec.Scope, "field is immutable"))
	}
	if d.Spec.Names.Plural != old.Spec.Names.Plural {
		errs = append(errs, field.Invalid(spec.Child("names", "plural"), d.Spec.Names.Plural, "field is immutable"))
	}
	if d.Spec.Names.Kind != old.Spec.Names.Kind {
		errs = append(errs, field.Invalid(spec.Child("names", "kind"), d.Spec.Names.Kind, "field is immutable"))
	}
	return errs
}
