package apis

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validatePodSpec(s *corev1.PodSpec, path *field.Path) field.ErrorList {
	volumes, errs := validateVolumes(s.Volumes, path.Child("volumes"))
	if len(s.Containers) == 0 {
		errs = append(errs, field.Required(path.Child("containers"), ""))
	}
	names := map[string]bool{}
	for i := range s.Containers {
		errs = append(errs, validateContainer(&s.Containers[i], names, volumes, path.Child("containers").Index(i))...)
	}
	for i := range s.InitContainers {
		errs = append(errs, validateContainer(&s.InitContainers[i], names, volumes, path.Child("initContainers").Index(i))...)
	}
	if s.ServiceAccountName != "" {
		for _, message := range apivalidation.ValidateServiceAccountName(s.ServiceAccountName, false) {
			errs = append(errs, field.Invalid(path.Child("serviceAccountName"), s.ServiceAccountName, message))
		}
	}
	errs = append(errs, metavalidation.ValidateLabels(s.NodeSelector, path.Child("nodeSelector"))...)
	if !slices.Contains([]corev1.RestartPolicy{corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}, s.RestartPolicy) {
		errs = append(errs, field.NotSupported(path.Child("restartPolicy"), s.RestartPolicy,
			[]corev1.RestartPolicy{corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}))
	}
	return errs
}

// validateVolumes checks the volumes and returns their names.
func validateVolumes(volumes []corev1.Volume, path *field.Path) (map[string]bool, field.ErrorList) {
	var errs field.ErrorList
	names := map[string]bool{}
	for i, v := range volumes {
		at := path.Index(i)
		switch {
		case v.Secret != nil && v.Secret.SecretName == "":
			errs = append(errs, field.Required(at.Child("secret", "secretName"), ""))
		case v.ConfigMap != nil && v.ConfigMap.Name == "":
			errs = append(errs, field.Required(at.Child("configMap", "name"), ""))
		case v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == "":
			errs = append(errs, field.Required(at.Child("persistentVolumeClaim", "claimName"), ""))
		}
		switch {
		case v.Name == "":
			errs = append(errs, field.Required(at.Child("name"), ""))
		case names[v.Name]:
			errs = append(errs, field.Duplicate(at.Child("name"), v.Name))
		default:
			for _, message := range validation.IsDNS1123Label(v.Name) {
				errs = append(errs, field.Invalid(at.Child("name"), v.Name, message))
			}
		}
		names[v.Name] = true
	}
	return names, errs
}

func validateContainer(c *corev1.Container, names, volumes map[string]bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case c.Name == "":
		errs = append(errs, field.Required(path.Child("name"), ""))
	case names[c.Name]:
		errs = append(errs, field.Duplicate(path.Child("name"), c.Name))
	default:
		for _, message := range validation.IsDNS1123Label(c.Name) {
			errs = append(errs, field.Invalid(path.Child("name"), c.Name, message))
		}
	}
	names[c.Name] = true
	if c.Image == "" {
		errs = append(errs, field.Required(path.Child("image"), ""))
	}
	errs = append(errs, validateContainerPorts(c.Ports, path.Child("ports"))...)
	for i, e := range c.Env {
		if e.Name == "" {
			errs = append(errs, field.Required(path.Child("env").Index(i).Child("name"), ""))
		}
		if e.Value != "" && e.ValueFrom != nil {
			errs = append(errs, field.Invalid(path.Child("env").Index(i).Child("valueFrom"), "", "may not be specified when `value` is not empty"))
		}
	}
	mounts := map[string]bool{}
	for i, m := range c.VolumeMounts {
		at := path.Child("volumeMounts").Index(i)
		switch {
		case m.Name == "":
			errs = append(errs, field.Required(at.Child("name"), ""))
		case !volumes[m.Name]:
			errs = append(errs, field.NotFound(at.Child("name"), m.Name))
		}
		switch {
		case m.MountPath == "":
			errs = append(errs, field.Required(at.Child("mountPath"), ""))
		case mounts[m.MountPath]:
			errs = append(errs, field.Invalid(at.Child("mountPath"), m.MountPath, "must be unique"))
		}
		mounts[m.MountPath] = true
	}
	if p := c.ImagePullPolicy; !slices.Contains([]corev1.PullPolicy{corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever}, p) {
		errs = append(errs, field.NotSupported(path.Child("imagePullPolicy"), p, []corev1.PullPolicy{corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever}))
	}
	return append(errs, validateResources(&c.Resources, path.Child("resources"))...)
}

func validateContainerPorts(ports []corev1.ContainerPort, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := map[string]bool{}
	for i, p := range ports {
		at := path.Index(i)
		if p.Name != "" {
			if messages := validation.IsValidPortName(p.Name); len(messages) != 0 {
				for _, message := range messages {
					errs = append(errs, field.Invalid(at.Child("name"), p.Name, message))
				}
			} else if names[p.Name] {
				errs = append(errs, field.Duplicate(at.Child("name"), p.Name))
			}
			names[p.Name] = true
		}
		if p.ContainerPort == 0 {
			errs = append(errs, field.Required(at.Child("containerPort"), ""))
		} else {
			for _, message := range validation.IsValidPortNum(int(p.ContainerPort)) {
				errs = append(errs, field.Invalid(at.Child("containerPort"), p.ContainerPort, message))
			}
		}
	}
	return errs
}

func validateResources(r *corev1.ResourceRequirements, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := map[string]bool{}
	for name := range r.Requests {
		names[string(name)] = true
	}
	for _, name := range sortedKeys(names) {
		request := r.Requests[corev1.ResourceName(name)]
		if limit, ok := r.Limits[corev1.ResourceName(name)]; ok && request.Cmp(limit) > 0 {
			errs = append(errs, field.Invalid(path.Child("requests"), request.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String())))
		}
	}
	return errs
}

func validatePodChange(p, old *corev1.Pod) field.ErrorList {
	next := p.Spec.DeepCopy()
	next.ActiveDeadlineSeconds, next.Tolerations, next.TerminationGracePeriodSeconds = old.Spec.ActiveDeadlineSeconds, old.Spec.Tolerations, old.Spec.TerminationGracePeriodSeconds
	for i := range next.Containers {
		if i < len(old.Spec.Containers) {
			next.Containers[i].Image = old.Spec.Containers[i].Image
		}
	}
	for i := range next.InitContainers {
		if i < len(old.Spec.InitContainers) {
			next.InitContainers[i].Image = old.Spec.InitContainers[i].Image
		}
	}
	if apiequality.Semantic.DeepEqual(next, &old.Spec) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec"), "pod updates may not change fields other than `spec.containers[*].image`,"+
		"`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"+
		"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)")}
}

func validateClaim(s *corev1.PersistentVolumeClaimSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(s.AccessModes) == 0 {
		errs = append(errs, field.Required(path.Child("accessModes"), "at least 1 access mode is required"))
	}
	if size, ok := s.Resources.Requests[corev1.ResourceStorage]; !ok {
		errs = append(errs, field.Required(path.Child("resources").Key(string(corev1.ResourceStorage)), ""))
	} else if size.Sign() <= 0 {
		errs = append(errs, field.Invalid(path.Child("resources", "requests").Key(string(corev1.ResourceStorage)), size.String(), "must be greater than zero"))
	}
	return errs
}

func validateClaimChange(c, old *corev1.PersistentVolumeClaim) field.ErrorList {
	next := c.Spec.DeepCopy()
	next.Resources, next.VolumeName, next.VolumeAttributesClassName = old.Spec.Resources, old.Spec.VolumeName, old.Spec.VolumeAttributesClassName
	if next.StorageClassName == nil || old.Spec.StorageClassName == nil {
		next.StorageClassName = old.Spec.StorageClassName
	}
	if apiequality.Semantic.DeepEqual(next, &old.Spec) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec"), "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims")}
}
