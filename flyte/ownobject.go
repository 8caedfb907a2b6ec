package flyte

import (
	"context"
	"errors"
	"fmt"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ownObject is an object of the deployment's own that one step keeps.
type ownObject struct {
	binding
	desired *unstructured.Unstructured
}

func (o ownObject) ref() kube.Ref { return kube.RefOf(o.desired) }

// check compares the object with what it should be. Live is nil if it does not exist.
func (o ownObject) check(ctx context.Context) (change planewright.Change, live *unstructured.Unstructured, err error) {
	live, err = o.cluster.Objects.Get(ctx, o.ref())
	if errors.Is(err, planewright.ErrNotFound) {
		return planewright.Change{Action: planewright.ActionCreate, Fingerprint: "absent", Diff: fieldsOf(o.desired)}, nil, nil
	}
	if err != nil {
		return planewright.Change{}, nil, err
	}
	fingerprint := string(live.GetUID()) + " " + live.GetResourceVersion()
	owned := o.owns(live.GetLabels())
	if !owned && !o.adopt {
		return planewright.Change{Action: planewright.ActionBlocked, Fingerprint: fingerprint,
			Reason: fmt.Sprintf("%s exists, and this deployment did not make it; delete it, or take it over by WithAdoption", o.ref())}, live, nil
	}
	diff, err := o.cluster.Objects.Diff(ctx, o.desired, kube.ApplyOptions{Force: true})
	if err != nil {
		return planewright.Change{}, nil, err
	}
	// What controllers write beside it changes its version at any time.
	change = planewright.Change{Action: diff.Action, Diff: diff.Fields, Fingerprint: string(live.GetUID())}
	if !owned {
		change.Action = planewright.ActionAdopt
	}
	return change, live, nil
}

// fieldsOf lists what an object that is to be made will have.
func fieldsOf(obj *unstructured.Unstructured) []planewright.FieldDiff {
	var diff []planewright.FieldDiff
	for _, leaf := range leaves(obj.Object) {
		switch leaf.path.String() {
		case "apiVersion", "kind", "metadata.name", "metadata.namespace":
			continue
		}
		if leaf.path.within(valuePath{"metadata", "labels"}) {
			continue
		}
		diff = append(diff, planewright.FieldDiff{Path: leaf.path.String(), After: fmt.Sprint(leaf.value)})
	}
	return diff
}

// apply writes the object. It is ours, by its labels or by WithAdoption:
// whoever changed its fields since is overruled.
func (o ownObject) apply(ctx context.Context) error {
	change, _, err := o.check(ctx)
	if err != nil {
		return err
	}
	if change.Action == planewright.ActionBlocked {
		return fmt.Errorf("%s: %w", change.Reason, planewright.ErrConflict)
	}
	_, err = o.cluster.Objects.Apply(ctx, o.desired, kube.ApplyOptions{Force: true})
	return err
}
