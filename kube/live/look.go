package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

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
	if refused := l.refused(); len(refused) > 0 {
		return nil, &kube.OwnershipError{Cluster: r.c.name, Release: rel.Namespace + "/" + rel.Name, Objects: refused}
	}
	return l, nil
}

// refused are the objects of others that may not be taken over.
func (l *look) refused() []kube.OwnedObject {
	if l.rel.Adopt {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(l.foreign), func(o kube.OwnedObject) bool {
		return o.Owner == noRelease && slices.Contains(l.rel.AdoptOrphans, o.Ref)
	})
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
