package kubeflow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ownObject is an object of the stack's own that one step keeps.
type ownObject struct {
	binding
	cluster kube.Cluster
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
	owned := o.owns(live.GetLabels())
	if !owned && !o.adopt {
		return planewright.Change{Action: planewright.ActionBlocked, Fingerprint: identity(live),
			Reason: fmt.Sprintf("%s exists, and this stack did not make it; delete it, or take it over by WithAdoption", o.ref())}, live, nil
	}
	diff, err := o.cluster.Objects.Diff(ctx, o.desired, kube.ApplyOptions{Force: true})
	if err != nil {
		return planewright.Change{}, nil, err
	}
	// What controllers write beside it changes its version at any time.
	change = planewright.Change{Action: diff.Action, Diff: diff.Fields, Fingerprint: identity(live)}
	if !owned {
		change.Action = planewright.ActionAdopt
	}
	return change, live, nil
}

// apply writes the object. It is ours, by its labels or by WithAdoption:
// whoever changed its fields since is overruled.
func (o ownObject) apply(ctx context.Context) error {
	change, _, err := o.check(ctx)
	if err != nil {
		return err
	}
	if change.Action == planewright.ActionBlocked {
		return blockedError(change)
	}
	_, err = o.cluster.Objects.Apply(ctx, o.desired, kube.ApplyOptions{Force: true})
	return err
}

// deleteOwn deletes an object if its labels say that the stack made it, and
// waits until it is gone.
func (b binding) deleteOwn(ctx context.Context, run *planewright.Run, cluster kube.Cluster, ref kube.Ref) error {
	live, err := cluster.Objects.Get(ctx, ref)
	if errors.Is(err, planewright.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if !b.owns(live.GetLabels()) {
		run.Keep(ref.In(cluster.Name), "its labels do not say that this stack made it")
		return nil
	}
	return deleteAndWait(ctx, run, cluster, live)
}

// deleteAndWait deletes an object and waits until it is gone. What holds it is in the error of a wait that ran out.
func deleteAndWait(ctx context.Context, run *planewright.Run, cluster kube.Cluster, live *unstructured.Unstructured) error {
	ref := kube.RefOf(live)
	if err := cluster.Objects.Delete(ctx, ref, kube.DeleteOptions{UID: identity(live)}); err != nil {
		return err
	}
	return cluster.Objects.Wait(ctx, kube.WaitRequest{Refs: []kube.Ref{ref}, Until: kube.Gone, Progress: progress(run)})
}

func progress(run *planewright.Run) func(string) {
	return func(message string) { run.Progress("%s", message) }
}

// fieldsOf lists what an object that is to be made will have.
func fieldsOf(obj *unstructured.Unstructured) []planewright.FieldDiff {
	var diff []planewright.FieldDiff
	for _, key := range sortedKeys(obj.Object) {
		if key == "apiVersion" || key == "kind" || key == "metadata" {
			continue
		}
		diff = append(diff, leaves(key, obj.Object[key])...)
	}
	if annotations := mapAt(obj.Object, "metadata", "annotations"); len(annotations) > 0 {
		diff = append(leaves("metadata.annotations", annotations), diff...)
	}
	return diff
}

func leaves(path string, value any) []planewright.FieldDiff {
	switch v := value.(type) {
	case map[string]any:
		var diff []planewright.FieldDiff
		for _, key := range sortedKeys(v) {
			next := path + "." + key
			if strings.ContainsAny(key, "./") {
				next = fmt.Sprintf("%s[%q]", path, key)
			}
			diff = append(diff, leaves(next, v[key])...)
		}
		return diff
	case []any:
		var diff []planewright.FieldDiff
		for i, item := range v {
			diff = append(diff, leaves(fmt.Sprintf("%s[%d]", path, i), item)...)
		}
		return diff
	}
	return []planewright.FieldDiff{{Path: path, After: fmt.Sprint(value)}}
}

// needsOf are the ids of steps.
func needsOf(steps ...planewright.Step) []string {
	var ids []string
	for _, s := range steps {
		if !slices.Contains(ids, s.ID) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}
