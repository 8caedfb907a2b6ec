package flyte

import (
	"context"
	"errors"
	"fmt"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// namespaceStep makes the namespace. One that exists is left as it is, labels
// and all.
type namespaceStep struct{ binding }

func (s namespaceStep) ref() kube.Ref {
	return kube.Ref{APIVersion: "v1", Kind: "Namespace", Name: s.namespace}
}

func (s namespaceStep) step() planewright.Step {
	return planewright.Step{
		ID:      s.binding.step("namespace"),
		Title:   "namespace " + s.namespace,
		Cluster: s.cluster.Name,
		Objects: []planewright.Object{s.ref().In(s.cluster.Name)},
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			change, err := s.check(ctx)
			return s.checked(ctx, run, change, err)
		},
		Apply:  s.apply,
		Await:  s.await,
		Undo:   s.undo,
		Render: s.render,
		// The lock is a Lease in this namespace.
		Unlocked: s.holdsLock,
	}
}

func (s namespaceStep) desired() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1",
		"kind":       "Namespace",
		"metadata":   map[string]any{"name": s.namespace, "labels": s.ownLabels()},
	}}
}

func (s namespaceStep) check(ctx context.Context) (planewright.Change, error) {
	live, err := s.cluster.Objects.Get(ctx, s.ref())
	switch {
	case errors.Is(err, planewright.ErrNotFound):
		return planewright.Change{Action: planewright.ActionCreate, Fingerprint: "absent",
			Diff: []planewright.FieldDiff{{Path: "metadata.name", After: s.namespace}}}, nil
	case err != nil:
		return planewright.Change{}, err
	case terminating(live):
		return planewright.Change{Action: planewright.ActionBlocked, Fingerprint: string(live.GetUID()) + " terminating",
			Reason: fmt.Sprintf("namespace %s is being deleted since %s; wait until it is gone, or find what holds it: kubectl get namespace %s -o jsonpath={.status.conditions}",
				s.namespace, deletedAt(live), s.namespace)}, nil
	}
	return planewright.Change{Action: planewright.ActionNone, Fingerprint: string(live.GetUID())}, nil
}

// apply creates the namespace rather than applying it: should somebody else
// make it in between, it is theirs.
func (s namespaceStep) apply(ctx context.Context, _ *planewright.Run) error {
	if _, err := s.cluster.Objects.Create(ctx, s.desired()); !errors.Is(err, planewright.ErrAlreadyExists) {
		return err
	}
	return nil
}

func (s namespaceStep) await(ctx context.Context, run *planewright.Run) error {
	return s.cluster.Objects.Wait(ctx, kube.WaitRequest{
		Refs: []kube.Ref{s.ref()},
		Until: func(live *unstructured.Unstructured) (bool, string) {
			if live == nil {
				return false, "not there yet"
			}
			if terminating(live) {
				return false, "being deleted"
			}
			return true, ""
		},
		Progress: func(message string) { run.Progress("%s", message) },
	})
}

// undo leaves the namespace: what else is in it cannot be told from here.
func (s namespaceStep) undo(ctx context.Context, run *planewright.Run) error {
	live, err := s.cluster.Objects.Get(ctx, s.ref())
	if errors.Is(err, planewright.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	reason := "it was there before the deployment"
	if s.owns(live.GetLabels()) {
		reason = "it may hold other objects; if it does not, delete it: kubectl delete namespace " + s.namespace
	}
	run.Keep(s.ref().In(s.cluster.Name), reason)
	return nil
}

func (s namespaceStep) render(context.Context, *planewright.Run) ([]planewright.File, error) {
	return renderObjects(s.folder("namespace"), []*unstructured.Unstructured{s.desired()})
}

func terminating(live *unstructured.Unstructured) bool {
	phase, _, _ := unstructured.NestedString(live.Object, "status", "phase")
	return live.GetDeletionTimestamp() != nil || phase == "Terminating"
}

func deletedAt(live *unstructured.Unstructured) string {
	if t := live.GetDeletionTimestamp(); t != nil {
		return t.UTC().Format("2006-01-02 15:04:05")
	}
	return "an unknown time"
}
