package flyte

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/planewright/planewright/kube"
	"sigs.k8s.io/yaml"
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

// normalize copies a value so that nothing is shared with the original, and
// so that it is made of map[string]any, []any and scalars alone. A map whose keys are
// no strings is an error.
func normalize(value any) (any, error) {
	switch v := value.(type) {
	case nil, bool, string, int, int64, float64, json.Number:
		return v, nil
	}
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.Map:
		out := make(map[string]any, v.Len())
		for entry := v.MapRange(); entry.Next(); {
			key, ok := entry.Key().Interface().(string)
			if !ok {
				return nil, fmt.Errorf("the key %v is no string", entry.Key())
			}
			item, err := normalize(entry.Value().Interface())
			if err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
			out[key] = item
		}
		return out, nil
	case reflect.Slice, reflect.Array:
		out := make([]any, v.Len())
		for i := range out {
			item, err := normalize(v.Index(i).Interface())
			if err != nil {
				return nil, fmt.Errorf("[%d]: %w", i, err)
			}
			out[i] = item
		}
		return out, nil
	case reflect.Int8, reflect.Int16, reflect.Int32:
		return v.Int(), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return int64(v.Uint()), nil
	case reflect.Float32:
		return v.Float(), nil
	case reflect.String:
		return v.String(), nil
	case reflect.Bool:
		return v.Bool(), nil
	}
	return nil, fmt.Errorf("a %T is no value of a chart; use maps, lists, strings, numbers and booleans", value)
}

// parseValues reads values from YAML the way Helm does.
func parseValues(text []byte) (kube.Values, error) {
	values := kube.Values{}
	if err := yaml.Unmarshal(text, &values); err != nil {
		return nil, err
	}
	if values == nil {
		values = kube.Values{}
	}
	return values, nil
}

// mergeValues lays one layer of values over another the way Helm does with
// values files: maps merge, anything else replaces, and a null stays, to delete the chart's
// own value later. Neither layer is changed.
func mergeValues(below, above map[string]any) map[string]any {
	out := make(map[string]any, len(below)+len(above))
	for key, value := range below {
		out[key] = value
	}
	for key, value := range above {
		if upper, ok := asMap(value); ok {
			if lower, ok := asMap(out[key]); ok {
				out[key] = mergeValues(lower, upper)
				continue
			}
		}
		out[key] = value
	}
	return out
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

// valueAt returns the value at a path of plain keys, and whether there is one.
func valueAt(values map[string]any, path string) (any, bool) {
	var value any = values
	for _, key := range splitPath(path) {
		m, ok := asMap(value)
		if !ok {
			return nil, false
		}
		if value, ok = m[key]; !ok {
			return nil, false
		}
	}
	return value, true
}

// setValue sets the value at a path of plain keys, and makes the maps on the way to it.
func setValue(values map[string]any, path string, value any) {
	keys := splitPath(path)
	for _, key := range keys[:len(keys)-1] {
		next, ok := values[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			values[key] = next
		}
		values = next
	}
	values[keys[len(keys)-1]] = value
}
