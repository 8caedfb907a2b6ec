package controller

import (
	"slices"

	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// definition has a custom kind accepted and served, and its objects deleted
// before it goes.
func (m *Manager) definition(tx apiserver.Tx, k key) {
	crd, ok := get[*apiextensionsv1.CustomResourceDefinition](tx, k)
	if !ok {
		return
	}
	if crd.DeletionTimestamp != nil {
		m.dropDefinition(tx, crd)
		return
	}
	next := crd.DeepCopy()
	next.Status.AcceptedNames = crd.Spec.Names
	setDefinitionCondition(next, apiextensionsv1.NamesAccepted, "NoConflicts", "no conflicts found")
	setDefinitionCondition(next, apiextensionsv1.Established, "InitialNamesAccepted", "the initial names have been accepted")
	for _, v := range crd.Spec.Versions {
		if v.Storage && !slices.Contains(next.Status.StoredVersions, v.Name) {
			next.Status.StoredVersions = append(next.Status.StoredVersions, v.Name)
		}
	}
	tx.Replace(next)
}

func setDefinitionCondition(crd *apiextensionsv1.CustomResourceDefinition, kind apiextensionsv1.CustomResourceDefinitionConditionType, reason, message string) {
	for _, c := range crd.Status.Conditions {
		if c.Type == kind && c.Status == apiextensionsv1.ConditionTrue {
			return
		}
	}
	crd.Status.Conditions = append(crd.Status.Conditions, apiextensionsv1.CustomResourceDefinitionCondition{
		Type: kind, Status: apiextensionsv1.ConditionTrue, Reason: reason, Message: message, LastTransitionTime: apiserver.Now(),
	})
}

func (m *Manager) dropDefinition(tx apiserver.Tx, crd *apiextensionsv1.CustomResourceDefinition) {
	if !slices.Contains(crd.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer) {
		return
	}
	for _, obj := range tx.List(crd.Spec.Group, crd.Spec.Names.Kind, "") {
		if obj.GetDeletionTimestamp() == nil {
			tx.Delete(obj, metav1.DeleteOptions{})
		}
	}
	if len(tx.List(crd.Spec.Group, crd.Spec.Names.Kind, "")) > 0 {
		return // looked at again when one of them goes
	}
	next := crd.DeepCopy()
	next.Finalizers = slices.DeleteFunc(next.Finalizers, func(f string) bool { return f == apiextensionsv1.CustomResourceCleanupFinalizer })
	tx.Replace(next)
}
