package live

import (
	"encoding/base64"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
)

// normal brings an object of a manifest into the form in which the API server
// keeps it, as far as that can be told without one, and keeps only what the
// manifest writes: quantities in their canonical spelling ("cpu: 1" is "1"),
// stringData folded into data, nulls and unknown fields dropped. The second
// result tells how lists are merged, nil for a kind that has no Go type.
func normal(obj *unstructured.Unstructured) (map[string]any, strategicpatch.LookupPatchMeta) {
	written := runtime.DeepCopyJSON(obj.Object)
	gvk := obj.GroupVersionKind()
	if gvk.Group == "" && gvk.Version == "v1" && gvk.Kind == "Secret" {
		foldStringData(written)
	}
	typed, err := scheme.Scheme.New(gvk)
	if err != nil {
		return withoutNulls(written), nil
	}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(written, typed) != nil {
		return withoutNulls(written), nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return withoutNulls(written), nil
	}
	schema, err := strategicpatch.NewPatchMetaFromStruct(typed)
	if err != nil {
		return writtenOf(content, written), nil
	}
	return writtenOf(content, written), schema
}

func foldStringData(secret map[string]any) {
	text, ok := secret["stringData"].(map[string]any)
	delete(secret, "stringData")
	if !ok || len(text) == 0 {
		return
	}
	data, ok := secret["data"].(map[string]any)
	if !ok {
		data = map[string]any{}
		secret["data"] = data
	}
	for k, v := range text {
		if s, ok := v.(string); ok {
			data[k] = base64.StdEncoding.EncodeToString([]byte(s))
		}
	}
}

// writtenOf takes from the normal form what the manifest writes.
func writtenOf(normal, written map[string]any) map[string]any {
	kept := make(map[string]any, len(written))
	for k, w := range written {
		if w == nil {
			continue
		}
		n, ok := normal[k]
		if !ok {
			// A false that the Go type leaves out means something; any other
			// empty value is filled in by the API server, and a field that the
			// type does not know is dropped by it.
			if w == false {
				kept[k] = false
			}
			continue
		}
		kept[k] = writtenValue(n, w)
	}
	return kept
}

func writtenValue(normal, written any) any {
	switch n := normal.(type) {
	case map[string]any:
		if w, ok := written.(map[string]any); ok {
			return writtenOf(n, w)
		}
	case []any:
		w, ok := written.([]any)
		if !ok || len(w) != len(n) {
			return n
		}
		list := make([]any, len(n))
		for i := range n {
			list[i] = writtenValue(n[i], w[i])
		}
		return list
	}
	return normal
}

func withoutNulls(m map[string]any) map[string]any {
	for k, v := range m {
		switch v := v.(type) {
		case nil:
			delete(m, k)
		case map[string]any:
			withoutNulls(v)
		}
	}
	return m
}

// sameScalar compares two values that are neither maps nor lists.
func sameScalar(a, b any) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	x, xIsNumber := asFloat(a)
	y, yIsNumber := asFloat(b)
	return xIsNumber && yIsNumber && x == y
}

func asFloat(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case int:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}
