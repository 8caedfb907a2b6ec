package flyte

import (
	"fmt"
	"reflect"

	"github.com/planewright/planewright/kube"
)

// asMap returns the value as a map of values, whatever its map type.
func asMap(value any) (map[string]any, bool) {
	switch m := value.(type) {
	case map[string]any:
		return m, true
	case kube.Values:
		return m, true
	}
	return nil, false
}

// copyValues copies values, so that nothing is shared with the original and
// they are made of plain maps, lists and scalars. What cannot be is an error.
func copyValues(values kube.Values) (kube.Values, error) {
	copied := kube.Values{}.Merge(values)
	for _, leaf := range leaves(copied) {
		switch leaf.value.(type) {
		case nil, bool, string, int64, float64, map[string]any, []any, kube.Values:
		default:
			return nil, fmt.Errorf("%s is a %T", leaf.path, leaf.value)
		}
	}
	return copied, nil
}

// sameValue reports whether two values are the same to a chart.
func sameValue(a, b any) bool {
	plain := func(value any) kube.Values { return kube.Values{}.Merge(kube.Values{"value": value}) }
	return reflect.DeepEqual(plain(a), plain(b))
}

// dropNulls takes away what the values set to null and the chart has no value
// for: there it has nothing to delete, and would be rendered.
func dropNulls(values, defaults map[string]any) map[string]any {
	out := make(map[string]any, len(values))
	for key, value := range values {
		has, ok := defaults[key]
		if value == nil && !ok {
			continue
		}
		if m, ok := asMap(value); ok {
			below, _ := asMap(has)
			value = dropNulls(m, below)
		}
		out[key] = value
	}
	return out
}

// layer is values that are being put together.
type layer struct{ values kube.Values }

// set sets the value at a path of keys, see [kube.Values.Set].
func (l *layer) set(path string, value any) { l.values = l.values.Set(path, value) }
