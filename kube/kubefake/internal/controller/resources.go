package controller

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// requests is what a pod asks of its node: its containers together, or its
// largest init container if that is more.
func requests(p *corev1.Pod) corev1.ResourceList {
	sum := corev1.ResourceList{}
	for _, c := range p.Spec.Containers {
		for name, q := range c.Resources.Requests {
			have := sum[name]
			have.Add(q)
			sum[name] = have
		}
	}
	for _, c := range p.Spec.InitContainers {
		for name, q := range c.Resources.Requests {
			if have := sum[name]; q.Cmp(have) > 0 {
				sum[name] = q
			}
		}
	}
	sum[corev1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
	return sum
}

// fits reports whether a node has room for a pod beside the others.
func fits(p *corev1.Pod, n *corev1.Node, others []*corev1.Pod) bool {
	return len(short(p, n, others)) == 0
}

// tooSmall says what a node has too little of.
func tooSmall(p *corev1.Pod, n *corev1.Node, others []*corev1.Pod) string {
	switch name := short(p, n, others)[0]; name {
	case corev1.ResourcePods:
		return "Too many pods"
	default:
		return "Insufficient " + string(name)
	}
}

// short lists what a node has too little of, sorted.
func short(p *corev1.Pod, n *corev1.Node, others []*corev1.Pod) []corev1.ResourceName {
	var lacking []corev1.ResourceName
	for name, asked := range requests(p) {
		room, ok := n.Status.Allocatable[name]
		if !ok {
			room = resource.Quantity{}
		}
		room = room.DeepCopy()
		for _, o := range others {
			room.Sub(requests(o)[name])
		}
		if !asked.IsZero() && room.Cmp(asked) < 0 {
			lacking = append(lacking, name)
		}
	}
	slices.Sort(lacking)
	return lacking
}
