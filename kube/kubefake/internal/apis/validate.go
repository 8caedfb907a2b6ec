package apis

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateCreate checks a new object.
func ValidateCreate(obj Object, r *Resource) field.ErrorList {
	errs := apivalidation.ValidateObjectMetaAccessor(obj, r.Namespaced, nameRule(r), field.NewPath("metadata"))
	return append(errs, validate(obj)...)
}

// ValidateUpdate checks the new state of an object against the old one.
func ValidateUpdate(obj, old Object, r *Resource) field.ErrorList {
	errs := apivalidation.ValidateObjectMetaAccessorUpdate(obj, old, field.NewPath("metadata"))
	errs = append(errs, validateChange(obj, old)...)
	return append(errs, validate(obj)...)
}

// nameRule is what a name of the kind must look like.
func nameRule(r *Resource) apivalidation.ValidateNameFunc {
	switch r.Group {
	case "":
		switch r.Kind {
		case "Namespace":
			return apivalidation.NameIsDNSLabel
		case "Service":
			return func(name string, _ bool) []string { return content.IsDNS1123Label(name) }
		}
	case "rbac.authorization.k8s.io":
		return func(name string, prefix bool) []string {
			if prefix {
				return content.IsPathSegmentPrefix(name)
			}
			return content.IsPathSegmentName(name)
		}
	}
	return apivalidation.NameIsDNSSubdomain
}

// validate checks an object's content, as far as charts get it wrong.
func validate(obj Object) field.ErrorList {
	spec := field.NewPath("spec")
	switch o := obj.(type) {
	case *corev1.Secret:
		return validateSecret(o)
	case *corev1.ConfigMap:
		return validateConfigMap(o)
	case *corev1.Service:
		return validateService(o)
	case *corev1.Pod:
		return validatePodSpec(&o.Spec, spec)
	case *corev1.PersistentVolumeClaim:
		return validateClaim(&o.Spec, spec)
	case *appsv1.Deployment:
		return validateDeployment(o)
	case *appsv1.ReplicaSet:
		return validateReplicated(o.Spec.Replicas, o.Spec.Selector, &o.Spec.Template)
	case *appsv1.StatefulSet:
		return validateReplicated(o.Spec.Replicas, o.Spec.Selector, &o.Spec.Template)
	case *appsv1.DaemonSet:
		return validateReplicated(nil, o.Spec.Selector, &o.Spec.Template)
	case *batchv1.Job:
		return validateJobTemplate(&o.Spec.Template, spec.Child("template"))
	case *batchv1.CronJob:
		return validateCronJob(o)
	case *networkingv1.Ingress:
		return validateIngress(o)
	case *rbacv1.Role:
		return validateRules(o.Rules, true)
	case *rbacv1.ClusterRole:
		return validateRules(o.Rules, false)
	case *rbacv1.RoleBinding:
		return validateBinding(o.RoleRef, o.Subjects, true)
	case *rbacv1.ClusterRoleBinding:
		return validateBinding(o.RoleRef, o.Subjects, false)
	case *coordinationv1.Lease:
		if d := o.Spec.LeaseDurationSeconds; d != nil && *d <= 0 {
			return field.ErrorList{field.Invalid(spec.Child("leaseDurationSeconds"), *d, "must be greater than 0")}
		}
	case *storagev1.StorageClass:
		if o.Provisioner == "" {
			return field.ErrorList{field.Required(field.NewPath("provisioner"), "")}
		}
	case *apiextensionsv1.CustomResourceDefinition:
		return validateDefinition(o)
	}
	return nil
}

// validateChange checks what may not change.
func validateChange(obj, old Object) field.ErrorList {
	spec := field.NewPath("spec")
	switch o := obj.(type) {
	case *corev1.Secret:
		return validateSecretChange(o, old.(*corev1.Secret))
	case *corev1.ConfigMap:
		return validateConfigMapChange(o, old.(*corev1.ConfigMap))
	case *corev1.Service:
		return validateServiceChange(o, old.(*corev1.Service))
	case *corev1.Pod:
		return validatePodChange(o, old.(*corev1.Pod))
	case *corev1.PersistentVolumeClaim:
		return validateClaimChange(o, old.(*corev1.PersistentVolumeClaim))
	case *appsv1.Deployment:
		return apivalidation.ValidateImmutableField(o.Spec.Selector, old.(*appsv1.Deployment).Spec.Selector, spec.Child("selector"))
	case *appsv1.ReplicaSet:
		return apivalidation.ValidateImmutableField(o.Spec.Selector, old.(*appsv1.ReplicaSet).Spec.Selector, spec.Child("selector"))
	case *appsv1.DaemonSet:
		return apivalidation.ValidateImmutableField(o.Spec.Selector, old.(*appsv1.DaemonSet).Spec.Selector, spec.Child("selector"))
	case *appsv1.StatefulSet:
		return validateStatefulSetChange(o, old.(*appsv1.StatefulSet))
	case *batchv1.Job:
		return validateJobChange(o, old.(*batchv1.Job))
	case *rbacv1.RoleBinding:
		return validateRoleRefChange(o.RoleRef, old.(*rbacv1.RoleBinding).RoleRef)
	case *rbacv1.ClusterRoleBinding:
		return validateRoleRefChange(o.RoleRef, old.(*rbacv1.ClusterRoleBinding).RoleRef)
	case *storagev1.StorageClass:
		return validateStorageClassChange(o, old.(*storagev1.StorageClass))
	case *schedulingv1.PriorityClass:
		if o.Value != old.(*schedulingv1.PriorityClass).Value {
			return field.ErrorList{field.Forbidden(field.NewPath("value"), "may not be changed in an update.")}
		}
	case *apiextensionsv1.CustomResourceDefinition:
		return validateDefinitionChange(o, old.(*apiextensionsv1.CustomResourceDefinition))
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func validateStorageClassChange(sc, old *storagev1.StorageClass) field.ErrorList {
	var errs field.ErrorList
	if !maps.Equal(sc.Parameters, old.Parameters) {
		errs = append(errs, field.Forbidden(field.NewPath("parameters"), "updates to parameters are forbidden."))
	}
	if sc.Provisioner != old.Provisioner {
		errs = append(errs, field.Forbidden(field.NewPath("provisioner"), "updates to provisioner are forbidden."))
	}
	if *sc.ReclaimPolicy != *old.ReclaimPolicy {
		errs = append(errs, field.Forbidden(field.NewPath("reclaimPolicy"), "updates to reclaimPolicy are forbidden."))
	}
	return append(errs, apivalidation.ValidateImmutableField(sc.VolumeBindingMode, old.VolumeBindingMode, field.NewPath("volumeBindingMode"))...)
}
