package live

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// drift tells in which fields a live object differs from what a manifest writes.
// Fields that the manifest says nothing about are others' to set. The live
// object is nil if it does not exist.
func drift(want, live *unstructured.Unstructured) []planewright.FieldDiff {
	ref := kube.RefOf(want)
	if live == nil {
		return []planewright.FieldDiff{{Path: ref.String() + " (drift)", After: wholeObject}}
	}
	content, schema := normal(want)
	delete(content, "status")
	found := subset(content, live.Object, schema, ref)
	if len(found) > 0 {
		// The API server keeps objects in their normal form; a cluster in
		// memory may not.
		settled, _ := normal(live)
		found = subset(content, settled, schema, ref)
	}
	for i := range found {
		found[i].Path = ref.String() + " (drift): " + found[i].Path
	}
	return found
}

func subset(want, live map[string]any, schema strategicpatch.LookupPatchMeta, ref kube.Ref) []planewright.FieldDiff {
	s := subsetter{d: differ{secret: secretFieldsOf(ref)}}
	s.maps("", want, live, schema)
	slices.SortFunc(s.d.found, func(a, b planewright.FieldDiff) int { return strings.Compare(a.Path, b.Path) })
	return s.d.found
}

// subsetter notes where live lacks what is wanted.
type subsetter struct{ d differ }

func (s *subsetter) value(path string, want, live any, schema strategicpatch.LookupPatchMeta, meta *strategicpatch.PatchMeta) {
	switch w := want.(type) {
	case map[string]any:
		if l, ok := live.(map[string]any); ok {
			s.maps(path, w, l, schema)
			return
		}
		if live == nil && len(w) == 0 {
			return
		}
	case []any:
		if l, ok := live.([]any); ok || live == nil {
			s.lists(path, w, l, schema, meta)
			return
		}
	default:
		if sameScalar(w, live) || live == nil && isEmpty(w) {
			return
		}
	}
	s.d.add(path, live, want)
}

func (s *subsetter) maps(path string, want, live map[string]any, schema strategicpatch.LookupPatchMeta) {
	for k, w := range want {
		var (
			sub  strategicpatch.LookupPatchMeta
			meta *strategicpatch.PatchMeta
		)
		if schema != nil {
			sub, meta = lookupField(schema, k, w)
		}
		s.value(join(path, k), w, live[k], sub, meta)
	}
}

// lookupField finds how a field is merged, nothing if its type does not say.
func lookupField(schema strategicpatch.LookupPatchMeta, key string, value any) (strategicpatch.LookupPatchMeta, *strategicpatch.PatchMeta) {
	if s, ok := schema.(strategicpatch.PatchMetaFromStruct); ok && structOf(s.T) == nil {
		return nil, nil // a map with free keys
	}
	var (
		sub  strategicpatch.LookupPatchMeta
		meta strategicpatch.PatchMeta
		err  error
	)
	switch value.(type) {
	case map[string]any:
		sub, meta, err = schema.LookupPatchMetadataForStruct(key)
	case []any:
		sub, meta, err = schema.LookupPatchMetadataForSlice(key)
	default:
		return nil, nil
	}
	if err != nil {
		return nil, nil
	}
	return sub, &meta
}

func structOf(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

// lists compares as Helm's patch would: a list that is merged by a key may hold
// more than is wanted, any other must be as it is wanted.
func (s *subsetter) lists(path string, want, live []any, schema strategicpatch.LookupPatchMeta, meta *strategicpatch.PatchMeta) {
	merged := meta != nil && slices.Contains(meta.GetPatchStrategies(), "merge")
	if merged && meta.GetPatchMergeKey() != "" {
		s.keyed(path, want, live, schema, meta.GetPatchMergeKey())
		return
	}
	if merged {
		for _, w := range want {
			if !slices.ContainsFunc(live, func(l any) bool { return reflect.DeepEqual(w, l) }) {
				s.d.add(path, nil, w)
			}
		}
		return
	}
	if len(want) != len(live) {
		s.d.add(path, anyList(live), want)
		return
	}
	for i := range want {
		s.value(path+"["+strconv.Itoa(i)+"]", want[i], live[i], schema, nil)
	}
}

// keyed compares lists that are merged by a key. Several elements may share it,
// as a port does for TCP and UDP; one that fits is enough.
func (s *subsetter) keyed(path string, want, live []any, schema strategicpatch.LookupPatchMeta, key string) {
	for _, w := range want {
		wm, ok := w.(map[string]any)
		if !ok {
			continue
		}
		at := path + "[" + key + "=" + text(wm[key]) + "]"
		var best []planewright.FieldDiff
		fits, candidates := false, 0
		for _, l := range live {
			lm, ok := l.(map[string]any)
			if !ok || !sameScalar(wm[key], lm[key]) {
				continue
			}
			try := subsetter{d: differ{secret: s.d.secret}}
			try.maps(at, wm, lm, schema)
			if candidates++; candidates == 1 || len(try.d.found) < len(best) {
				best = try.d.found
			}
			fits = fits || len(try.d.found) == 0
		}
		switch {
		case fits:
		case candidates == 0:
			s.d.add(at, nil, w)
		default:
			s.d.found = append(s.d.found, best...)
		}
	}
}

func anyList(list []any) any {
	if list == nil {
		return nil
	}
	return list
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case bool:
		return !v
	case int64:
		return v == 0
	case float64:
		return v == 0
	}
	return v == nil
}
