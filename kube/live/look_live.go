package live

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/planewright/planewright/kube"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// inspect reads the live objects: those of a deployed record to find drift, all
// others to find out whose they are. One list per kind and namespace.
func (r *releases) inspect(ctx context.Context, l *look) error {
	known := map[kube.Ref]*unstructured.Unstructured{}
	if !l.fresh() && l.rec.Info.Status == statusDeployed {
		for _, obj := range l.recorded {
			if obj.GetName() != "" {
				known[kube.RefOf(obj)] = obj
			}
		}
	}
	var unknown []kube.Ref
	for _, obj := range l.desired {
		if ref := kube.RefOf(obj); known[ref] == nil && ref.Name != "" {
			unknown = append(unknown, ref)
		}
	}
	live, err := r.readAll(ctx, slices.Collect(maps.Keys(known)))
	if err != nil {
		return err
	}
	metas, err := r.readOwners(ctx, unknown)
	if err != nil {
		return err
	}

	for _, obj := range l.desired {
		ref := kube.RefOf(obj)
		if m, exists := metas[ref]; exists {
			if owner, foreign := l.foreignOwner(m.Labels, m.Annotations, true); foreign {
				l.foreign = append(l.foreign, kube.OwnedObject{Ref: ref, Owner: owner})
			}
			l.see(ref, string(m.UID), m.Generation, "")
		}
	}
	for _, obj := range l.recorded {
		ref := kube.RefOf(obj)
		if known[ref] == nil {
			continue
		}
		now := live[ref]
		if now != nil {
			if owner, foreign := l.foreignOwner(now.GetLabels(), now.GetAnnotations(), false); foreign {
				l.foreign = append(l.foreign, kube.OwnedObject{Ref: ref, Owner: owner})
			}
			version := ""
			if _, hasStatus := now.Object["status"]; !hasStatus && now.GetGeneration() == 0 {
				version = now.GetResourceVersion()
			}
			l.see(ref, string(now.GetUID()), now.GetGeneration(), version)
		}
		l.drift = append(l.drift, drift(l.owned(obj), now)...)
	}
	return nil
}

// see notes an object's identity and version for the fingerprint.
func (l *look) see(ref kube.Ref, uid string, generation int64, version string) {
	l.seen = append(l.seen, fmt.Sprintf("%s %s %s %d %s", ref.APIVersion, ref, uid, generation, version))
}

// owned is an object of a manifest with what Helm writes on it.
func (l *look) owned(obj *unstructured.Unstructured) *unstructured.Unstructured {
	obj = obj.DeepCopy()
	labels := obj.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[managedByLabel] = managedByHelm
	obj.SetLabels(labels)
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[releaseNameAnnotation] = l.rel.Name
	annotations[releaseNamespaceAnnotation] = l.rel.Namespace
	obj.SetAnnotations(annotations)
	return obj
}

// noRelease is whose an object is that nobody marked.
const noRelease = "no release"

// foreignOwner tells whose an object is that is not ours. One that the record
// knows and that has lost its marks is still ours; a new one must have them.
func (l *look) foreignOwner(labels, annotations map[string]string, isNew bool) (string, bool) {
	name, namespace := annotations[releaseNameAnnotation], annotations[releaseNamespaceAnnotation]
	switch {
	case name == l.rel.Name && namespace == l.rel.Namespace && (labels[managedByLabel] == managedByHelm || !isNew):
		return "", false
	case name == "" && !isNew:
		return "", false
	case name == "":
		if manager := labels[managedByLabel]; manager != "" && manager != managedByHelm {
			return "no release (managed by " + manager + ")", true
		}
		return noRelease, true
	}
	return "release " + namespace + "/" + name, true
}

// kindIn is one kind in one namespace.
type kindIn struct {
	gvk       schema.GroupVersionKind
	namespace string
}

// byKind groups objects by what one list can read, leaving out what is not served.
func (r *releases) byKind(ctx context.Context, refs []kube.Ref) (map[kindIn][]kube.Ref, map[kindIn]*meta.RESTMapping, error) {
	groups, mappings := map[kindIn][]kube.Ref{}, map[kindIn]*meta.RESTMapping{}
	lookup := r.c.apis.lookup()
	for _, ref := range refs {
		k := kindIn{ref.GroupVersionKind(), ref.Namespace}
		if mappings[k] == nil {
			m, err := lookup.mapping(ctx, k.gvk)
			if meta.IsNoMatchError(err) {
				continue
			}
			if err != nil {
				return nil, nil, err
			}
			mappings[k] = m
		}
		groups[k] = append(groups[k], ref)
	}
	return groups, mappings, nil
}

// readAll reads objects that Helm has made. A list of those that Helm marks
// finds them all, unless a mark was taken away: what is not in it is asked for.
func (r *releases) readAll(ctx context.Context, refs []kube.Ref) (map[kube.Ref]*unstructured.Unstructured, error) {
	groups, _, err := r.byKind(ctx, refs)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	found := map[kube.Ref]*unstructured.Unstructured{}
	kinds := slices.Collect(maps.Keys(groups))
	err = inParallel(len(kinds), func(i int) error {
		k := kinds[i]
		apiVersion, kind := k.gvk.ToAPIVersionAndKind()
		items, _, err := r.c.list(ctx, kube.Ref{APIVersion: apiVersion, Kind: kind}, client.InNamespace(k.namespace),
			client.MatchingLabels{managedByLabel: managedByHelm})
		if err != nil && !apierrors.IsForbidden(err) { // one who may not list may still get
			return r.c.failure(ctx, "list", kind+"s of cluster "+r.c.name, err)
		}
		listed := map[kube.Ref]*unstructured.Unstructured{}
		for _, item := range items {
			listed[kube.RefOf(item)] = item
		}
		for _, ref := range groups[k] {
			obj := listed[ref]
			if obj == nil {
				if obj, err = (&objects{r.c}).read(ctx, ref); err != nil {
					return r.c.fail(ctx, "get", ref.In(r.c.name), err)
				}
			}
			mu.Lock()
			if obj != nil {
				found[ref] = obj
			}
			mu.Unlock()
		}
		return nil
	})
	return found, err
}

// readOwners reads the metadata of those of the objects that exist.
func (r *releases) readOwners(ctx context.Context, refs []kube.Ref) (map[kube.Ref]metav1.ObjectMeta, error) {
	groups, mappings, err := r.byKind(ctx, refs)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	found := map[kube.Ref]metav1.ObjectMeta{}
	kinds := slices.Collect(maps.Keys(groups))
	err = inParallel(len(kinds), func(i int) error {
		k := kinds[i]
		byName := map[string]metav1.ObjectMeta{}
		metas, err := r.c.listMetadata(ctx, mappings[k].Resource, k.namespace, "")
		switch {
		case apierrors.IsForbidden(err): // one who may not list may still get
			if byName, err = r.getOwners(ctx, groups[k]); err != nil {
				return err
			}
		case err != nil:
			return r.c.failure(ctx, "list", k.gvk.Kind+"s of cluster "+r.c.name, err)
		}
		for _, m := range metas {
			byName[m.Name] = m
		}
		mu.Lock()
		defer mu.Unlock()
		for _, ref := range groups[k] {
			if m, ok := byName[ref.Name]; ok {
				found[ref] = m
			}
		}
		return nil
	})
	return found, err
}

// getOwners reads the metadata of objects of one kind and namespace one by one.
func (r *releases) getOwners(ctx context.Context, refs []kube.Ref) (map[string]metav1.ObjectMeta, error) {
	found := map[string]metav1.ObjectMeta{}
	for _, ref := range refs {
		obj, err := (&objects{r.c}).read(ctx, ref)
		if err != nil {
			return nil, r.c.fail(ctx, "get", ref.In(r.c.name), err)
		}
		if obj != nil {
			found[ref.Name] = metav1.ObjectMeta{UID: obj.GetUID(), Generation: obj.GetGeneration(), Labels: obj.GetLabels(), Annotations: obj.GetAnnotations()}
		}
	}
	return found, nil
}
