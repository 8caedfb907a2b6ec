package kubeflow

import (
	"context"
	"fmt"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// instance is one custom resource of an operator's.
type instance struct {
	// id is the step's, title what it is.
	id, title       string
	namespace, name string
	raw             kube.Values
	settings        []setting
	// definitions are served once the component is there.
	definitions []string
}

// ownInstance is the custom resource of a component of which there is one.
func (o operatorBinding) ownInstance() instance {
	i := instance{id: o.step("instance"), namespace: o.operand.namespace, name: o.operand.name, raw: o.operand.raw(),
		settings: o.settings(o.Component), definitions: o.Definitions}
	if i.namespace == "" {
		i.namespace = o.namespace
	}
	i.title = fmt.Sprintf("%s %s/%s", o.Kind, i.namespace, i.name)
	return i
}

// instanceStep keeps a custom resource of the operator's, from which it
// installs the component with Helm.
type instanceStep struct {
	operatorBinding
	instance instance
}

func (s instanceStep) step(needs ...string) planewright.Step {
	step := planewright.Step{
		ID:      s.instance.id,
		Title:   s.instance.title,
		Cluster: s.workload.Name,
		Needs:   append([]string{s.operatorBinding.step("operator")}, needs...),
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			change, err := s.check(ctx, run)
			return s.checked(ctx, run, change, err)
		},
		Apply:  s.apply,
		Await:  s.await,
		Verify: s.verify,
		Undo:   s.undo,
		CheckUndo: func(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
			return s.mayUndo(ctx)
		},
		Render: func(_ context.Context, run *planewright.Run) ([]planewright.File, error) {
			desired, _, err := s.desired(run)
			if err != nil {
				return nil, err
			}
			return s.render(s.instance.id, desired)
		},
	}
	// The group of the kind is read at run time, so the object is known by its kind and name.
	step.Objects = []planewright.Object{{Cluster: s.workload.Name, Kind: s.Kind, Namespace: s.instance.namespace, Name: s.instance.name}}
	return step
}

// kind is what the CSV of the pin says about the custom resource. It is known once the operator is
// there, and before if the catalog describes the pin.
func (s instanceStep) kind(run *planewright.Run) (custom, error) {
	kinds, err := s.kinds.Get(run)
	if err != nil {
		offered, offerErr := s.offered.Get(run)
		if offerErr != nil || offered.kinds == nil {
			return custom{}, err
		}
		kinds = offered.kinds
	}
	var named []custom
	var names []string
	for _, k := range kinds {
		names = append(names, k.kind)
		if k.kind == s.Kind {
			named = append(named, k)
		}
	}
	switch len(named) {
	case 1:
		return named[0], nil
	case 0:
		return custom{}, fmt.Errorf("operator %s has no kind %s, only %s: %w", s.CSV, s.Kind, joinOr(names), planewright.ErrUnsupported)
	}
	return custom{}, fmt.Errorf("operator %s has kind %s in the groups %s and %s, and which one is meant cannot be told: %w", s.CSV, s.Kind, named[0].apiVersion, named[1].apiVersion, planewright.ErrConflict)
}

// desired is the custom resource, and what there is to say about its keys.
func (s instanceStep) desired(run *planewright.Run) (*unstructured.Unstructured, []planewright.Finding, error) {
	kind, err := s.kind(run)
	if err != nil {
		return nil, nil, err
	}
	spec, findings, err := kind.spec(s.instance.raw, s.instance.settings)
	if err != nil {
		return nil, nil, err
	}
	ref := kube.Ref{APIVersion: kind.apiVersion, Kind: kind.kind, Namespace: s.instance.namespace, Name: s.instance.name}
	return newObject(ref, s.ownLabels(), map[string]any{"spec": spec}), findings, nil
}

func (s instanceStep) own(desired *unstructured.Unstructured) ownObject {
	return ownObject{binding: s.binding, cluster: s.workload, desired: desired}
}

func (s instanceStep) check(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
	desired, findings, err := s.desired(run)
	if err != nil {
		return planewright.Change{}, err
	}
	change, live, err := s.own(desired).check(ctx)
	if err != nil {
		return change, err
	}
	change.Findings = findings
	if live == nil || change.Action != planewright.ActionNone && change.Action != "" {
		return change, nil
	}
	if ok, reason := deployed(live); !ok {
		change.Pending = reason
		return change, nil
	}
	missing, err := s.unready(ctx, live)
	change.Pending = strings.Join(missing, "; ")
	if s.Component == ComponentBase && err == nil && len(missing) == 0 {
		var address string
		if address, err = s.gatewayAddress(ctx); address != "" {
			s.GatewayAddress().Set(run, address)
		}
	}
	return change, err
}

func (s instanceStep) apply(ctx context.Context, run *planewright.Run) error {
	desired, _, err := s.desired(run)
	if err != nil {
		return err
	}
	return s.own(desired).apply(ctx)
}
