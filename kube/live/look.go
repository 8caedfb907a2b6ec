package live

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"helm.sh/helm/v3/pkg/chartutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// renderer is part of what a record's digest stands for: change it whenever
// this package renders another way.
const renderer = "helm v3.22.0, planewright 1"

// What Helm writes on every object of a release.
const (
	managedByLabel             = "app.kubernetes.io/managed-by"
	managedByHelm              = "Helm"
	releaseNameAnnotation      = "meta.helm.sh/release-name"
	releaseNamespaceAnnotation = "meta.helm.sh/release-namespace"
)

// look is what is seen of a release and the cluster before anything is done.
// Plan and Apply go by the same look, so that a plan tells what Apply does.
type look struct {
	rel  kube.Release
	rec  *record // nil if there is none
	caps *chartutil.Capabilities
	// as is how the revision that Apply would make is rendered, made is what
	// came of it; nil if the record is known to be made of the same inputs.
	as   renderAs
	made *rendering
	// desired and recorded are the objects as they should be and as the record
	// has them, in install order.
	desired, recorded []*unstructured.Unstructured
	scopes            *scopes
	// missing are kinds that the cluster does not serve and the chart does not bring.
	missing []schema.GroupVersionKind
	// foreign are objects that belong to somebody else.
	foreign []kube.OwnedObject
	drift   []planewright.FieldDiff
	// seen are the identities and versions of live objects.
	seen []string
}

// fresh reports whether Helm would install rather than upgrade.
func (l *look) fresh() bool { return l.rec == nil || l.rec.Info.Status == statusUninstalled }

// lookAt reads the record of a release and the cluster's facts, renders the
// release and finds out whose the objects are.
func (r *releases) lookAt(ctx context.Context, rel kube.Release) (*look, error) {
	if err := validate(rel); err != nil {
		return nil, err
	}
	l := &look{rel: rel}
	var (
		reads           sync.WaitGroup
		unread, unasked error
	)
	reads.Go(func() { l.rec, unread = r.latestRecord(ctx, rel.Namespace, rel.Name) })
	reads.Go(func() {
		if _, unasked = r.c.apis.served(ctx); unasked == nil {
			_, unasked = r.c.apis.knownVersion(ctx)
		}
	})
	reads.Wait()
	if err := cmp.Or(unread, unasked); err != nil {
		return nil, err // if both have failed, one tells why
	}
	if err := r.mayTouch(rel, l.rec); err != nil {
		return nil, err
	}
	if err := r.renderLook(ctx, l); err != nil {
		return nil, err
	}
	if err := r.placeLook(ctx, l); err != nil {
		return nil, err
	}
	if err := r.inspect(ctx, l); err != nil {
		return nil, err
	}
	if len(l.foreign) > 0 && !rel.Adopt {
		return nil, &kube.OwnershipError{Cluster: r.c.name, Release: rel.Namespace + "/" + rel.Name, Objects: l.foreign}
	}
	return l, nil
}

// mayTouch refuses a release that is in somebody else's hands.
func (r *releases) mayTouch(rel kube.Release, rec *record) error {
	if rec == nil || rec.Info.Status == statusUninstalled {
		return nil
	}
	if owner := rec.owner(); rel.Owner != "" && rec.labels[ownerLabel] != ownerValue(rel.Owner) && !rel.Adopt {
		whose := "nobody's stack: it was made with helm"
		if owner != "" {
			whose = "stack " + owner
		}
		return &kube.OwnershipError{Cluster: r.c.name, Release: rel.Namespace + "/" + rel.Name, Objects: []kube.OwnedObject{{
			Ref:   kube.Ref{APIVersion: planewright.ReleaseAPIVersion, Kind: planewright.ReleaseKind, Namespace: rel.Namespace, Name: rel.Name},
			Owner: whose,
		}}}
	}
	if !rec.pending() || rec.ours(rel.Owner) {
		return nil
	}
	age := rec.age()
	limit := rel.PendingAge
	if limit == 0 {
		limit = defaultPendingAge
	}
	if rel.RecoverPending && age >= limit {
		return nil
	}
	return &kube.PendingError{Cluster: r.c.name, State: rec.head(), Age: age}
}

// renderLook renders the release, unless the record tells that it was made of
// the same inputs.
func (r *releases) renderLook(ctx context.Context, l *look) error {
	traits := traitsOf(l.rel.Chart)
	l.as = renderAs{revision: 1, install: true}
	if !l.fresh() {
		l.as = renderAs{revision: l.rec.Revision + 1}
	}
	if !l.fresh() && l.rec.Info.Status == statusDeployed {
		own := renderAs{revision: l.rec.Revision, install: l.rec.Revision == 1}
		inputs, err := r.inputs(ctx, l.rel, own, traits)
		if err != nil {
			return err
		}
		if inputs != nil && len(l.rec.key) > 0 && l.rec.labels[digestLabel] == digestValue(l.rec.Revision, l.rec.key, inputs) {
			return nil
		}
		if err := r.renderAs(ctx, l, own); err != nil {
			return err
		}
		if l.made.manifest == l.rec.Manifest || !traits.revision {
			return nil
		}
		// A rollback has brought back what another revision was rendered for.
		if err := r.renderAs(ctx, l, renderAs{revision: 1, install: true}); err != nil || l.made.manifest == l.rec.Manifest {
			return err
		}
	}
	return r.renderAs(ctx, l, l.as)
}

func (r *releases) renderAs(ctx context.Context, l *look, as renderAs) error {
	if l.caps == nil {
		crds, err := crdsOf(l.rel)
		if err != nil {
			return err
		}
		if l.caps, err = r.capabilities(ctx, crds); err != nil {
			return err
		}
	}
	lookups := &trace{next: r.c.http.Transport, caller: ctx}
	config := *r.c.config
	config.Transport = lookups
	config.Timeout = requestTimeout
	made, err := render(ctx, l.rel, as, l.caps, &config)
	if err != nil && lookups.last() != nil {
		return fmt.Errorf("a lookup of the chart: %w", lookups.last())
	}
	l.made = made
	return err
}

// crdsOf are the definitions in the crds/ of a chart and those it depends on.
func crdsOf(rel kube.Release) ([]*unstructured.Unstructured, error) {
	if !slices.ContainsFunc(rel.Chart.Files(), func(f kube.ChartFile) bool {
		return strings.Contains(f.Name, "crds/") || strings.HasSuffix(f.Name, ".tgz")
	}) {
		return nil, nil // which saves to parse the chart twice
	}
	ch, _, err := loadForRender(rel)
	if err != nil {
		return nil, err
	}
	crds, err := crdFiles(ch)
	if err != nil {
		return nil, chartError(rel.Chart, err)
	}
	return crds, nil
}

// traits are what a chart's templates look at beside the values.
type traits struct {
	revision bool // which revision it is, whether it is the first
	apis     bool // what the cluster serves
	lookup   bool // objects in the cluster
}

// traitsOf searches the templates for words. To find one that is not used does no harm.
func traitsOf(ch *kube.Chart) traits {
	var t traits
	for _, f := range ch.Files() {
		switch {
		case strings.HasSuffix(f.Name, ".tgz"):
			return traits{revision: true, apis: true, lookup: true} // a chart inside, unread
		case !strings.Contains(f.Name, "templates/") && !strings.HasSuffix(f.Name, "values.yaml"):
			continue
		}
		t.revision = t.revision || bytes.Contains(f.Data, []byte("Revision")) || bytes.Contains(f.Data, []byte("IsInstall")) || bytes.Contains(f.Data, []byte("IsUpgrade"))
		t.apis = t.apis || bytes.Contains(f.Data, []byte("Capabilities"))
		t.lookup = t.lookup || bytes.Contains(f.Data, []byte("lookup"))
	}
	return t
}

// inputs is a hash of all that a revision is rendered from, nil if that cannot
// be told.
func (r *releases) inputs(ctx context.Context, rel kube.Release, as renderAs, t traits) ([]byte, error) {
	if t.lookup {
		return nil, nil
	}
	values, err := json.Marshal(rel.Values.Merge(nil))
	if err != nil {
		return nil, chartError(rel.Chart, fmt.Errorf("values cannot be written as JSON: %w", err))
	}
	version, err := r.c.apis.knownVersion(ctx)
	if err != nil {
		return nil, err
	}
	facts := []string{renderer, rel.Namespace, rel.Name, strconv.FormatBool(rel.DropCRDs), version.GitVersion, chartHash(rel.Chart), string(values)}
	if t.revision {
		facts = append(facts, strconv.Itoa(as.revision), strconv.FormatBool(as.install))
	}
	if t.apis {
		caps, err := r.capabilities(ctx, nil)
		if err != nil {
			return nil, err
		}
		facts = append(facts, caps.APIVersions...)
	}
	// As JSON, so that no fact can run into the next.
	data, err := json.Marshal(facts)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	return sum[:], nil
}

// chartHash is the digest of the archive, or a hash of the files if there is none.
func chartHash(ch *kube.Chart) string {
	if ch.Digest() != "" {
		return ch.Digest()
	}
	sum := sha256.New()
	for _, f := range ch.Files() {
		fmt.Fprintf(sum, "%q %d\n", f.Name, len(f.Data))
		sum.Write(f.Data)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// placeLook reads the objects out of the manifests and gives them their namespaces.
func (r *releases) placeLook(ctx context.Context, l *look) error {
	var err error
	if l.rec != nil && !l.fresh() {
		if l.recorded, err = parseManifest(l.rec.Manifest); err != nil {
			return fmt.Errorf("manifest of revision %d: %w", l.rec.Revision, err)
		}
	}
	defined := kinds(l.recorded)
	s := &scopes{lookup: r.c.apis.lookup(), defined: defined}
	l.scopes = s
	if l.made == nil {
		l.desired = l.recorded
	} else {
		if l.desired, err = parseManifest(l.made.manifest); err != nil {
			return chartError(l.rel.Chart, err)
		}
		crds, err := crdFiles(l.made.chart)
		if err != nil {
			return chartError(l.rel.Chart, err)
		}
		s.defined = slices.Concat(kinds(crds), kinds(l.desired), defined)
		defer func() {
			l.missing = slices.DeleteFunc(l.missing, func(gvk schema.GroupVersionKind) bool {
				_, ok := brings(kinds(crds), gvk)
				return ok
			})
		}()
	}
	for _, obj := range l.desired {
		if err := s.place(ctx, obj, l.rel.Namespace); err != nil {
			return err
		}
	}
	if l.fresh() {
		if err := l.twice(); err != nil {
			return err
		}
	}
	l.missing = slices.Clone(s.missing)
	if l.made != nil {
		for _, obj := range l.recorded {
			if err := s.place(ctx, obj, l.rel.Namespace); err != nil {
				return err
			}
		}
	}
	return nil
}

// twice refuses a chart that renders an object twice: Helm would make the first
// and fail at the second.
func (l *look) twice() error {
	var repeated []string
	seen := map[kube.Ref]bool{}
	for _, obj := range l.desired {
		ref := kube.RefOf(obj)
		if seen[ref] && ref.Name != "" {
			repeated = append(repeated, ref.String())
		}
		seen[ref] = true
	}
	if len(repeated) == 0 {
		return nil
	}
	return chartError(l.rel.Chart, fmt.Errorf("it renders more than once: %s", strings.Join(repeated, ", ")))
}

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
		return "no release", true
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
