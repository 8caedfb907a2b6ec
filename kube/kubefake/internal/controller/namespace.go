package controller

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// terminating is how long a namespace takes to begin to empty itself.
const terminating = 20 * time.Millisecond

// namespace gives a namespace what each has, and empties one that is deleted.
func (m *Manager) namespace(tx apiserver.Tx, k key) {
	ns, ok := get[*corev1.Namespace](tx, k)
	if !ok {
		return
	}
	if ns.DeletionTimestamp == nil {
		m.furnish(tx, ns.Name)
		return
	}
	emptying := k
	emptying.kind = "Namespace/emptying"
	if m.pending[emptying] == nil {
		m.pending[emptying] = m.after(terminating, func(tx apiserver.Tx) {
			delete(m.pending, emptying)
			if ns, ok := get[*corev1.Namespace](tx, k); ok && ns.DeletionTimestamp != nil {
				m.empty(tx, ns)
				m.work(tx)
			}
		})
	}
}

// furnish makes the service account and the certificate authority that pods
// of the namespace use.
func (m *Manager) furnish(tx apiserver.Tx, namespace string) {
	if tx.Get("", "ServiceAccount", namespace, "default") == nil {
		_ = m.create(tx, &corev1.ServiceAccount{TypeMeta: core("ServiceAccount"), ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}})
	}
	if tx.Get("", "ConfigMap", namespace, "kube-root-ca.crt") == nil && m.config.CA != nil {
		_ = m.create(tx, &corev1.ConfigMap{
			TypeMeta: core("ConfigMap"),
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "kube-root-ca.crt", Annotations: map[string]string{
				"kubernetes.io/description": "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.",
			}},
			Data: map[string]string{"ca.crt": string(m.config.CA())},
		})
	}
}

// empty deletes what is in the namespace, and the namespace once it is empty.
func (m *Manager) empty(tx apiserver.Tx, ns *corev1.Namespace) {
	grace := int64(0)
	for _, obj := range tx.InNamespace(ns.Name) {
		if obj.GetDeletionTimestamp() == nil || len(obj.GetFinalizers()) == 0 {
			tx.Delete(obj, metav1.DeleteOptions{GracePeriodSeconds: &grace})
		}
	}
	left := tx.InNamespace(ns.Name)
	next := ns.DeepCopy()
	if len(left) == 0 {
		next.Spec.Finalizers = nil
		tx.Replace(next)
		return
	}
	kinds, holders := map[string]int{}, map[string]int{}
	for _, obj := range left {
		gvk := obj.GetObjectKind().GroupVersionKind()
		kinds[strings.ToLower(gvk.Kind)+"s."+gvk.Group]++
		for _, f := range obj.GetFinalizers() {
			holders[f]++
		}
	}
	next.Status.Conditions = []corev1.NamespaceCondition{
		namespaceCondition(corev1.NamespaceDeletionContentFailure, corev1.ConditionFalse, "ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
		namespaceCondition(corev1.NamespaceContentRemaining, corev1.ConditionTrue, "SomeResourcesRemain", "Some resources are remaining: "+counts(kinds, "has", "resource instances")),
		namespaceCondition(corev1.NamespaceFinalizersRemaining, corev1.ConditionTrue, "SomeFinalizersRemain", "Some content in the namespace has finalizers remaining: "+counts(holders, "in", "resource instances")),
	}
	for i := range next.Status.Conditions {
		for _, had := range ns.Status.Conditions {
			if had.Type == next.Status.Conditions[i].Type && had.Status == next.Status.Conditions[i].Status {
				next.Status.Conditions[i].LastTransitionTime = had.LastTransitionTime
			}
		}
	}
	tx.Replace(next)
}

func namespaceCondition(kind corev1.NamespaceConditionType, status corev1.ConditionStatus, reason, message string) corev1.NamespaceCondition {
	return corev1.NamespaceCondition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: apiserver.Now()}
}

func counts(of map[string]int, verb, what string) string {
	var parts []string
	for name, n := range of {
		parts = append(parts, fmt.Sprintf("%s %s %d %s", name, verb, n, what))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// core is the type of a core kind.
func core(kind string) metav1.TypeMeta { return metav1.TypeMeta{APIVersion: "v1", Kind: kind} }

// create makes an object on behalf of a controller. What cannot be created
// (its namespace is going away, say) is tried again when something changes.
func (m *Manager) create(tx apiserver.Tx, obj apiserver.Object) error {
	_, err := tx.Create(obj, "")
	return err
}
