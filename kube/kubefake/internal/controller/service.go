package controller

import (
	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
	corev1 "k8s.io/api/core/v1"
)

// service gives a Service of type LoadBalancer its address after a while, as a
// cloud's controller does.
func (m *Manager) service(tx apiserver.Tx, k key) {
	address := m.config.Balancer
	waiting := k
	waiting.kind = "Service/address"
	if address == nil || !unaddressed(tx, k) || m.pending[waiting] != nil {
		return
	}
	m.pending[waiting] = m.after(m.config.BalancerDelay, func(tx apiserver.Tx) {
		delete(m.pending, waiting)
		if !unaddressed(tx, k) {
			return
		}
		s, _ := get[*corev1.Service](tx, k)
		next := s.DeepCopy()
		next.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{Hostname: address(k.namespace, k.name)}}
		tx.Replace(next)
	})
}

// unaddressed reports whether a Service waits for a load balancer's address.
func unaddressed(tx apiserver.Tx, k key) bool {
	s, ok := get[*corev1.Service](tx, k)
	return ok && s.DeletionTimestamp == nil && s.Spec.Type == corev1.ServiceTypeLoadBalancer && len(s.Status.LoadBalancer.Ingress) == 0
}
