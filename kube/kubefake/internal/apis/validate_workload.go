package apis

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateDeployment(d *appsv1.Deployment) field.ErrorList {
	errs := validateReplicated(d.Spec.Replicas, d.Spec.Selector, &d.Spec.Template)
	strategy := field.NewPath("spec", "strategy")
	switch d.Spec.Strategy.Type {
	case appsv1.RecreateDeploymentStrategyType:
		if d.Spec.Strategy.RollingUpdate != nil {
			errs = append(errs, field.Forbidden(strategy.Child("rollingUpdate"), "may not be specified when strategy `type` is '"+string(appsv1.RecreateDeploymentStrategyType)+"'"))
		}
	case appsv1.RollingUpdateDeploymentStrategyType:
		if r := d.Spec.Strategy.RollingUpdate; r != nil && isZero(r.MaxSurge) && isZero(r.MaxUnavailable) {
			errs = append(errs, field.Invalid(strategy.Child("rollingUpdate", "maxUnavailable"), r.MaxUnavailable, "may not be 0 when `maxSurge` is 0"))
		}
	default:
		errs = append(errs, field.NotSupported(strategy, struct {
			Type          appsv1.DeploymentStrategyType
			RollingUpdate *appsv1.RollingUpdateDeployment
		}(d.Spec.Strategy), []appsv1.DeploymentStrategyType{
			appsv1.RecreateDeploymentStrategyType, appsv1.RollingUpdateDeploymentStrategyType,
		}))
	}
	return errs
}

// validateReplicated checks what workloads that keep pods running have in common.
func validateReplicated(replicas *int32, selector *metav1.LabelSelector, template *corev1.PodTemplateSpec) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	if replicas != nil {
		errs = append(errs, apivalidation.ValidateNonnegativeField(int64(*replicas), spec.Child("replicas"))...)
	}
	if selector == nil {
		errs = append(errs, field.Required(spec.Child("selector"), ""))
	} else {
		errs = append(errs, metavalidation.ValidateLabelSelector(selector, metavalidation.LabelSelectorValidationOptions{}, spec.Child("selector"))...)
		if len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
			errs = append(errs, field.Invalid(spec.Child("selector"), selector, "empty selector is invalid for deployment"))
		}
	}
	if s, err := metav1.LabelSelectorAsSelector(selector); err != nil {
		errs = append(errs, field.Invalid(spec.Child("selector"), selector, "invalid label selector"))
	} else if !s.Empty() && !s.Matches(labels.Set(template.Labels)) {
		errs = append(errs, field.Invalid(spec.Child("template", "metadata", "labels"), template.Labels, "`selector` does not match template `labels`"))
	}
	errs = append(errs, validateTemplate(template, spec.Child("template"))...)
	if p := template.Spec.RestartPolicy; p != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(spec.Child("template", "spec", "restartPolicy"), p, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	return errs
}

func validateTemplate(t *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	errs := metavalidation.ValidateLabels(t.Labels, path.Child("labels"))
	errs = append(errs, apivalidation.ValidateAnnotations(t.Annotations, path.Child("annotations"))...)
	return append(errs, validatePodSpec(&t.Spec, path.Child("spec"))...)
}

func validateJobTemplate(t *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	errs := validateTemplate(t, path)
	if p := t.Spec.RestartPolicy; p == corev1.RestartPolicyAlways {
		errs = append(errs, field.Required(path.Child("spec", "restartPolicy"), `valid values: "OnFailure", "Never"`))
	}
	return errs
}

func validateCronJob(c *batchv1.CronJob) field.ErrorList {
	var errs field.ErrorList
	errs = append(errs, validateJobTemplate(&c.Spec.JobTemplate.Spec.Template, field.NewPath("spec", "jobTemplate", "spec", "template"))...)
	if c.Spec.Schedule == "" {
		errs = append(errs, field.Required(field.NewPath("spec", "schedule"), ""))
	}
	if len(c.Name) > 52 {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), c.Name, "must be no more than 52 characters"))
	}
	return errs
}

func validateStatefulSetChange(s, old *appsv1.StatefulSet) field.ErrorList {
	if s.Spec.ServiceName != old.Spec.ServiceName {
		return apivalidation.ValidateImmutableField(s.Spec.ServiceName, old.Spec.ServiceName, field.NewPath("spec", "serviceName"))
	}
	next := s.DeepCopy()
	next.Spec.Replicas, next.Spec.Ordinals, next.Spec.Template = old.Spec.Replicas, old.Spec.Ordinals, old.Spec.Template
	next.Spec.UpdateStrategy, next.Spec.RevisionHistoryLimit = old.Spec.UpdateStrategy, old.Spec.RevisionHistoryLimit
	next.Spec.PersistentVolumeClaimRetentionPolicy, next.Spec.MinReadySeconds = old.Spec.PersistentVolumeClaimRetentionPolicy, old.Spec.MinReadySeconds
	if apiequality.Semantic.DeepEqual(next.Spec, old.Spec) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec"), "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "+
		"'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden")}
}

func validateJobChange(j, old *batchv1.Job) field.ErrorList {
	spec := field.NewPath("spec")
	errs := apivalidation.ValidateImmutableField(j.Spec.Completions, old.Spec.Completions, spec.Child("completions"))
	errs = append(errs, apivalidation.ValidateImmutableField(j.Spec.Selector, old.Spec.Selector, spec.Child("selector"))...)
	return append(errs, apivalidation.ValidateImmutableField(j.Spec.Template, old.Spec.Template, spec.Child("template"))...)
}

func isZero(v fmt.Stringer) bool { return v != nil && (v.String() == "0" || v.String() == "0%") }
