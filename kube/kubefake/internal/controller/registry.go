package controller

import (
	"strings"

	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
)

type groupKind struct{ group, kind string }

type reconcile func(m *Manager, tx apiserver.Tx, k key)

// reconciler finds what is done about a kind, nil if nothing is.
func reconciler(group, kind string) reconcile {
	switch (groupKind{group, kind}) {
	case groupKind{"", "Namespace"}:
		return (*Manager).namespace
	case groupKind{"", "Secret"}:
		return (*Manager).tokenSecret
	case groupKind{"", "Service"}:
		return (*Manager).service
	case groupKind{"", "ServiceAccount"}:
		return (*Manager).serviceAccount
	case groupKind{"", "Pod"}:
		return (*Manager).pod
	case groupKind{"", "Node"}:
		return (*Manager).node
	case groupKind{"", "PersistentVolumeClaim"}:
		return (*Manager).claim
	case groupKind{"networking.k8s.io", "Ingress"}:
		return (*Manager).ingress
	case groupKind{"apps", "Deployment"}:
		return (*Manager).deployment
	case groupKind{"apps", "ReplicaSet"}:
		return (*Manager).replicaSet
	case groupKind{"apps", "StatefulSet"}:
		return (*Manager).statefulSet
	case groupKind{"apps", "DaemonSet"}:
		return (*Manager).daemonSet
	case groupKind{"batch", "Job"}:
		return (*Manager).job
	case groupKind{"apiextensions.k8s.io", "CustomResourceDefinition"}:
		return (*Manager).definition
	}
	return nil
}

// get reads an object of a known type.
func get[T apiserver.Object](tx apiserver.Tx, k key) (T, bool) {
	obj, ok := tx.Get(k.group, k.kind, k.namespace, k.name).(T)
	return obj, ok
}

// list reads the objects of a known type.
func list[T apiserver.Object](tx apiserver.Tx, group, kind, namespace string) []T {
	objects := tx.List(group, kind, namespace)
	typed := make([]T, 0, len(objects))
	for _, obj := range objects {
		if t, ok := obj.(T); ok {
			typed = append(typed, t)
		}
	}
	return typed
}

func groupOf(apiVersion string) string {
	group, _, ok := strings.Cut(apiVersion, "/")
	if !ok {
		return ""
	}
	return group
}
