package live

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Rollback implements [kube.Releases].
func (r *releases) Rollback(ctx context.Context, namespace, name string, revision int) (kube.ReleaseState, error) {
	ctx = r.c.quiet(ctx)
	fail := func(err error) (kube.ReleaseState, error) {
		return kube.ReleaseState{}, r.fail(ctx, "roll back", namespace, name, err)
	}
	heads, err := r.recordHeads(ctx, namespace, name)
	if err == nil && len(heads) == 0 {
		err = planewright.ErrNotFound
	}
	if err != nil {
		return fail(err)
	}
	latest := heads[len(heads)-1].revision
	if revision == 0 {
		revision = latest - 1
	}
	if !slices.ContainsFunc(heads, func(h recordHead) bool { return h.revision == revision }) {
		return fail(fmt.Errorf("revision %d: %w; there are %s", revision, planewright.ErrNotFound, revisions(heads)))
	}
	rec, err := r.readRecord(ctx, heads[len(heads)-1])
	if err == nil && rec == nil {
		err = planewright.ErrNotFound
	}
	if err != nil {
		return fail(err)
	}
	call, err := r.newHelmCall(ctx, namespace, nil)
	if err != nil {
		return fail(err)
	}
	call.store.revision, call.store.owner, call.store.operation = latest+1, rec.owner(), operationRollback
	err = call.run(func() error {
		rollback := action.NewRollback(call.config)
		rollback.Version = revision
		rollback.Timeout = hookTimeout
		rollback.MaxHistory = maxHistory
		return rollback.Run(name)
	})
	if err != nil {
		return fail(r.withState(ctx, namespace, name, err))
	}
	return r.confirm(ctx, &look{rel: kube.Release{Namespace: namespace, Name: name}})
}

func revisions(heads []recordHead) string {
	text := ""
	for i, h := range heads {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprint(h.revision)
	}
	return text
}

// Uninstall implements [kube.Releases].
func (r *releases) Uninstall(ctx context.Context, namespace, name string) ([]kube.Ref, error) {
	ctx = r.c.quiet(ctx)
	fail := func(err error) ([]kube.Ref, error) { return nil, r.fail(ctx, "uninstall", namespace, name, err) }
	heads, err := r.recordHeads(ctx, namespace, name)
	if err == nil && len(heads) == 0 {
		err = planewright.ErrNotFound
	}
	if err == nil {
		// What the API server serves must be known: kinds that are gone are
		// left out of what is deleted.
		_, err = r.c.apis.served(ctx)
	}
	if err != nil {
		return fail(err)
	}
	head := heads[len(heads)-1]
	call, err := r.newHelmCall(ctx, namespace, nil)
	if err != nil {
		return fail(err)
	}
	call.client.onlyServed = true
	call.store.revision, call.store.operation = head.revision, operationUninstall
	// Helm forgets a release whose objects would not go. With its record, the
	// next uninstall takes up where this one has stopped.
	call.store.hold = func() error { return errors.Join(call.client.waits...) }
	var stored *release.Release
	err = call.run(func() (err error) {
		if stored, err = call.config.Releases.Get(name, head.revision); err != nil {
			return err
		}
		uninstall := action.NewUninstall(call.config)
		uninstall.Timeout = hookTimeout
		uninstall.Wait = true
		_, err = uninstall.Run(name)
		return err
	})
	if err != nil {
		return fail(r.withState(ctx, namespace, name, err))
	}
	kept, err := r.kept(ctx, stored)
	if err != nil {
		return kept, r.fail(ctx, "uninstall", namespace, name, err)
	}
	return kept, nil
}

// kept are the objects that Helm leaves in place and that exist: those that are
// marked, the definitions in crds/, and hooks that are not told to go.
func (r *releases) kept(ctx context.Context, stored *release.Release) ([]kube.Ref, error) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBack)
	defer cancel()
	objs, err := parseManifest(stored.Manifest)
	if err != nil {
		return nil, err
	}
	candidates := slices.DeleteFunc(objs, func(obj *unstructured.Unstructured) bool { return !isKept(obj) })
	hooks, err := parseManifest(hookManifest(stored.Hooks))
	if err != nil {
		return nil, err
	}
	crds, err := crdFiles(stored.Chart)
	if err != nil {
		return nil, err
	}
	candidates = slices.Concat(crds, candidates, hooks)
	if err := r.place(last, candidates, stored.Namespace); err != nil {
		return nil, err
	}
	refs := make([]kube.Ref, len(candidates))
	exists := make([]bool, len(candidates))
	o := &objects{r.c}
	err = inParallel(len(candidates), func(i int) error {
		refs[i] = kube.RefOf(candidates[i])
		obj, err := o.read(last, refs[i])
		if meta.IsNoMatchError(err) {
			return nil
		}
		exists[i] = obj != nil && obj.GetDeletionTimestamp() == nil
		return err
	})
	var kept []kube.Ref
	for i, ref := range refs {
		if exists[i] && !slices.Contains(kept, ref) {
			kept = append(kept, ref)
		}
	}
	return kept, errors.Join(err)
}
