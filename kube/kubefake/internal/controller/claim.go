package controller

import (
	"fmt"

	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// claim binds a claim to a volume that is made for it, if its storage class exists.
func (m *Manager) claim(tx apiserver.Tx, k key) {
	c, ok := get[*corev1.PersistentVolumeClaim](tx, k)
	if !ok || c.DeletionTimestamp != nil || c.Status.Phase == corev1.ClaimBound {
		return
	}
	class := ""
	if c.Spec.StorageClassName != nil {
		class = *c.Spec.StorageClassName
	}
	sc, ok := tx.Get("storage.k8s.io", "StorageClass", "", class).(*storagev1.StorageClass)
	if !ok {
		message := "no persistent volumes available for this claim and no storage class is set"
		if class != "" {
			message = fmt.Sprintf("storageclass.storage.k8s.io %q not found", class)
		}
		m.warn(tx, c, "persistentvolume-controller", "ProvisioningFailed", message)
		return
	}
	name := "pvc-" + string(c.UID)
	reclaim := corev1.PersistentVolumeReclaimDelete
	if sc.ReclaimPolicy != nil {
		reclaim = *sc.ReclaimPolicy
	}
	_, err := tx.Create(&corev1.PersistentVolume{
		TypeMeta:   core("PersistentVolume"),
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"pv.kubernetes.io/provisioned-by": sc.Provisioner}},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: corev1.ResourceList{corev1.ResourceStorage: c.Spec.Resources.Requests[corev1.ResourceStorage]}, AccessModes: c.Spec.AccessModes,
			PersistentVolumeReclaimPolicy: reclaim, StorageClassName: class, VolumeMode: c.Spec.VolumeMode,
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: sc.Provisioner, VolumeHandle: name}},
			ClaimRef:               &corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: c.Namespace, Name: c.Name, UID: c.UID},
		},
	}, "kube-controller-manager")
	if err != nil {
		m.warn(tx, c, "persistentvolume-controller", "ProvisioningFailed", err.Error())
		return
	}
	if volume, ok := tx.Get("", "PersistentVolume", "", name).(*corev1.PersistentVolume); ok {
		bound := volume.DeepCopy()
		bound.Status.Phase = corev1.VolumeBound
		tx.Replace(bound)
	}
	next := c.DeepCopy()
	next.Spec.VolumeName = name
	next.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, AccessModes: c.Spec.AccessModes, Capacity: corev1.ResourceList{
		corev1.ResourceStorage: c.Spec.Resources.Requests[corev1.ResourceStorage],
	}}
	tx.Replace(next)
	m.retryPods(tx)
}

// unboundClaim is why a pod's claims keep it from any node, empty if they do not.
func unboundClaim(tx apiserver.Tx, p *corev1.Pod) string {
	for _, v := range p.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		c, ok := tx.Get("", "PersistentVolumeClaim", p.Namespace, v.PersistentVolumeClaim.ClaimName).(*corev1.PersistentVolumeClaim)
		if !ok {
			return fmt.Sprintf("persistentvolumeclaim %q not found", v.PersistentVolumeClaim.ClaimName)
		}
		if c.Status.Phase != corev1.ClaimBound {
			return "pod has unbound immediate PersistentVolumeClaims"
		}
	}
	return ""
}
