package kubeflow

import (
	"maps"
	"slices"
	"strings"

	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// textAt reads a text field, empty if it is not there.
func textAt(obj map[string]any, path ...string) string {
	s, _, _ := unstructured.NestedString(obj, path...)
	return s
}

// mapAt reads a map field, nil if it is not there. It must not be changed.
func mapAt(obj map[string]any, path ...string) map[string]any {
	v, _, _ := unstructured.NestedFieldNoCopy(obj, path...)
	m, _ := v.(map[string]any)
	return m
}

// mapsAt reads a list of maps, without what is none. They must not be changed.
func mapsAt(obj map[string]any, path ...string) []map[string]any {
	v, _, _ := unstructured.NestedFieldNoCopy(obj, path...)
	list, _ := v.([]any)
	var all []map[string]any
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

// textsAt reads a list of texts.
func textsAt(obj map[string]any, path ...string) []string {
	list, _, _ := unstructured.NestedStringSlice(obj, path...)
	return list
}

// condition returns status, reason and message of a condition, empty if it is not there.
func condition(obj *unstructured.Unstructured, kind string) (status, reason, message string) {
	for _, c := range mapsAt(obj.Object, "status", "conditions") {
		if textAt(c, "type") == kind {
			return textAt(c, "status"), textAt(c, "reason"), textAt(c, "message")
		}
	}
	return "", "", ""
}

func isTrue(obj *unstructured.Unstructured, kind string) bool {
	status, _, _ := condition(obj, kind)
	return status == "True"
}

// identity is what is the same of an object for as long as it lives.
func identity(obj *unstructured.Unstructured) string { return string(obj.GetUID()) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func joinOr(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}

// newObject makes an object with labels.
func newObject(ref kube.Ref, labels map[string]any, content map[string]any) *unstructured.Unstructured {
	metadata := map[string]any{"name": ref.Name}
	if ref.Namespace != "" {
		metadata["namespace"] = ref.Namespace
	}
	if len(labels) > 0 {
		metadata["labels"] = labels
	}
	object := map[string]any{"apiVersion": ref.APIVersion, "kind": ref.Kind, "metadata": metadata}
	maps.Copy(object, content)
	return &unstructured.Unstructured{Object: object}
}
