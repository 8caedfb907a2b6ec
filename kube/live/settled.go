package live

import (
	"encoding/json"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// settled reports whether applying an object would surely change nothing, so
// that the API server need not be asked: the manager has applied exactly these
// fields before, and each still has the value. What cannot be told is not settled.
func settled(obj, live *unstructured.Unstructured, manager string) bool {
	if live.GetDeletionTimestamp() != nil || obj.Object["stringData"] != nil {
		return false
	}
	// A precondition is for the API server to check.
	if obj.GetResourceVersion() != "" || obj.GetUID() != "" {
		return false
	}
	for _, entry := range live.GetManagedFields() {
		if entry.Manager != manager || entry.Operation != metav1.ManagedFieldsOperationApply || entry.Subresource != "" {
			continue
		}
		if entry.APIVersion != obj.GetAPIVersion() || entry.FieldsV1 == nil {
			return false
		}
		var fields map[string]any
		if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
			return false
		}
		return settledFields(appliedFields(obj), live.Object, fields)
	}
	return false
}

// appliedFields is what of an object a manager owns by applying it.
func appliedFields(obj *unstructured.Unstructured) map[string]any {
	fields := written(obj)
	if status, ok := obj.Object["status"]; ok {
		fields["status"] = status
	}
	return fields
}

func settledFields(want, live map[string]any, owned map[string]any) bool {
	count := 0
	for name := range owned {
		switch {
		case strings.HasPrefix(name, "f:"):
			count++
		case name != ".":
			return false // an element of a list that is merged
		}
	}
	if count != len(want) {
		return false
	}
	for name, w := range want {
		fields, ok := owned["f:"+name].(map[string]any)
		if !ok {
			return false
		}
		wm, isMap := w.(map[string]any)
		if !isMap || len(fields) == 0 {
			if !reflect.DeepEqual(w, live[name]) {
				return false
			}
			continue
		}
		lm, ok := live[name].(map[string]any)
		if !ok || !settledFields(wm, lm, fields) {
			return false
		}
	}
	return true
}
