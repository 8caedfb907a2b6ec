package live

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
)

// maxReads is how many reads of one operation are under way at a time.
const maxReads = 8

// releases implements [kube.Releases] through Helm.
type releases struct{ c *connection }

var _ kube.Releases = (*releases)(nil)

// Render implements [kube.Releases].
func (r *releases) Render(ctx context.Context, rel kube.Release) ([]*unstructured.Unstructured, error) {
	if err := validate(rel); err != nil {
		return nil, err
	}
	out, err := render(ctx, rel, renderAs{revision: 1, install: true}, offlineCapabilities(), nil)
	if err != nil {
		return nil, r.fail(ctx, "render", rel.Namespace, rel.Name, err)
	}
	crds, err := crdFiles(out.chart)
	if err != nil {
		return nil, r.fail(ctx, "render", rel.Namespace, rel.Name, chartError(rel.Chart, err))
	}
	objects, err := parseManifest(out.manifest)
	if err != nil {
		return nil, r.fail(ctx, "render", rel.Namespace, rel.Name, chartError(rel.Chart, err))
	}
	all := slices.Concat(crds, objects)
	s := &scopes{defined: kinds(all)}
	for _, obj := range all {
		if err := s.place(ctx, obj, rel.Namespace); err != nil {
			return nil, r.fail(ctx, "render", rel.Namespace, rel.Name, err)
		}
	}
	return all, nil
}

// State implements [kube.Releases].
func (r *releases) State(ctx context.Context, namespace, name string) (kube.ReleaseState, error) {
	ctx = r.c.quiet(ctx)
	rec, err := r.latestRecord(ctx, namespace, name)
	if err == nil && rec == nil {
		err = planewright.ErrNotFound
	}
	if err != nil {
		return kube.ReleaseState{}, r.fail(ctx, "read", namespace, name, err)
	}
	return r.stateOf(ctx, rec)
}

// stateOf is the state that a record tells of.
func (r *releases) stateOf(ctx context.Context, rec *record) (kube.ReleaseState, error) {
	objects, err := parseManifest(rec.Manifest)
	if err != nil {
		return kube.ReleaseState{}, r.fail(ctx, "read", rec.Namespace, rec.Name, err)
	}
	if err := r.place(ctx, objects, rec.Namespace); err != nil {
		return kube.ReleaseState{}, r.fail(ctx, "read", rec.Namespace, rec.Name, err)
	}
	s := rec.head()
	for _, obj := range objects {
		s.Objects = append(s.Objects, kube.RefOf(obj))
	}
	return s, nil
}

func (r *releases) place(ctx context.Context, objects []*unstructured.Unstructured, namespace string) error {
	s := &scopes{lookup: r.c.apis.lookup(), defined: kinds(objects)}
	for _, obj := range objects {
		if err := s.place(ctx, obj, namespace); err != nil {
			return err
		}
	}
	return nil
}

// History implements [kube.Releases].
func (r *releases) History(ctx context.Context, namespace, name string) ([]kube.ReleaseState, error) {
	ctx = r.c.quiet(ctx)
	heads, err := r.recordHeads(ctx, namespace, name)
	if err == nil && len(heads) == 0 {
		err = planewright.ErrNotFound
	}
	if err != nil {
		return nil, r.fail(ctx, "read", namespace, name, err)
	}
	return r.states(ctx, heads)
}

// List implements [kube.Releases].
func (r *releases) List(ctx context.Context, namespace string) ([]kube.ReleaseState, error) {
	ctx = r.c.quiet(ctx)
	heads, err := r.recordHeads(ctx, namespace, "")
	if err != nil {
		return nil, r.c.failure(ctx, "list", "releases of cluster "+r.c.name, err)
	}
	slices.Reverse(heads)
	seen := map[[2]string]bool{}
	latest := slices.DeleteFunc(heads, func(h recordHead) bool {
		release := [2]string{h.namespace, h.release}
		defer func() { seen[release] = true }()
		return seen[release]
	})
	slices.SortFunc(latest, func(a, b recordHead) int {
		return slices.Compare([]string{a.namespace, a.release}, []string{b.namespace, b.release})
	})
	return r.states(ctx, latest)
}

// states reads records, leaving out those that are gone by now.
func (r *releases) states(ctx context.Context, heads []recordHead) ([]kube.ReleaseState, error) {
	found := make([]*kube.ReleaseState, len(heads))
	err := inParallel(len(heads), func(i int) error {
		rec, err := r.readRecord(ctx, heads[i])
		if err != nil || rec == nil {
			return r.fail(ctx, "read", heads[i].namespace, heads[i].release, err)
		}
		s, err := r.stateOf(ctx, rec)
		found[i] = &s
		return err
	})
	if err != nil {
		return nil, err
	}
	var states []kube.ReleaseState
	for _, s := range found {
		if s != nil {
			states = append(states, *s)
		}
	}
	return states, nil
}

// inParallel calls do with 0 to n-1, and returns the errors joined.
func inParallel(n int, do func(i int) error) error {
	var (
		errs  = make([]error, n)
		slots = make(chan struct{}, maxReads)
		calls sync.WaitGroup
	)
	for i := range n {
		slots <- struct{}{}
		calls.Go(func() {
			defer func() { <-slots }()
			errs[i] = do(i)
		})
	}
	calls.Wait()
	var failed []error
	for _, err := range errs {
		// What keeps one call from the cluster keeps the others too.
		if err != nil && !slices.ContainsFunc(failed, func(f error) bool { return f.Error() == err.Error() }) {
			failed = append(failed, err)
		}
	}
	if len(failed) == 1 {
		return failed[0]
	}
	return errors.Join(failed...)
}

// validate looks at what a caller asks for, before anything is asked of a cluster.
func validate(rel kube.Release) error {
	var p planewright.Problems
	if err := chartutil.ValidateReleaseName(rel.Name); err != nil {
		p.Add("name", rel.Name, "must be lower-case letters, digits, '-' and '.', at most 53 characters", "")
	}
	if len(validation.IsDNS1123Label(rel.Namespace)) > 0 {
		p.Add("namespace", rel.Namespace, "must be lower-case letters, digits and '-', at most 63 characters", "")
	}
	if rel.Chart == nil {
		p.Add("chart", "", "there is no chart", "one of a kube.ChartSource")
	}
	return p.Err("release " + rel.Namespace + "/" + rel.Name)
}

// fail makes an error of an operation on a release.
func (r *releases) fail(ctx context.Context, op, namespace, name string, err error) error {
	if err == nil {
		return nil
	}
	var (
		pending   *kube.PendingError
		ownership *kube.OwnershipError
		invalid   *planewright.ValidationError
	)
	if errors.As(err, &pending) || errors.As(err, &ownership) || errors.As(err, &invalid) {
		return err
	}
	object := planewright.Object{
		Cluster: r.c.name, APIVersion: planewright.ReleaseAPIVersion, Kind: planewright.ReleaseKind, Namespace: namespace, Name: name,
	}.String()
	failure := &callError{op: op, object: object, err: err}
	var judged *callError
	var retryable planewright.Retryable
	switch {
	case errors.As(err, &judged):
		// What went wrong underneath is told and judged already.
		failure.retry, failure.after = judged.retry, judged.after
	case errors.As(err, &retryable):
		failure.retry = retryable.Retryable()
	case errors.Is(err, planewright.ErrNotFound), errors.Is(err, planewright.ErrInvalid):
	default:
		failure.verdict = r.c.judge(ctx, err)
	}
	return failure
}
