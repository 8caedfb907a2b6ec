package apiserver

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// table holds the objects of one kind.
type table struct {
	kind    *kind
	objects map[types.NamespacedName]*record
}

// sorted returns the records in the order of a list: by namespace, then name.
func (t *table) sorted(namespace string) []*record {
	keys := make([]types.NamespacedName, 0, len(t.objects))
	for key := range t.objects {
		if namespace == "" || key.Namespace == namespace {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, compareKeys)
	list := make([]*record, len(keys))
	for i, key := range keys {
		list[i] = t.objects[key]
	}
	return list
}

func compareKeys(a, b types.NamespacedName) int {
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}

func keyOf(obj Object) types.NamespacedName {
	return types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// table returns the objects of a kind, making room for them at first use.
func (s *Server) table(k *kind) *table {
	t := s.tables[k.GroupResource()]
	if t == nil {
		t = &table{kind: k, objects: map[types.NamespacedName]*record{}}
		s.tables[k.GroupResource()] = t
	}
	t.kind = k
	return t
}

func (s *Server) lookup(resource schema.GroupResource, key types.NamespacedName) *record {
	if t := s.tables[resource]; t != nil {
		return t.objects[key]
	}
	return nil
}

// store makes the object the current one under its name and tells watches
// and controllers. The object gets the next resourceVersion; the caller gives it away.
func (s *Server) store(k *kind, obj Object) *record {
	t := s.table(k)
	key := keyOf(obj)
	s.revision++
	obj.SetResourceVersion(strconv.FormatUint(s.revision, 10))
	old, now := t.objects[key], &record{obj: obj}
	t.objects[key] = now
	if crd, ok := obj.(*apiextensionsv1.CustomResourceDefinition); ok {
		var before *apiextensionsv1.CustomResourceDefinition
		if old != nil {
			before = old.obj.(*apiextensionsv1.CustomResourceDefinition)
		}
		s.define(before, crd)
	}
	s.notify(change{kind: k, revision: s.revision, old: old, now: now})
	return now
}

// remove drops the object and tells watches and controllers. The last state
// that they see has the resourceVersion of the removal.
func (s *Server) remove(k *kind, obj Object) {
	t := s.table(k)
	key := keyOf(obj)
	old := t.objects[key]
	if old == nil {
		return
	}
	delete(t.objects, key)
	if crd, ok := old.obj.(*apiextensionsv1.CustomResourceDefinition); ok {
		s.define(crd, nil)
	}
	s.revision++
	last := Clone(obj)
	last.SetResourceVersion(strconv.FormatUint(s.revision, 10))
	s.notify(change{kind: k, revision: s.revision, old: old, last: &record{obj: last}})
}

// sortedTables returns the tables by group and resource.
func (s *Server) sortedTables() []*table {
	tables := slices.Collect(maps.Values(s.tables))
	slices.SortFunc(tables, func(a, b *table) int {
		return strings.Compare(a.kind.GroupResource().String(), b.kind.GroupResource().String())
	})
	return tables
}
