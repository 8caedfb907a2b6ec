package kubeflow

import (
	"context"
	"errors"
	"fmt"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// editorStep gives a namespace that is no profile's what notebooks run as.
type editorStep struct {
	binding
	namespace string
}

func (s editorStep) desired() []*unstructured.Unstructured {
	const name = "default-editor"
	account := kube.Ref{APIVersion: "v1", Kind: "ServiceAccount", Namespace: s.namespace, Name: name}
	role := kube.Ref{APIVersion: rbacAPI, Kind: "RoleBinding", Namespace: s.namespace, Name: name}
	return []*unstructured.Unstructured{
		newObject(account, s.ownLabels(), nil),
		newObject(role, s.ownLabels(), map[string]any{
			"roleRef":  map[string]any{"apiGroup": rbacGroup, "kind": "ClusterRole", "name": RoleEdit.clusterRole()},
			"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": name, "namespace": s.namespace}},
		}),
	}
}

func (s editorStep) step(needs ...string) planewright.Step {
	id := s.binding.step("namespaces", s.namespace, "editor")
	var objects []planewright.Object
	for _, obj := range s.desired() {
		objects = append(objects, kube.RefOf(obj).In(s.workload.Name))
	}
	return planewright.Step{
		ID:      id,
		Title:   "service account default-editor of namespace " + s.namespace,
		Cluster: s.workload.Name,
		Needs:   needs,
		Objects: objects,
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			change, _, err := s.check(ctx)
			return s.checked(ctx, run, change, err)
		},
		Apply: func(ctx context.Context, _ *planewright.Run) error {
			_, write, err := s.check(ctx)
			if err != nil {
				return err
			}
			for _, desired := range write {
				if _, err := s.workload.Objects.Create(ctx, desired); err != nil && !errors.Is(err, planewright.ErrAlreadyExists) {
					return err
				}
			}
			return nil
		},
		Undo: func(ctx context.Context, run *planewright.Run) error {
			for _, desired := range s.desired() {
				if err := s.deleteOwn(ctx, run, s.workload, kube.RefOf(desired)); err != nil {
					return err
				}
			}
			return nil
		},
		Render: func(context.Context, *planewright.Run) ([]planewright.File, error) {
			return s.render(id, s.desired()...)
		},
	}
}

// check looks which of the objects are missing. Those that are there may be
// anybody's, and stay as they are.
func (s editorStep) check(ctx context.Context) (planewright.Change, []*unstructured.Unstructured, error) {
	ns, err := s.namespaceOf(ctx, s.namespace)
	if err != nil {
		return planewright.Change{}, nil, err
	}
	if ns == nil || terminating(ns) {
		return planewright.Change{Action: planewright.ActionBlocked, Fingerprint: "absent",
			Reason: fmt.Sprintf("namespace %s does not exist; create it first, or use NewProfile, which does", s.namespace)}, nil, nil
	}
	var write []*unstructured.Unstructured
	change := planewright.Change{}
	for _, desired := range s.desired() {
		ref := kube.RefOf(desired)
		live, err := s.workload.Objects.Get(ctx, ref)
		switch {
		case errors.Is(err, planewright.ErrNotFound):
			change.Action = planewright.ActionCreate
			change.Diff = append(change.Diff, planewright.FieldDiff{Path: ref.Kind, After: ref.Name})
			change.Fingerprint += "absent;"
			write = append(write, desired)
		case err != nil:
			return planewright.Change{}, nil, err
		case ref.Kind == "RoleBinding" && textAt(live.Object, "roleRef", "name") != RoleEdit.clusterRole():
			return planewright.Change{Action: planewright.ActionBlocked, Fingerprint: identity(live),
				Reason: fmt.Sprintf("%s gives the role %s and not %s, and a role cannot be changed; delete it first", ref, textAt(live.Object, "roleRef", "name"), RoleEdit.clusterRole())}, nil, nil
		default:
			change.Fingerprint += identity(live) + ";"
		}
	}
	return change, write, nil
}
