package kubeflow

import (
	"context"
	"errors"
	"fmt"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// namespaceStep makes the namespace of an operator. One that exists is left as
// it is, labels and all.
type namespaceStep struct{ operatorBinding }

func (s namespaceStep) ref() kube.Ref {
	return kube.Ref{APIVersion: "v1", Kind: "Namespace", Name: s.namespace}
}

func (s namespaceStep) desired() *unstructured.Unstructured {
	return newObject(s.ref(), s.ownLabels(), nil)
}

func (s namespaceStep) step() planewright.Step {
	id := s.operatorBinding.step("namespace")
	return planewright.Step{
		ID:      id,
		Title:   "namespace " + s.namespace,
		Cluster: s.workload.Name,
		Objects: []planewright.Object{s.ref().In(s.workload.Name)},
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			change, err := s.check(ctx)
			return s.checked(ctx, run, change, err)
		},
		Apply: s.apply,
		Undo:  s.undo,
		Render: func(context.Context, *planewright.Run) ([]planewright.File, error) {
			return s.render(id, s.desired())
		},
		// The lock is a Lease in the base operator's namespace.
		Unlocked: s.Component == ComponentBase,
	}
}

func (s namespaceStep) check(ctx context.Context) (planewright.Change, error) {
	if elsewhere, err := s.elsewhere(ctx); err != nil || elsewhere && s.Component != ComponentBase {
		return planewright.Change{Fingerprint: "operator is elsewhere"}, err
	}
	live, err := s.workload.Objects.Get(ctx, s.ref())
	switch {
	case errors.Is(err, planewright.ErrNotFound):
		return planewright.Change{Action: planewright.ActionCreate, Fingerprint: "absent",
			Diff: []planewright.FieldDiff{{Path: "metadata.name", After: s.namespace}}}, nil
	case err != nil:
		return planewright.Change{}, err
	case terminating(live):
		return planewright.Change{Action: planewright.ActionBlocked, Fingerprint: identity(live) + " terminating",
			Reason: fmt.Sprintf("namespace %s is being deleted; wait until it is gone, or find what holds it: kubectl get namespace %s -o jsonpath={.status.conditions}",
				s.namespace, s.namespace)}, nil
	}
	return planewright.Change{Fingerprint: identity(live)}, nil
}

// apply creates the namespace rather than applying it: should somebody else
// make it in between, it is theirs.
func (s namespaceStep) apply(ctx context.Context, _ *planewright.Run) error {
	if _, err := s.workload.Objects.Create(ctx, s.desired()); !errors.Is(err, planewright.ErrAlreadyExists) {
		return err
	}
	return nil
}

// undo leaves the namespace: what else is in it cannot be told from here.
func (s namespaceStep) undo(ctx context.Context, run *planewright.Run) error {
	live, err := s.workload.Objects.Get(ctx, s.ref())
	if errors.Is(err, planewright.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	reason := "it was there before the stack"
	if s.owns(live.GetLabels()) {
		reason = "it may hold other objects; if it does not, delete it: kubectl delete namespace " + s.namespace
	}
	run.Keep(s.ref().In(s.workload.Name), reason)
	return nil
}

func terminating(live *unstructured.Unstructured) bool {
	return live.GetDeletionTimestamp() != nil || textAt(live.Object, "status", "phase") == "Terminating"
}
