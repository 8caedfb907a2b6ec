package controller

import (
	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
	networkingv1 "k8s.io/api/networking/v1"
)

// ingress gives an Ingress its address after a while, as an ingress controller
// does, if its class is there.
func (m *Manager) ingress(tx apiserver.Tx, k key) {
	address := m.config.Balancer
	waiting := k
	waiting.kind = "Ingress/address"
	if address == nil || !unserved(tx, k) || m.pending[waiting] != nil {
		return
	}
	m.pending[waiting] = m.after(m.config.BalancerDelay, func(tx apiserver.Tx) {
		delete(m.pending, waiting)
		if !unserved(tx, k) {
			return
		}
		ingress, _ := get[*networkingv1.Ingress](tx, k)
		next := ingress.DeepCopy()
		next.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{Hostname: address(k.namespace, "ingress")}}
		tx.Replace(next)
	})
}

// unserved reports whether an Ingress of a class that is there waits for an address.
func unserved(tx apiserver.Tx, k key) bool {
	ingress, ok := get[*networkingv1.Ingress](tx, k)
	if !ok || ingress.DeletionTimestamp != nil || len(ingress.Status.LoadBalancer.Ingress) > 0 || ingress.Spec.IngressClassName == nil {
		return false
	}
	return tx.Get("networking.k8s.io", "IngressClass", "", *ingress.Spec.IngressClassName) != nil
}
