package kubeflowtest

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

type object = unstructured.Unstructured

// round is one look of all controllers at all clusters.
type round struct {
	places   map[string]place
	packages []Package
	faults   map[string]Fault
	// cluster is the one looked at, objects what it holds.
	cluster string
	objects []*object
	// stale tells that objects were written since they were looked at.
	stale bool
	// wrote tells that something was changed, waiting that something is to be
	// looked at again although no call will tell.
	wrote, waiting bool
	err            error
}

func (r *round) run() {
	r.on(Global, r.serviceMeshes)
	r.on(Workload, r.catalog, r.subscriptions, r.installPlans, r.operators, r.customResources, r.profiles, r.istios, r.loadBalancers)
}

func (r *round) on(cluster string, controllers ...func()) {
	r.look(cluster)
	for _, c := range controllers {
		c()
		if r.stale && r.places[cluster].instant() {
			r.look(cluster)
		}
	}
}

// look turns to a cluster, as it is now.
func (r *round) look(cluster string) {
	objects, err := r.places[cluster].objects()
	r.err = errors.Join(r.err, err)
	r.cluster, r.objects, r.stale = cluster, objects, false
}

func (r *round) fault(what string) Fault { return r.faults[what] }

// all returns the objects of a kind.
func (r *round) all(group, kind string) []*object {
	var list []*object
	for _, o := range r.objects {
		if gvk := o.GroupVersionKind(); gvk.Group == group && gvk.Kind == kind {
			list = append(list, o)
		}
	}
	return list
}

// get returns an object, nil if it does not exist.
func (r *round) get(group, kind, namespace, name string) *object {
	i := slices.IndexFunc(r.objects, func(o *object) bool {
		gvk := o.GroupVersionKind()
		return gvk.Group == group && gvk.Kind == kind && o.GetNamespace() == namespace && o.GetName() == name
	})
	if i < 0 {
		return nil
	}
	return r.objects[i]
}

// serves reports whether a definition is established.
func (r *round) serves(crd string) bool {
	d := r.get("apiextensions.k8s.io", "CustomResourceDefinition", "", crd)
	return d != nil && hasCondition(d, "Established")
}

// ensure creates an object if it does not exist, and returns it as it is: one
// that has just been made has no uid before the next round. It returns nil if it
// cannot be made yet.
func (r *round) ensure(o *object) *object {
	gvk := o.GroupVersionKind()
	if have := r.get(gvk.Group, gvk.Kind, o.GetNamespace(), o.GetName()); have != nil {
		return have
	}
	if err := r.places[r.cluster].create(o, r.plural(gvk)); err != nil {
		r.waiting = true // its namespace or definition is not there yet, or going away
		return nil
	}
	r.wrote, r.stale = true, true
	r.objects = append(r.objects, o)
	return o
}

func (r *round) client(o *object) dynamic.ResourceInterface {
	return resource(r.places[r.cluster].client(), o, r.plural(o.GroupVersionKind()))
}

// resource is what a client knows the objects of an object's kind and namespace by.
func resource(client dynamic.Interface, o *object, plural string) dynamic.ResourceInterface {
	of := client.Resource(o.GroupVersionKind().GroupVersion().WithResource(plural))
	if o.GetNamespace() == "" {
		return of
	}
	return of.Namespace(o.GetNamespace())
}

func (r *round) plural(gvk schema.GroupVersionKind) string { return pluralOf(r.objects, gvk) }

// pluralOf finds the plural of a kind in its definition.
func pluralOf(objects []*object, gvk schema.GroupVersionKind) string {
	for _, d := range objects {
		if d.GetKind() == "CustomResourceDefinition" && textAt(d.Object, "spec", "group") == gvk.Group && textAt(d.Object, "spec", "names", "kind") == gvk.Kind {
			return textAt(d.Object, "spec", "names", "plural")
		}
	}
	return lower(gvk.Kind) + "s"
}

// setStatus writes the status of an object, if it differs.
func (r *round) setStatus(o *object, status map[string]any) {
	status = normal(status)
	had, _ := o.Object["status"].(map[string]any)
	if reflect.DeepEqual(had, status) {
		return
	}
	next := o.DeepCopy()
	next.Object["status"] = status
	_, err := r.client(o).UpdateStatus(context.Background(), next, metav1.UpdateOptions{FieldManager: "simulation"})
	r.done(err)
}

// update writes an object as it was changed.
func (r *round) update(o *object) {
	_, err := r.client(o).Update(context.Background(), o, metav1.UpdateOptions{FieldManager: "simulation"})
	r.done(err)
}

// remove deletes an object.
func (r *round) remove(o *object) {
	if o.GetDeletionTimestamp() != nil {
		return
	}
	policy := metav1.DeletePropagationBackground
	r.done(r.client(o).Delete(context.Background(), o.GetName(), metav1.DeleteOptions{PropagationPolicy: &policy}))
}

func (r *round) done(err error) {
	switch {
	case err == nil, apierrors.IsNotFound(err), apierrors.IsConflict(err):
		r.wrote, r.stale = true, true
	default:
		r.err = errors.Join(r.err, err)
	}
}

// normal is a map as it comes out of an API server.
func normal(m map[string]any) map[string]any {
	text, err := json.Marshal(m)
	if err != nil {
		panic("kubeflowtest: " + err.Error())
	}
	o := &object{}
	if err := o.UnmarshalJSON(slices.Concat([]byte(`{"apiVersion":"v1","kind":"X","x":`), text, []byte(`}`))); err != nil {
		panic("kubeflowtest: " + err.Error())
	}
	out, _ := o.Object["x"].(map[string]any)
	return out
}
