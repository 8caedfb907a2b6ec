package apiserver

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// allocate gives an object what the server hands out: addresses and ports to a
// Service, the default storage class to a claim.
func (s *Server) allocate(obj Object) {
	switch o := obj.(type) {
	case *corev1.Service:
		s.allocateService(o)
	case *corev1.PersistentVolumeClaim:
		if o.Spec.StorageClassName == nil && o.Spec.VolumeName == "" {
			o.Spec.StorageClassName = s.defaultStorageClass()
		}
	}
}

func (s *Server) allocateService(svc *corev1.Service) {
	if svc.Spec.Type == corev1.ServiceTypeExternalName {
		return
	}
	if svc.Spec.IPFamilyPolicy == nil {
		policy := corev1.IPFamilyPolicySingleStack
		if svc.Spec.ClusterIP == corev1.ClusterIPNone && len(svc.Spec.Selector) == 0 {
			policy = corev1.IPFamilyPolicyRequireDualStack
		}
		svc.Spec.IPFamilyPolicy = &policy
	}
	if len(svc.Spec.IPFamilies) == 0 {
		svc.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
		if *svc.Spec.IPFamilyPolicy == corev1.IPFamilyPolicyRequireDualStack {
			svc.Spec.IPFamilies = append(svc.Spec.IPFamilies, corev1.IPv6Protocol)
		}
	}
	if svc.Spec.ClusterIP == "" && len(svc.Spec.ClusterIPs) > 0 {
		svc.Spec.ClusterIP = svc.Spec.ClusterIPs[0]
	}
	if svc.Spec.ClusterIP == "" {
		b := s.random()
		svc.Spec.ClusterIP = fmt.Sprintf("10.96.%d.%d", b[0], 1+b[1]%254)
	}
	if len(svc.Spec.ClusterIPs) == 0 {
		svc.Spec.ClusterIPs = []string{svc.Spec.ClusterIP}
	}
	external := svc.Spec.Type == corev1.ServiceTypeNodePort ||
		svc.Spec.Type == corev1.ServiceTypeLoadBalancer && (svc.Spec.AllocateLoadBalancerNodePorts == nil || *svc.Spec.AllocateLoadBalancerNodePorts)
	for i := range svc.Spec.Ports {
		if port := &svc.Spec.Ports[i]; external && port.NodePort == 0 {
			b := s.random()
			port.NodePort = 30000 + (int32(b[0])<<8|int32(b[1]))%2768
		}
	}
}

func (s *Server) defaultStorageClass() *string {
	t := s.tables[schema.GroupResource{Group: "storage.k8s.io", Resource: "storageclasses"}]
	if t == nil {
		return nil
	}
	for _, rec := range t.sorted("") {
		if sc, ok := rec.obj.(*storagev1.StorageClass); ok && sc.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" {
			return &sc.Name
		}
	}
	return nil
}
