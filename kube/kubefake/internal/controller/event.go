package controller

import (
	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// warn writes an event about an object, or counts one that says the same.
func (m *Manager) warn(tx apiserver.Tx, about apiserver.Object, component, reason, message string) {
	m.event(tx, about, corev1.EventTypeWarning, component, reason, message)
}

func (m *Manager) event(tx apiserver.Tx, about apiserver.Object, kind, component, reason, message string) {
	namespace := about.GetNamespace()
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	for _, e := range list[*corev1.Event](tx, "", "Event", namespace) {
		if e.InvolvedObject.UID == about.GetUID() && e.Reason == reason && e.Message == message {
			next := e.DeepCopy()
			next.Count++
			next.LastTimestamp = apiserver.Now()
			tx.Replace(next)
			return
		}
	}
	gvk := about.GetObjectKind().GroupVersionKind()
	now := apiserver.Now()
	_, _ = tx.Create(&corev1.Event{
		TypeMeta:   core("Event"),
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: about.GetName() + "." + tx.Suffix() + tx.Suffix()},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Namespace: about.GetNamespace(), Name: about.GetName(),
			UID: about.GetUID(), ResourceVersion: about.GetResourceVersion(),
		},
		Type: kind, Reason: reason, Message: message, Count: 1, FirstTimestamp: now, LastTimestamp: now,
		Source: corev1.EventSource{Component: component}, ReportingController: component,
	}, "")
}
