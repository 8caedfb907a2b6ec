package controller

import (
	"fmt"
	"slices"

	"github.com/planewright/planewright/kube/kubefake/internal/apis"
	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// claim binds a claim to a volume that is made for it, if its storage class exists.
func (m *Manager) claim(tx apiserver.Tx, k key) {
	c, ok := get[*corev1.PersistentVolumeClaim](tx, k)
	if !ok {
		m.reclaim(tx, k)
		return
	}
	if c.DeletionTimestamp != nil {
		m.release(tx, c)
		return
	}
	if c.Status.Phase == corev1.ClaimBound {
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
	}, "")
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
	if next.Annotations == nil {
		next.Annotations = map[string]string{}
	}
	for annotation, value := range map[string]string{
		"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes",
		"volume.kubernetes.io/storage-provisioner": sc.Provisioner, "volume.beta.kubernetes.io/storage-provisioner": sc.Provisioner,
	} {
		next.Annotations[annotation] = value
	}
	next.Spec.VolumeName = name
	next.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, AccessModes: c.Spec.AccessModes, Capacity: corev1.ResourceList{
		corev1.ResourceStorage: c.Spec.Resources.Requests[corev1.ResourceStorage],
	}}
	tx.Replace(next)
	m.retryPods(tx)
}

// release lets a deleted claim go that no pod uses any more.
func (m *Manager) release(tx apiserver.Tx, c *corev1.PersistentVolumeClaim) {
	for _, p := range list[*corev1.Pod](tx, "", "Pod", c.Namespace) {
		if p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed && mounts(p, c.Name) {
			return // looked at again when the pod is gone
		}
	}
	next := c.DeepCopy()
	next.Finalizers = slices.DeleteFunc(next.Finalizers, func(f string) bool { return f == apis.ClaimProtection })
	tx.Replace(next)
}

func mounts(p *corev1.Pod, claim string) bool {
	return slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim
	})
}

// reclaim deletes the volumes whose claim is gone, unless they are to be kept.
func (m *Manager) reclaim(tx apiserver.Tx, claim key) {
	for _, v := range list[*corev1.PersistentVolume](tx, "", "PersistentVolume", "") {
		ref := v.Spec.ClaimRef
		if ref == nil || ref.Namespace != claim.namespace || ref.Name != claim.name {
			continue
		}
		next := v.DeepCopy()
		next.Status.Phase = corev1.VolumeReleased
		if v.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete {
			tx.Remove(v)
			continue
		}
		tx.Replace(next)
	}
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
