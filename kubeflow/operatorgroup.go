package kubeflow

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// groupStep has the operator's namespace have one OperatorGroup: one that is
// there is used, several are a problem, and if there is none it makes one for all namespaces.
type groupStep struct{ operatorBinding }

func (s groupStep) ref() kube.Ref {
	return kube.Ref{APIVersion: operatorsV1, Kind: "OperatorGroup", Namespace: s.namespace, Name: s.Package}
}

func (s groupStep) desired() *unstructured.Unstructured {
	return newObject(s.ref(), s.ownLabels(), map[string]any{"spec": map[string]any{}})
}

func (s groupStep) step(needs ...string) planewright.Step {
	id := s.operatorBinding.step("operatorgroup")
	return planewright.Step{
		ID:      id,
		Title:   "OperatorGroup of namespace " + s.namespace,
		Cluster: s.workload.Name,
		Needs:   needs,
		Objects: []planewright.Object{s.ref().In(s.workload.Name)},
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			change, err := s.check(ctx)
			return s.checked(ctx, run, change, err)
		},
		Apply: func(ctx context.Context, _ *planewright.Run) error {
			_, err := s.workload.Objects.Apply(ctx, s.desired(), kube.ApplyOptions{})
			return err
		},
		Undo: func(ctx context.Context, run *planewright.Run) error {
			return s.deleteOwn(ctx, run, s.workload, s.ref())
		},
		Render: func(context.Context, *planewright.Run) ([]planewright.File, error) {
			return s.render(id, s.desired())
		},
	}
}

func (s groupStep) check(ctx context.Context) (planewright.Change, error) {
	if elsewhere, err := s.elsewhere(ctx); err != nil || elsewhere {
		return planewright.Change{Fingerprint: "operator is elsewhere"}, err
	}
	groups, err := s.workload.Objects.List(ctx, kube.ListRequest{APIVersion: operatorsV1, Kind: "OperatorGroup", Namespace: s.namespace})
	if err != nil && !errors.Is(err, planewright.ErrNotFound) {
		return planewright.Change{}, err
	}
	switch len(groups) {
	case 0:
		return planewright.Change{Action: planewright.ActionCreate, Fingerprint: "absent",
			Diff: []planewright.FieldDiff{{Path: "metadata.name", After: s.Package}}}, nil
	case 1:
		return planewright.Change{Fingerprint: identity(groups[0])}, nil
	}
	var names []string
	for _, g := range groups {
		names = append(names, g.GetName())
	}
	return planewright.Change{Action: planewright.ActionBlocked, Fingerprint: strings.Join(names, " "),
		Reason: fmt.Sprintf("namespace %s has the OperatorGroups %s, and no operator is installed in a namespace with several; delete all but one, or use another namespace", s.namespace, strings.Join(names, ", "))}, nil
}
