package kube

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/planewright/planewright"
	"sigs.k8s.io/yaml"
)

// Values are a chart's values: maps, lists and scalars as YAML holds them. A
// nil takes away the chart's own value. Values are treated as immutable: what
// changes them returns a copy.
type Values map[string]any

// ParseValues reads values from YAML as Helm does (YAML 1.1 scalars: "yes" is
// true and 012 is ten), except that a key that is given twice is an error and
// that whole numbers stay whole, where Helm renders a million as 1e+06. Errors
// match [planewright.ErrInvalid].
func ParseValues(data []byte) (Values, error) {
	var parsed any
	err := yaml.UnmarshalStrict(data, &parsed, func(d *json.Decoder) *json.Decoder {
		d.UseNumber()
		return d
	})
	if err != nil {
		return nil, fmt.Errorf("values are not YAML: %w: %w", planewright.ErrInvalid, err)
	}
	switch v := plain(parsed).(type) {
	case nil:
		return Values{}, nil
	case map[string]any:
		return v, nil
	default:
		return nil, fmt.Errorf("values are no map of keys: %w", planewright.ErrInvalid)
	}
}

// Merge returns the values with others laid over them, by Helm's rules: maps
// are merged key by key, anything else is replaced. A nil in over stays a nil,
// so that it takes away the chart's own value. Neither side is changed, and the
// result shares nothing with them.
//
// The result holds plain maps, lists, strings, booleans, int64 and float64
// only: typed maps, slices, numbers and structs are turned into them, as
// encoding/json would.
func (v Values) Merge(over Values) Values {
	merged := v.copy()
	overlay(merged, over.copy())
	return merged
}

// Set returns the values with the one at the path set. A path is keys joined by
// dots; a dot inside a key is written as `\.`. Maps on the way are made, and
// put in the place of anything that is no map. A map is set as it is, not
// merged: [Values.Merge] merges.
func (v Values) Set(path string, value any) Values {
	result := v.copy()
	keys := splitPath(path)
	at := map[string]any(result)
	for _, k := range keys[:len(keys)-1] {
		next, ok := at[k].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[k] = next
		}
		at = next
	}
	at[keys[len(keys)-1]] = plain(value)
	return result
}

// Get returns the value at the path, see [Values.Set], and whether it is there.
// A nil that was set is there. Maps and lists that it returns must not be changed.
func (v Values) Get(path string) (any, bool) {
	keys := splitPath(path)
	var at any = map[string]any(v)
	for _, k := range keys {
		m, ok := asMap(at)
		if !ok {
			return nil, false
		}
		if at, ok = m[k]; !ok {
			return nil, false
		}
	}
	return at, true
}

func (v Values) copy() Values {
	c := make(Values, len(v))
	for k, item := range v {
		c[k] = plain(item)
	}
	return c
}

// overlay lays over on base. It takes over's maps for its own.
func overlay(base, over map[string]any) {
	for k, o := range over {
		om, oIsMap := o.(map[string]any)
		bm, bIsMap := base[k].(map[string]any)
		if oIsMap && bIsMap {
			overlay(bm, om)
			continue
		}
		base[k] = o
	}
}

func asMap(v any) (map[string]any, bool) {
	switch m := v.(type) {
	case map[string]any:
		return m, true
	case Values:
		return m, true
	}
	m, ok := plain(v).(map[string]any)
	return m, ok
}

// splitPath splits at dots that are not escaped.
func splitPath(path string) []string {
	var (
		keys []string
		key  strings.Builder
	)
	for i := 0; i < len(path); i++ {
		switch {
		case path[i] == '\\' && i+1 < len(path) && (path[i+1] == '.' || path[i+1] == '\\'):
			i++
			key.WriteByte(path[i])
		case path[i] == '.':
			keys = append(keys, key.String())
			key.Reset()
		default:
			key.WriteByte(path[i])
		}
	}
	return append(keys, key.String())
}

// plain copies a value into what YAML holds: maps with string keys, lists,
// strings, booleans, int64, float64 and nil.
func plain(v any) any {
	switch v := v.(type) {
	case nil, bool, string, int64, float64:
		return v
	case int:
		return int64(v)
	case json.Number:
		return number(v)
	case map[string]any:
		if v == nil {
			return nil
		}
		m := make(map[string]any, len(v))
		for k, item := range v {
			m[k] = plain(item)
		}
		return m
	case Values:
		return plain(map[string]any(v))
	case []any:
		if v == nil {
			return nil
		}
		l := make([]any, len(v))
		for i, item := range v {
			l[i] = plain(item)
		}
		return l
	case json.Marshaler, encoding.TextMarshaler:
		return viaJSON(v)
	}
	return plainKind(reflect.ValueOf(v))
}

func plainKind(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool()
	case reflect.String:
		return v.String()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if v.Uint() > math.MaxInt64 {
			return float64(v.Uint())
		}
		return int64(v.Uint())
	case reflect.Float32:
		// By its shortest text: 0.3 must not become 0.30000001192092896.
		f, _ := strconv.ParseFloat(strconv.FormatFloat(v.Float(), 'g', -1, 32), 64)
		return f
	case reflect.Float64:
		return v.Float()
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return plain(v.Elem().Interface())
	case reflect.Map:
		if v.IsNil() {
			return nil
		}
		if v.Type().Key().Kind() != reflect.String {
			return viaJSON(v.Interface())
		}
		m := make(map[string]any, v.Len())
		for it := v.MapRange(); it.Next(); {
			m[it.Key().String()] = plain(it.Value().Interface())
		}
		return m
	case reflect.Slice:
		if v.IsNil() {
			return nil
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return viaJSON(v.Interface())
		}
		return plainList(v)
	case reflect.Array:
		return plainList(v)
	default:
		return viaJSON(v.Interface())
	}
}

func plainList(v reflect.Value) []any {
	l := make([]any, v.Len())
	for i := range l {
		l[i] = plain(v.Index(i).Interface())
	}
	return l
}

// viaJSON turns a struct and the like into plain values. What has no JSON form
// stays as it is, and is an error when the chart is rendered.
func viaJSON(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		return v
	}
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	var parsed any
	if d.Decode(&parsed) != nil {
		return v
	}
	return plain(parsed)
}

// number keeps whole numbers whole.
func number(n json.Number) any {
	if i, err := n.Int64(); err == nil {
		return i
	}
	f, err := n.Float64()
	if err != nil {
		return n.String()
	}
	return f
}
