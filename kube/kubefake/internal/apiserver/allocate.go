package apiserver

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// allocate gives a Service its cluster address.
func (s *Server) allocate(obj Object) {
	svc, ok := obj.(*corev1.Service)
	if !ok || svc.Spec.Type == corev1.ServiceTypeExternalName {
		return
	}
	if svc.Spec.ClusterIP == "" {
		b := s.random()
		svc.Spec.ClusterIP = fmt.Sprintf("10.96.%d.%d", b[0], 1+b[1]%254)
	}
	if len(svc.Spec.ClusterIPs) == 0 {
		svc.Spec.ClusterIPs = []string{svc.Spec.ClusterIP}
	}
}
