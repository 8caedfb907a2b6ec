package controller

import (
	"fmt"

	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// statefulSet keeps numbered pods, each with its claims: one after the other
// unless they may start in parallel, replaced from the last one down.
func (m *Manager) statefulSet(tx apiserver.Tx, k key) {
	s, ok := get[*appsv1.StatefulSet](tx, k)
	if !ok || s.DeletionTimestamp != nil {
		return
	}
	revision := s.Name + "-" + hash(&s.Spec.Template)
	m.fillStatefulSet(tx, s, revision, controlled[*corev1.Pod](tx, s, "", "Pod"))

	none := int32(0)
	status := appsv1.StatefulSetStatus{
		ObservedGeneration: s.Generation, CurrentRevision: s.Status.CurrentRevision, UpdateRevision: revision, CollisionCount: &none,
	}
	for _, p := range alive(controlled[*corev1.Pod](tx, s, "", "Pod")) {
		status.Replicas++
		if isReady(p) {
			status.ReadyReplicas++
			status.AvailableReplicas++
		}
		if p.Labels[appsv1.StatefulSetRevisionLabel] == revision {
			status.UpdatedReplicas++
		} else {
			status.CurrentReplicas++
		}
	}
	if status.CurrentRevision == "" || status.UpdatedReplicas == *s.Spec.Replicas && status.ReadyReplicas == *s.Spec.Replicas {
		status.CurrentRevision = revision
	}
	if status.CurrentRevision == revision {
		status.CurrentReplicas = status.UpdatedReplicas
	}
	next := *s
	next.Status = status
	tx.Replace(&next)
}

// fillStatefulSet starts and stops pods one step towards what is wanted.
func (m *Manager) fillStatefulSet(tx apiserver.Tx, s *appsv1.StatefulSet, revision string, members []*corev1.Pod) {
	start := 0
	if s.Spec.Ordinals != nil {
		start = int(s.Spec.Ordinals.Start)
	}
	want := int(*s.Spec.Replicas)
	name := func(i int) string { return fmt.Sprintf("%s-%d", s.Name, start+i) }
	inOrder := s.Spec.PodManagementPolicy != appsv1.ParallelPodManagement
	keep := map[string]bool{}
	for i := range want {
		keep[name(i)] = true
	}
	pods := map[string]*corev1.Pod{}
	for _, p := range members {
		pods[p.Name] = p
		if !keep[p.Name] && p.DeletionTimestamp == nil {
			stop(tx, p)
		}
	}
	for i := range want {
		p := pods[name(i)]
		if p == nil {
			if err := m.createMember(tx, s, revision, start+i); err != nil {
				m.warn(tx, s, "statefulset-controller", "FailedCreate", fmt.Sprintf("create Pod %s in StatefulSet %s failed error: %v", name(i), s.Name, err))
				return
			}
		}
		if inOrder && (p == nil || !isReady(p)) {
			return
		}
	}
	if s.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return
	}
	for i := want - 1; i >= partition(s); i-- {
		p := pods[name(i)]
		if p == nil || p.DeletionTimestamp != nil || !isReady(p) {
			return
		}
		if p.Labels[appsv1.StatefulSetRevisionLabel] != revision {
			stop(tx, p)
			return
		}
	}
}

func partition(s *appsv1.StatefulSet) int {
	if r := s.Spec.UpdateStrategy.RollingUpdate; r != nil && r.Partition != nil {
		return int(*r.Partition)
	}
	return 0
}

// createMember starts one pod and makes its claims.
func (m *Manager) createMember(tx apiserver.Tx, s *appsv1.StatefulSet, revision string, ordinal int) error {
	p := newPod(s, &s.Spec.Template)
	p.GenerateName, p.Name = "", fmt.Sprintf("%s-%d", s.Name, ordinal)
	p.Labels = withLabel(p.Labels, appsv1.StatefulSetRevisionLabel, revision)
	p.Labels = withLabel(p.Labels, appsv1.StatefulSetPodNameLabel, p.Name)
	p.Labels = withLabel(p.Labels, appsv1.PodIndexLabel, fmt.Sprint(ordinal))
	p.Spec.Hostname, p.Spec.Subdomain = p.Name, s.Spec.ServiceName
	for _, t := range s.Spec.VolumeClaimTemplates {
		claim := t.DeepCopy()
		claim.TypeMeta = core("PersistentVolumeClaim")
		claim.Namespace, claim.Name = s.Namespace, t.Name+"-"+p.Name
		if s.Spec.Selector != nil {
			for k, v := range s.Spec.Selector.MatchLabels {
				claim.Labels = withLabel(claim.Labels, k, v)
			}
		}
		if tx.Get("", "PersistentVolumeClaim", claim.Namespace, claim.Name) == nil {
			if err := m.create(tx, claim); err != nil {
				return err
			}
		}
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: t.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name},
		}})
	}
	return m.create(tx, p)
}
