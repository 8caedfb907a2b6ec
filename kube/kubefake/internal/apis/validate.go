package apis

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateCreate checks a new object.
func ValidateCreate(obj Object, r *Resource) field.ErrorList {
	return apivalidation.ValidateObjectMetaAccessor(obj, r.Namespaced, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
}

// ValidateUpdate checks the new state of an object against the old one.
func ValidateUpdate(obj, old Object, r *Resource) field.ErrorList {
	return append(apivalidation.ValidateObjectMetaAccessorUpdate(obj, old, field.NewPath("metadata")), ValidateCreate(obj, r)...)
}
