package controller

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// schedule puts a pod on the node that suits it and has the fewest pods, or
// says why none does.
func (m *Manager) schedule(tx apiserver.Tx, p *corev1.Pod) {
	nodes := list[*corev1.Node](tx, "", "Node", "")
	pods := list[*corev1.Pod](tx, "", "Pod", "")
	byNode := map[string][]*corev1.Pod{}
	for _, other := range pods {
		if other.Spec.NodeName != "" && other.Status.Phase != corev1.PodSucceeded && other.Status.Phase != corev1.PodFailed {
			byNode[other.Spec.NodeName] = append(byNode[other.Spec.NodeName], other)
		}
	}
	if reason := unboundClaim(tx, p); reason != "" {
		m.unschedulable(tx, p, fmt.Sprintf("0/%d nodes are available: %s.", len(nodes), reason))
		return
	}
	var best *corev1.Node
	against := map[string]int{}
	for _, n := range nodes {
		if reason := m.objection(p, n, nodes, byNode); reason != "" {
			against[reason]++
		} else if best == nil || len(byNode[n.Name]) < len(byNode[best.Name]) {
			best = n
		}
	}
	if best == nil {
		m.unschedulable(tx, p, refusal(len(nodes), against))
		return
	}
	next := p.DeepCopy()
	next.Spec.NodeName = best.Name
	setPodCondition(&next.Status, corev1.PodScheduled, true, "", "")
	tx.Replace(next)
}

func refusal(nodes int, against map[string]int) string {
	if nodes == 0 {
		return "no nodes available to schedule pods"
	}
	var reasons []string
	for reason, n := range against {
		reasons = append(reasons, fmt.Sprintf("%d %s", n, reason))
	}
	slices.Sort(reasons)
	return fmt.Sprintf("0/%d nodes are available: %s.", nodes, strings.Join(reasons, ", "))
}

// unschedulable notes why a pod has no node. It is looked at again when nodes
// or pods change.
func (m *Manager) unschedulable(tx apiserver.Tx, p *corev1.Pod, message string) {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Message == message {
			return
		}
	}
	next := p.DeepCopy()
	setPodCondition(&next.Status, corev1.PodScheduled, false, corev1.PodReasonUnschedulable, message)
	tx.Replace(next)
	m.warn(tx, p, "default-scheduler", "FailedScheduling", message)
}

// objection is why a pod cannot run on a node, empty if it can.
func (m *Manager) objection(p *corev1.Pod, n *corev1.Node, nodes []*corev1.Node, byNode map[string][]*corev1.Pod) string {
	if n.Spec.Unschedulable && !tolerates(p, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}) {
		return "node(s) were unschedulable"
	}
	for _, taint := range n.Spec.Taints {
		if taint.Effect != corev1.TaintEffectPreferNoSchedule && taint.Key != corev1.TaintNodeUnschedulable && !tolerates(p, taint) {
			return "node(s) had untolerated taint(s)"
		}
	}
	if !selects(p, n) {
		return "node(s) didn't match Pod's node affinity/selector"
	}
	if !fits(p, n, byNode[n.Name]) {
		return tooSmall(p, n, byNode[n.Name])
	}
	if !apart(p, n, nodes, byNode) {
		return "node(s) didn't match pod anti-affinity rules"
	}
	if !together(p, n, nodes, byNode) {
		return "node(s) didn't match pod affinity rules"
	}
	return ""
}

func tolerates(p *corev1.Pod, taint corev1.Taint) bool {
	return slices.ContainsFunc(p.Spec.Tolerations, func(t corev1.Toleration) bool {
		return (t.Effect == "" || t.Effect == taint.Effect) && (t.Key == taint.Key || t.Key == "" && t.Operator == corev1.TolerationOpExists) &&
			(t.Operator == corev1.TolerationOpExists || t.Value == taint.Value)
	})
}

// selects reports whether a pod's node selector and required node affinity allow a node.
func selects(p *corev1.Pod, n *corev1.Node) bool {
	if !labels.SelectorFromSet(p.Spec.NodeSelector).Matches(labels.Set(n.Labels)) {
		return false
	}
	a := p.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return true
	}
	return slices.ContainsFunc(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool {
		return !slices.ContainsFunc(t.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool { return !meets(r, n.Labels) }) &&
			!slices.ContainsFunc(t.MatchFields, func(r corev1.NodeSelectorRequirement) bool {
				return !meets(r, map[string]string{metav1.ObjectNameField: n.Name})
			})
	})
}

func meets(r corev1.NodeSelectorRequirement, set map[string]string) bool {
	value, ok := set[r.Key]
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		return ok && slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpNotIn:
		return !ok || !slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpExists:
		return ok
	case corev1.NodeSelectorOpDoesNotExist:
		return !ok
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		var have, limit int64
		if len(r.Values) != 1 {
			return false
		}
		if _, err := fmt.Sscan(value, &have); err != nil {
			return false
		}
		if _, err := fmt.Sscan(r.Values[0], &limit); err != nil {
			return false
		}
		return have > limit == (r.Operator == corev1.NodeSelectorOpGt) && have != limit
	}
	return false
}

// apart reports whether no required anti-affinity, the pod's or that of
// another one, keeps it from a node.
func apart(p *corev1.Pod, n *corev1.Node, nodes []*corev1.Node, byNode map[string][]*corev1.Pod) bool {
	for _, term := range antiAffinity(p) {
		for _, other := range neighbours(n, term.TopologyKey, nodes, byNode) {
			if concerns(term, p, other) {
				return false
			}
		}
	}
	for _, node := range nodes {
		for _, other := range byNode[node.Name] {
			for _, term := range antiAffinity(other) {
				if sameTopology(n, node, term.TopologyKey) && concerns(term, other, p) {
					return false
				}
			}
		}
	}
	return true
}

// together reports whether the pod's required affinity allows a node. The
// first of pods that want each other's company may go anywhere.
func together(p *corev1.Pod, n *corev1.Node, nodes []*corev1.Node, byNode map[string][]*corev1.Pod) bool {
	a := p.Spec.Affinity
	if a == nil || a.PodAffinity == nil {
		return true
	}
	for _, term := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		if slices.ContainsFunc(neighbours(n, term.TopologyKey, nodes, byNode), func(o *corev1.Pod) bool { return concerns(term, p, o) }) {
			continue
		}
		anywhere := false
		for _, others := range byNode {
			anywhere = anywhere || slices.ContainsFunc(others, func(o *corev1.Pod) bool { return concerns(term, p, o) })
		}
		if anywhere || !concerns(term, p, p) {
			return false
		}
	}
	return true
}

func antiAffinity(p *corev1.Pod) []corev1.PodAffinityTerm {
	if p.Spec.Affinity == nil || p.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	return p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// neighbours are the pods in the same topology as a node.
func neighbours(n *corev1.Node, topologyKey string, nodes []*corev1.Node, byNode map[string][]*corev1.Pod) []*corev1.Pod {
	var list []*corev1.Pod
	for _, other := range nodes {
		if sameTopology(n, other, topologyKey) {
			list = append(list, byNode[other.Name]...)
		}
	}
	return list
}

func sameTopology(a, b *corev1.Node, topologyKey string) bool {
	value, ok := a.Labels[topologyKey]
	return ok && b.Labels[topologyKey] == value
}

// concerns reports whether an affinity term of one pod is about another one.
func concerns(term corev1.PodAffinityTerm, of, other *corev1.Pod) bool {
	namespaces := term.Namespaces
	if len(namespaces) == 0 && term.NamespaceSelector == nil {
		namespaces = []string{of.Namespace}
	}
	if len(namespaces) > 0 && !slices.Contains(namespaces, other.Namespace) {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
	return err == nil && selector.Matches(labels.Set(other.Labels))
}
