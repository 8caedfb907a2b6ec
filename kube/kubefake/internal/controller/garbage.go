package controller

import (
	"slices"

	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// collect deletes what belonged to objects that are gone, and finishes
// deletes that were to orphan or to delete their dependents first.
func (m *Manager) collect(tx apiserver.Tx) {
	alive := map[types.UID]apiserver.Object{}
	var owned, deleting []apiserver.Object
	tx.All(func(obj apiserver.Object) {
		alive[obj.GetUID()] = obj
		if len(obj.GetOwnerReferences()) > 0 {
			owned = append(owned, obj)
		}
		if obj.GetDeletionTimestamp() != nil && slices.ContainsFunc(obj.GetFinalizers(), isPropagation) {
			deleting = append(deleting, obj)
		}
	})
	for _, obj := range deleting {
		m.propagate(tx, obj, owned)
	}
	for _, obj := range owned {
		if slices.ContainsFunc(obj.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return alive[o.UID] != nil }) {
			continue
		}
		background := metav1.DeletePropagationBackground
		tx.Delete(obj, metav1.DeleteOptions{PropagationPolicy: &background})
	}
}

func isPropagation(finalizer string) bool {
	return finalizer == metav1.FinalizerOrphanDependents || finalizer == metav1.FinalizerDeleteDependents
}

// propagate does what a deleted object's propagation policy asks for before it goes.
func (m *Manager) propagate(tx apiserver.Tx, owner apiserver.Object, owned []apiserver.Object) {
	orphan := slices.Contains(owner.GetFinalizers(), metav1.FinalizerOrphanDependents)
	left := false
	for _, obj := range owned {
		refs := obj.GetOwnerReferences()
		i := slices.IndexFunc(refs, func(o metav1.OwnerReference) bool { return o.UID == owner.GetUID() })
		if i < 0 || tx.Get(obj.GetObjectKind().GroupVersionKind().Group, obj.GetObjectKind().GroupVersionKind().Kind, obj.GetNamespace(), obj.GetName()) == nil {
			continue
		}
		if orphan {
			next := apiserver.Clone(obj)
			next.SetOwnerReferences(slices.Delete(slices.Clone(refs), i, i+1))
			tx.Replace(next)
			continue
		}
		left = true
		if obj.GetDeletionTimestamp() == nil {
			foreground := metav1.DeletePropagationForeground
			tx.Delete(obj, metav1.DeleteOptions{PropagationPolicy: &foreground})
		}
	}
	if left {
		return
	}
	next := apiserver.Clone(owner)
	next.SetFinalizers(slices.DeleteFunc(slices.Clone(owner.GetFinalizers()), isPropagation))
	tx.Replace(next)
}
