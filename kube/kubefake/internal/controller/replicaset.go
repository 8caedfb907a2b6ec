package controller

import (
	"slices"

	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// replicaSet keeps as many pods as are wanted.
func (m *Manager) replicaSet(tx apiserver.Tx, k key) {
	rs, ok := get[*appsv1.ReplicaSet](tx, k)
	if !ok || rs.DeletionTimestamp != nil {
		return
	}
	pods := alive(controlled[*corev1.Pod](tx, rs, "", "Pod"))
	failure := ""
	for n := len(pods); n < int(*rs.Spec.Replicas); n++ {
		if err := m.create(tx, newPod(rs, &rs.Spec.Template)); err != nil {
			failure = err.Error()
			m.warn(tx, rs, "replicaset-controller", "FailedCreate", "Error creating: "+failure)
			break
		}
	}
	if excess := len(pods) - int(*rs.Spec.Replicas); excess > 0 {
		slices.SortStableFunc(pods, leastUseful)
		for _, p := range pods[:excess] {
			stop(tx, p)
		}
	}
	pods = alive(controlled[*corev1.Pod](tx, rs, "", "Pod"))
	next := *rs
	none := int32(0)
	next.Status = appsv1.ReplicaSetStatus{
		TerminatingReplicas: &none,
		Replicas:            int32(len(pods)), FullyLabeledReplicas: int32(len(pods)), ReadyReplicas: ready(pods), AvailableReplicas: ready(pods),
		ObservedGeneration: rs.Generation,
	}
	if failure != "" {
		next.Status.Conditions = []appsv1.ReplicaSetCondition{{
			Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: failure, LastTransitionTime: apiserver.Now(),
		}}
		for _, had := range rs.Status.Conditions {
			if had.Message == failure {
				next.Status.Conditions[0].LastTransitionTime = had.LastTransitionTime
			}
		}
	}
	tx.Replace(&next)
}

// leastUseful orders pods by which to stop first: those without a node, then
// those that are not ready, then the younger ones.
func leastUseful(a, b *corev1.Pod) int {
	rank := func(p *corev1.Pod) int {
		switch {
		case p.Spec.NodeName == "":
			return 0
		case !isReady(p):
			return 1
		}
		return 2
	}
	if d := rank(a) - rank(b); d != 0 {
		return d
	}
	return b.CreationTimestamp.Compare(a.CreationTimestamp.Time)
}

// retryWorkloads looks again at the workloads of a namespace that may have
// been refused pods.
func (m *Manager) retryWorkloads(tx apiserver.Tx, namespace string) {
	for _, gk := range []groupKind{{"apps", "ReplicaSet"}, {"apps", "StatefulSet"}, {"apps", "DaemonSet"}, {"batch", "Job"}} {
		for _, obj := range tx.List(gk.group, gk.kind, namespace) {
			m.enqueue(key{gk.group, gk.kind, obj.GetNamespace(), obj.GetName()})
		}
	}
}
