package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/postrender"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	"k8s.io/apimachinery/pkg/api/meta"
)

const (
	// readBack bounds the reading of the record after an operation whose context
	// may have ended.
	readBack = 15 * time.Second
)

// What a record's digest label says of a revision that is not rendered.
const (
	operationUninstall = "uninstall"
	operationRollback  = "rollback"
	operationRecover   = "recover"
)

// Apply implements [kube.Releases].
func (r *releases) Apply(ctx context.Context, rel kube.Release) (kube.ReleaseState, error) {
	ctx = r.c.quiet(ctx)
	fail := func(err error) (kube.ReleaseState, error) {
		return kube.ReleaseState{}, r.fail(ctx, "apply", rel.Namespace, rel.Name, err)
	}
	l, err := r.lookAt(ctx, rel)
	if err != nil {
		return fail(err)
	}
	plan, err := l.plan(ctx)
	if err != nil {
		return fail(err)
	}
	if plan.Action == planewright.ActionNone {
		return *plan.State, nil
	}
	if l.made == nil {
		// Only live objects have changed: what the record is made of will do.
		if err := r.renderAs(ctx, l, l.as); err != nil {
			return fail(err)
		}
	}
	if err := r.mayWrite(ctx, l); err != nil {
		return fail(err)
	}
	if err := r.write(ctx, l); err != nil {
		return fail(r.withState(ctx, rel.Namespace, rel.Name, err))
	}
	if err := r.deleteDropped(ctx, plan.Deletes); err != nil {
		return fail(err)
	}
	return r.confirm(ctx, l)
}

// mayWrite looks at what would fail half way, before anything is written.
func (r *releases) mayWrite(ctx context.Context, l *look) error {
	if err := tooBig(l); err != nil {
		return err
	}
	if len(l.missing) > 0 {
		return r.unserved(ctx, l)
	}
	namespace, err := (&objects{r.c}).read(ctx, kube.Ref{APIVersion: "v1", Kind: "Namespace", Name: l.rel.Namespace})
	switch {
	case err != nil && errors.Is(r.c.failure(ctx, "", "", err), planewright.ErrDenied):
		return nil // one who may not look at namespaces may still write into one
	case err != nil:
		return err
	case namespace == nil:
		return fmt.Errorf("namespace %s: %w; create it first", l.rel.Namespace, planewright.ErrNotFound)
	case namespace.GetDeletionTimestamp() != nil:
		return &callError{op: "write into", object: "namespace " + l.rel.Namespace, err: errors.New("it is being deleted"),
			verdict: verdict{sentinel: planewright.ErrConflict, hint: "wait until it is gone, or look at the finalizers that hold it"}}
	}
	return nil
}

// unserved is the error of a release with objects of kinds that nobody serves. It
// is worth trying again only if a definition has just been made.
func (r *releases) unserved(ctx context.Context, l *look) error {
	var names []string
	coming := true
	for _, gvk := range l.missing {
		apiVersion, kind := gvk.ToAPIVersionAndKind()
		names = append(names, kind+" of "+apiVersion)
		coming = coming && r.c.justDefined(ctx, gvk)
	}
	v := verdict{sentinel: planewright.ErrNotFound, hint: "install the CustomResourceDefinitions first"}
	switch _, own := brings(kinds(l.desired), l.missing[0]); {
	case coming:
		v = verdict{sentinel: planewright.ErrUnavailable, retry: true, hint: "the definitions have just been made"}
	case own:
		v.hint = "the chart has definition and object in its templates, which Helm cannot install in one go; install the CustomResourceDefinitions first"
	}
	return &callError{op: "find", object: "the kinds of the release", verdict: v, err: fmt.Errorf("the cluster does not serve %s", strings.Join(names, ", "))}
}

// write makes Helm write the release. It returns when Helm has stopped.
func (r *releases) write(ctx context.Context, l *look) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	call, err := r.newHelmCall(ctx, l.rel.Namespace, l.caps)
	if err != nil {
		return err
	}
	if !l.fresh() && l.rec.Info.Status != statusDeployed {
		if call.client.leftovers, err = r.leftovers(ctx, l); err != nil {
			return err
		}
		if l.rec.pending() {
			if err := r.giveUp(ctx, l); err != nil {
				return err
			}
		}
	}

	as := l.as
	call.store.revision, call.store.owner = as.revision, l.rel.Owner
	if l.rec != nil && l.fresh() {
		call.store.revision = l.rec.Revision + 1
	}
	if call.store.inputs, err = r.inputs(ctx, l.rel, as, traitsOf(l.rel.Chart)); err != nil {
		return err
	}
	call.store.operation = "write"
	ch, values, err := loadForRender(l.rel)
	if err != nil {
		return err
	}
	timeout := l.rel.Timeout
	if timeout <= 0 {
		timeout = hookTimeout
	}
	var post postrender.PostRenderer
	if !l.rel.DropCRDs {
		post = crdKeeper{}
	}

	return call.run(func() error {
		if l.fresh() {
			install := action.NewInstall(call.config)
			install.ReleaseName, install.Namespace = l.rel.Name, l.rel.Namespace
			install.Timeout = timeout
			install.PostRenderer = post
			install.DisableOpenAPIValidation = true
			install.Replace = l.rec != nil
			install.TakeOwnership = len(l.foreign) > 0
			_, err := install.RunWithContext(context.WithoutCancel(ctx), ch, values)
			return err
		}
		upgrade := action.NewUpgrade(call.config)
		upgrade.Namespace = l.rel.Namespace
		upgrade.Timeout = timeout
		upgrade.PostRenderer = post
		upgrade.DisableOpenAPIValidation = true
		upgrade.MaxHistory = maxHistory
		// Without it, empty values mean those of the revision before.
		upgrade.ResetValues = true
		upgrade.TakeOwnership = len(l.foreign) > 0
		_, err := upgrade.RunWithContext(context.WithoutCancel(ctx), l.rel.Name, ch, values)
		return err
	})
}

// leftovers are the manifests of the revisions that failed since the last one
// that was deployed.
func (r *releases) leftovers(ctx context.Context, l *look) ([]string, error) {
	heads, err := r.recordHeads(ctx, l.rel.Namespace, l.rel.Name)
	if err != nil {
		return nil, err
	}
	var manifests []string
	for _, head := range slices.Backward(heads) {
		if head.status == statusDeployed {
			break
		}
		rec, err := r.readRecord(ctx, head)
		if err != nil {
			return nil, err
		}
		if rec != nil {
			manifests = append(manifests, rec.Manifest)
		}
	}
	return manifests, nil
}

// giveUp marks a record that was left pending as failed, from where Helm's
// upgrade goes on. It is safer than removing a first install: what it has made
// stays known.
func (r *releases) giveUp(ctx context.Context, l *look) error {
	call, err := r.newHelmCall(ctx, l.rel.Namespace, l.caps)
	if err != nil {
		return err
	}
	call.store.revision, call.store.owner, call.store.operation = l.rec.Revision, l.rel.Owner, operationRecover
	r.c.log.InfoContext(ctx, "recovering a release that was left pending", "release", l.rel.Namespace+"/"+l.rel.Name, "revision", l.rec.Revision, "status", l.rec.Info.Status)
	return call.run(func() error {
		stored, err := call.config.Releases.Get(l.rel.Name, l.rec.Revision)
		if err != nil {
			return err
		}
		stored.SetStatus(release.StatusFailed, fmt.Sprintf("was left %s by an operation that was cut off", l.rec.Info.Status))
		return call.config.Releases.Update(stored)
	})
}

// deleteDropped makes sure that what the new revision no longer has is deleted:
// Helm only logs when it cannot.
func (r *releases) deleteDropped(ctx context.Context, dropped []kube.Ref) error {
	o := &objects{r.c}
	return inParallel(len(dropped), func(i int) error {
		obj, err := o.read(ctx, dropped[i])
		if meta.IsNoMatchError(err) || err == nil && (obj == nil || obj.GetDeletionTimestamp() != nil || isKept(obj)) {
			return nil
		}
		return o.Delete(ctx, dropped[i], kube.DeleteOptions{})
	})
}

// confirm reads the record again: Helm reports success even when its last write
// of the record has failed.
func (r *releases) confirm(ctx context.Context, l *look) (kube.ReleaseState, error) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBack)
	defer cancel()
	rec, err := r.latestRecord(last, l.rel.Namespace, l.rel.Name)
	if err != nil {
		return kube.ReleaseState{}, r.fail(last, "read back", l.rel.Namespace, l.rel.Name, err)
	}
	if rec != nil && rec.Info.Status == statusDeployed {
		return r.stateOf(last, rec)
	}
	found := "there is no record"
	if rec != nil {
		found = fmt.Sprintf("its record says that revision %d is %s", rec.Revision, rec.Info.Status)
	}
	return kube.ReleaseState{}, r.fail(last, "apply", l.rel.Namespace, l.rel.Name, &callError{
		op: "confirm", object: "the record", err: errors.New("Helm reports success, but " + found),
		verdict: verdict{sentinel: planewright.ErrUnavailable, retry: true, hint: "apply again, that completes it"},
	})
}

// withState adds to an error what the record says now, which is not for a reader
// to guess: an operation that was cut off has gone some way.
func (r *releases) withState(ctx context.Context, namespace, name string, err error) error {
	if errors.Is(err, driver.ErrReleaseExists) {
		err = &callError{op: "record", object: "revision", err: err, verdict: verdict{
			sentinel: planewright.ErrConflict, retry: true, hint: "somebody else has begun an operation on it in this moment"}}
	}
	if recordRefused(err) {
		err = &callError{op: "record", object: "revision", err: err, verdict: verdict{
			sentinel: planewright.ErrInvalid, hint: "Helm keeps chart, values and manifest in one Secret of at most 1 MiB; make the chart smaller"}}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBack)
	defer cancel()
	rec, readErr := r.latestRecord(last, namespace, name)
	state := "; there is no record of the release"
	switch {
	case readErr != nil:
		state = "; its record cannot be read: " + readErr.Error()
	case rec != nil:
		state = fmt.Sprintf("; its record says that revision %d is %s", rec.Revision, rec.Info.Status)
	}
	return &stateError{err: err, state: state}
}

// stateError is an error with the state in which it left a release.
type stateError struct {
	err   error
	state string
}

func (e *stateError) Error() string { return e.err.Error() + e.state }

func (e *stateError) Unwrap() error { return e.err }
