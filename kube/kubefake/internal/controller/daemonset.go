package controller

import (
	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// daemonSet keeps a pod on every node that may run it.
func (m *Manager) daemonSet(tx apiserver.Tx, k key) {
	ds, ok := get[*appsv1.DaemonSet](tx, k)
	if !ok || ds.DeletionTimestamp != nil {
		return
	}
	revision := hash(&ds.Spec.Template)
	byNode := map[string]*corev1.Pod{}
	for _, p := range controlled[*corev1.Pod](tx, ds, "", "Pod") {
		byNode[boundTo(p)] = p
	}
	status := appsv1.DaemonSetStatus{ObservedGeneration: ds.Generation, CollisionCount: ds.Status.CollisionCount}
	replacing := false
	for _, n := range list[*corev1.Node](tx, "", "Node", "") {
		p := byNode[n.Name]
		delete(byNode, n.Name)
		daemon := daemonPod(ds, n, revision)
		if !selects(daemon, n) || !toleratesAll(daemon, n) {
			if p != nil && p.DeletionTimestamp == nil {
				stop(tx, p)
			}
			continue
		}
		status.DesiredNumberScheduled++
		switch {
		case p == nil:
			if err := m.create(tx, daemon); err != nil {
				m.warn(tx, ds, "daemonset-controller", "FailedCreate", "Error creating: "+err.Error())
			}
			continue
		case p.DeletionTimestamp != nil:
			replacing = true
			continue
		case p.Labels[appsv1.ControllerRevisionHashLabelKey] != revision && ds.Spec.UpdateStrategy.Type != appsv1.OnDeleteDaemonSetStrategyType && !replacing && isReady(p):
			replacing = true
			stop(tx, p)
			continue
		}
		status.CurrentNumberScheduled++
		if p.Labels[appsv1.ControllerRevisionHashLabelKey] == revision {
			status.UpdatedNumberScheduled++
		}
		if isReady(p) {
			status.NumberReady++
			status.NumberAvailable++
		}
	}
	for _, p := range byNode { // their nodes are gone
		if p.DeletionTimestamp == nil {
			stop(tx, p)
		}
	}
	status.NumberUnavailable = status.DesiredNumberScheduled - status.NumberAvailable
	next := *ds
	next.Status = status
	tx.Replace(&next)
}

func toleratesAll(p *corev1.Pod, n *corev1.Node) bool {
	for _, taint := range n.Spec.Taints {
		if taint.Effect != corev1.TaintEffectPreferNoSchedule && !tolerates(p, taint) {
			return false
		}
	}
	return true
}

// daemonPod makes the pod for one node.
func daemonPod(ds *appsv1.DaemonSet, n *corev1.Node, revision string) *corev1.Pod {
	p := newPod(ds, &ds.Spec.Template)
	p.Labels = withLabel(p.Labels, appsv1.ControllerRevisionHashLabelKey, revision)
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute})
	}
	for _, key := range []string{corev1.TaintNodeDiskPressure, corev1.TaintNodeMemoryPressure, corev1.TaintNodePIDPressure, corev1.TaintNodeUnschedulable} {
		p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
	}
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &corev1.Affinity{}
	}
	if p.Spec.Affinity.NodeAffinity == nil {
		p.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	required := &corev1.NodeSelector{}
	if r := p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; r != nil {
		required = r
	}
	if len(required.NodeSelectorTerms) == 0 {
		required.NodeSelectorTerms = []corev1.NodeSelectorTerm{{}}
	}
	for i := range required.NodeSelectorTerms {
		required.NodeSelectorTerms[i].MatchFields = []corev1.NodeSelectorRequirement{{
			Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{n.Name},
		}}
	}
	p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = required
	return p
}

// boundTo is the node that a daemon's pod is meant for.
func boundTo(p *corev1.Pod) string {
	if p.Spec.NodeName != "" || p.Spec.Affinity == nil || p.Spec.Affinity.NodeAffinity == nil || p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return p.Spec.NodeName
	}
	for _, term := range p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, f := range term.MatchFields {
			if f.Key == metav1.ObjectNameField && len(f.Values) == 1 {
				return f.Values[0]
			}
		}
	}
	return ""
}
