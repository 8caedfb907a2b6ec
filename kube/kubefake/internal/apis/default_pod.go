package apis

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// defaultPod sets what a pod of its own has beyond a template's defaults.
func defaultPod(p *corev1.Pod) {
	setDefault(&p.Spec.EnableServiceLinks, true)
	for i := range p.Spec.Containers {
		defaultRequests(&p.Spec.Containers[i])
	}
	for i := range p.Spec.InitContainers {
		defaultRequests(&p.Spec.InitContainers[i])
	}
	defaultPodSpec(&p.Spec)
}

// defaultRequests asks for as much as a container is limited to.
func defaultRequests(c *corev1.Container) {
	for name, limit := range c.Resources.Limits {
		if c.Resources.Requests == nil {
			c.Resources.Requests = corev1.ResourceList{}
		}
		if _, ok := c.Resources.Requests[name]; !ok {
			c.Resources.Requests[name] = limit.DeepCopy()
		}
	}
}

func defaultPodSpec(s *corev1.PodSpec) {
	fill(&s.DNSPolicy, corev1.DNSClusterFirst)
	fill(&s.RestartPolicy, corev1.RestartPolicyAlways)
	fill(&s.SchedulerName, corev1.DefaultSchedulerName)
	setDefault(&s.SecurityContext, corev1.PodSecurityContext{})
	setDefault(&s.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	fill(&s.ServiceAccountName, s.DeprecatedServiceAccount)
	s.DeprecatedServiceAccount = s.ServiceAccountName
	for i := range s.InitContainers {
		defaultContainer(&s.InitContainers[i], s.HostNetwork)
	}
	for i := range s.Containers {
		defaultContainer(&s.Containers[i], s.HostNetwork)
	}
	for i := range s.Volumes {
		defaultVolume(&s.Volumes[i])
	}
}

func defaultContainer(c *corev1.Container, hostNetwork bool) {
	fill(&c.ImagePullPolicy, pullPolicy(c.Image))
	fill(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	fill(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	for i := range c.Ports {
		fill(&c.Ports[i].Protocol, corev1.ProtocolTCP)
		if hostNetwork {
			fill(&c.Ports[i].HostPort, c.Ports[i].ContainerPort)
		}
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil && from.FieldRef != nil {
			fill(&from.FieldRef.APIVersion, "v1")
		}
	}
	for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		defaultProbe(p)
	}
	if c.Lifecycle != nil {
		for _, h := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
			if h != nil {
				defaultHTTPGet(h.HTTPGet)
			}
		}
	}
}

func defaultProbe(p *corev1.Probe) {
	if p == nil {
		return
	}
	fill(&p.TimeoutSeconds, 1)
	fill(&p.PeriodSeconds, 10)
	fill(&p.SuccessThreshold, 1)
	fill(&p.FailureThreshold, 3)
	defaultHTTPGet(p.HTTPGet)
	if p.GRPC != nil {
		setDefault(&p.GRPC.Service, "")
	}
}

func defaultHTTPGet(a *corev1.HTTPGetAction) {
	if a != nil {
		fill(&a.Path, "/")
		fill(&a.Scheme, corev1.URISchemeHTTP)
	}
}

// pullPolicy is Always for an image whose tag may move by convention.
func pullPolicy(image string) corev1.PullPolicy {
	if strings.Contains(image, "@") {
		return corev1.PullIfNotPresent
	}
	name := image[strings.LastIndex(image, "/")+1:]
	if _, tag, ok := strings.Cut(name, ":"); ok && tag != "latest" {
		return corev1.PullIfNotPresent
	}
	return corev1.PullAlways
}

const defaultMode int32 = 0o644

func defaultVolume(v *corev1.Volume) {
	if v.VolumeSource == (corev1.VolumeSource{}) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	switch {
	case v.Secret != nil:
		setDefault(&v.Secret.DefaultMode, defaultMode)
	case v.ConfigMap != nil:
		setDefault(&v.ConfigMap.DefaultMode, defaultMode)
	case v.HostPath != nil:
		setDefault(&v.HostPath.Type, corev1.HostPathUnset)
	case v.DownwardAPI != nil:
		setDefault(&v.DownwardAPI.DefaultMode, defaultMode)
		defaultDownward(v.DownwardAPI.Items)
	case v.Projected != nil:
		setDefault(&v.Projected.DefaultMode, defaultMode)
		for _, source := range v.Projected.Sources {
			if source.ServiceAccountToken != nil {
				setDefault(&source.ServiceAccountToken.ExpirationSeconds, 3600)
			}
			if source.DownwardAPI != nil {
				defaultDownward(source.DownwardAPI.Items)
			}
		}
	case v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil:
		setDefault(&v.Ephemeral.VolumeClaimTemplate.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	}
}

func defaultDownward(items []corev1.DownwardAPIVolumeFile) {
	for _, item := range items {
		if item.FieldRef != nil {
			fill(&item.FieldRef.APIVersion, "v1")
		}
	}
}

func defaultClaim(c *corev1.PersistentVolumeClaim) {
	setDefault(&c.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
}
