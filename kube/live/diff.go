package live

import (
	"context"
	"errors"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// diffAttempts bounds how often an object is looked at that somebody else
// keeps writing meanwhile.
const diffAttempts = 5

// Diff implements [kube.Objects].
func (o *objects) Diff(ctx context.Context, obj *unstructured.Unstructured, opts kube.ApplyOptions) (kube.Diff, error) {
	ref := kube.RefOf(obj)
	ctx, fail := o.begin(ctx, "dry-run apply", ref)
	missing := func(notYet string) kube.Diff {
		return kube.Diff{Action: planewright.ActionCreate, Fields: fieldDiffs(nil, written(obj), ref), NotYet: notYet}
	}

	err := o.check(ctx, ref, true)
	if meta.IsNoMatchError(err) {
		return missing("kind " + ref.Kind + " of " + ref.APIVersion), nil
	}
	if err != nil {
		return kube.Diff{}, fail(err)
	}
	var live, planned *unstructured.Unstructured
	for range diffAttempts {
		if live, err = o.read(ctx, ref); err != nil {
			return kube.Diff{}, fail(err)
		}
		if live != nil && settled(obj, live, managerOf(opts)) {
			return kube.Diff{Action: planewright.ActionNone, Live: live}, nil
		}
		planned, err = o.apply(ctx, obj, opts, client.DryRunAll)
		if live == nil && isNamespaceMissing(err) {
			return missing("namespace " + ref.Namespace), nil
		}
		if err != nil {
			return kube.Diff{}, fail(err)
		}
		if live == nil {
			return missing(""), nil
		}
		if planned.GetResourceVersion() == live.GetResourceVersion() {
			break
		}
		// A controller wrote the object between the two calls; what it
		// changed is no difference of ours.
	}
	d := kube.Diff{Action: planewright.ActionNone, Live: live, Fields: fieldDiffs(written(live), written(planned), ref)}
	if len(d.Fields) > 0 {
		d.Action = planewright.ActionUpdate
	}
	return d, nil
}

// read reads an object, nil if it does not exist.
func (o *objects) read(ctx context.Context, ref kube.Ref) (*unstructured.Unstructured, error) {
	ctx, cancel := o.c.context(ctx)
	defer cancel()
	obj := shell(ref)
	err := o.c.client.Get(ctx, key(ref), obj)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return obj, nil
}

// isNamespaceMissing tells a namespace that does not exist from an object that
// does not: the API server's answer names what it did not find.
func isNamespaceMissing(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsNotFound(err) {
		return false
	}
	details := status.Status().Details
	return details != nil && details.Kind == "namespaces"
}

// written is an object without what only the API server and controllers write,
// and without its name.
func written(obj *unstructured.Unstructured) map[string]any {
	content := runtime.DeepCopyJSON(obj.Object)
	for _, field := range []string{"apiVersion", "kind", "status"} {
		delete(content, field)
	}
	metadata, ok := content["metadata"].(map[string]any)
	if !ok {
		return content
	}
	for _, field := range []string{
		"name", "namespace", "generateName", "managedFields", "resourceVersion", "generation", "uid", "selfLink",
		"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
	} {
		delete(metadata, field)
	}
	if len(metadata) == 0 {
		delete(content, "metadata")
	}
	return content
}
