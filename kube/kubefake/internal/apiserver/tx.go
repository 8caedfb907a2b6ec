package apiserver

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// ErrKindUnknown says that no such kind is served.
var ErrKindUnknown = errors.New("kind is not served")

// Tx reads and writes stored state from inside the process, the way that
// controllers do: one at a time, unseen by permissions and the call log.
type Tx struct{ s *Server }

// Do runs f while the server is locked. It does nothing once the server is closed.
func (s *Server) Do(f func(tx Tx)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		f(Tx{s})
	}
}

// Get returns an object, nil if there is none. It must not be changed.
func (tx Tx) Get(group, kind, namespace, name string) Object {
	k := tx.s.kindNamed(group, kind)
	if k == nil {
		return nil
	}
	if rec := tx.s.lookup(k.GroupResource(), types.NamespacedName{Namespace: namespace, Name: name}); rec != nil {
		return rec.obj
	}
	return nil
}

// List returns the objects of a kind by namespace and name, of all namespaces
// if it is empty. They must not be changed.
func (tx Tx) List(group, kind, namespace string) []Object {
	k := tx.s.kindNamed(group, kind)
	if k == nil {
		return nil
	}
	t := tx.s.tables[k.GroupResource()]
	if t == nil {
		return nil
	}
	records := t.sorted(namespace)
	list := make([]Object, len(records))
	for i, rec := range records {
		list[i] = rec.obj
	}
	return list
}

// All returns every object, by group, kind, namespace and name. They must not be changed.
func (tx Tx) All(visit func(Object)) {
	for _, t := range tx.s.sortedTables() {
		for _, rec := range t.sorted("") {
			visit(rec.obj)
		}
	}
}

// Create admits a new object and stores it. The object is given away.
func (tx Tx) Create(obj Object, manager string) (Object, error) {
	k, err := tx.kindOf(obj)
	if err != nil {
		return nil, err
	}
	normalize(k, obj)
	if manager != "" {
		fields, err := k.fields("")
		if err != nil {
			return nil, err
		}
		obj = managed(fields, k.newObject(), obj, manager)
	}
	rec, err := tx.s.insert(k, obj, false)
	if err != nil {
		return nil, err
	}
	return rec.obj, nil
}

// Replace stores the new state of an object as it is, status included. The
// object is given away.
func (tx Tx) Replace(obj Object) {
	k, err := tx.kindOf(obj)
	if err != nil {
		return
	}
	rec := tx.s.lookup(k.GroupResource(), keyOf(obj))
	if rec == nil || sameButTimes(obj, rec.obj) {
		return
	}
	if isDone(k, obj) {
		tx.s.store(k, obj)
		tx.s.remove(k, obj)
		return
	}
	tx.s.store(k, obj)
}

// Delete deletes an object as a client's call would; one that is gone is fine.
func (tx Tx) Delete(obj Object, options metav1.DeleteOptions) {
	k, err := tx.kindOf(obj)
	if err != nil {
		return
	}
	if rec := tx.s.lookup(k.GroupResource(), keyOf(obj)); rec != nil && rec.obj.GetUID() == obj.GetUID() {
		_, _ = tx.s.drop(k, rec, &options, false)
	}
}

// Remove drops an object whatever holds it.
func (tx Tx) Remove(obj Object) {
	if k, err := tx.kindOf(obj); err == nil {
		tx.s.remove(k, obj)
	}
}

// Suffix returns five characters as generated names end in.
func (tx Tx) Suffix() string { return tx.s.newSuffix() }

// InNamespace returns all objects of a namespace. They must not be changed.
func (tx Tx) InNamespace(namespace string) []Object {
	var list []Object
	for _, t := range tx.s.sortedTables() {
		if !t.kind.Namespaced {
			continue
		}
		for _, rec := range t.sorted(namespace) {
			list = append(list, rec.obj)
		}
	}
	return list
}

func (tx Tx) kindOf(obj Object) (*kind, error) {
	gvk := obj.GetObjectKind().GroupVersionKind()
	k := tx.s.kindNamed(gvk.Group, gvk.Kind)
	if k == nil {
		return nil, fmt.Errorf("%s: %w", gvk, ErrKindUnknown)
	}
	return k, nil
}

// Seed creates an object as the cluster's administrator would: decoded,
// admitted and validated.
func (s *Server) Seed(encoded []byte, gvk schema.GroupVersionKind, manager string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kindNamed(gvk.Group, gvk.Kind)
	if k == nil {
		return fmt.Errorf("%s: %w", gvk, ErrKindUnknown)
	}
	obj, unknown, err := decodeObject(k, encoded)
	if err != nil {
		return err
	}
	if len(unknown) > 0 {
		return apierrors.NewBadRequest(errors.Join(unknown...).Error())
	}
	obj.SetResourceVersion("")
	_, err = Tx{s}.Create(obj, manager)
	return err
}
