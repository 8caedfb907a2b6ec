package apis

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Selectable reports whether a field selector may ask for the field.
func Selectable(gvk schema.GroupVersionKind, field string) bool {
	if field == "metadata.name" || field == "metadata.namespace" {
		return true
	}
	if gvk.Group != "" {
		return false
	}
	switch gvk.Kind {
	case "Secret":
		return field == "type"
	case "Namespace":
		return field == "status.phase"
	case "Node":
		return field == "spec.unschedulable"
	case "Pod":
		return slices.Contains([]string{"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
			"status.phase", "status.podIP", "status.nominatedNodeName"}, field)
	case "Event":
		return slices.Contains([]string{"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
			"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath",
			"reason", "reportingComponent", "source", "type"}, field)
	}
	return false
}
