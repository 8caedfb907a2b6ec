package apis

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func defaultService(s *corev1.Service) {
	fill(&s.Spec.SessionAffinity, corev1.ServiceAffinityNone)
	fill(&s.Spec.Type, corev1.ServiceTypeClusterIP)
	if s.Spec.SessionAffinity == corev1.ServiceAffinityClientIP {
		setDefault(&s.Spec.SessionAffinityConfig, corev1.SessionAffinityConfig{})
		setDefault(&s.Spec.SessionAffinityConfig.ClientIP, corev1.ClientIPConfig{})
		setDefault(&s.Spec.SessionAffinityConfig.ClientIP.TimeoutSeconds, corev1.DefaultClientIPServiceAffinitySeconds)
	}
	for i := range s.Spec.Ports {
		port := &s.Spec.Ports[i]
		fill(&port.Protocol, corev1.ProtocolTCP)
		if port.TargetPort == (intstr.IntOrString{}) || port.TargetPort == intstr.FromString("") {
			port.TargetPort = intstr.FromInt32(port.Port)
		}
	}
	external := s.Spec.Type == corev1.ServiceTypeNodePort || s.Spec.Type == corev1.ServiceTypeLoadBalancer
	if external {
		fill(&s.Spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	}
	if external || s.Spec.Type == corev1.ServiceTypeClusterIP {
		setDefault(&s.Spec.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	}
	if s.Spec.Type == corev1.ServiceTypeLoadBalancer {
		setDefault(&s.Spec.AllocateLoadBalancerNodePorts, true)
	}
}
