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

// subscriptionStep subscribes to the operator's package, by hand (Manual) and
// from the pin on. A Subscription of the same package is used as it is,
// wherever it is: two would fight over the same definitions.
type subscriptionStep struct{ operatorBinding }

// targetNamespaces is how the platform's console marks an operator for all namespaces.
const targetNamespaces = "cpaas.io/target-namespaces"

func (s subscriptionStep) step(needs ...string) planewright.Step {
	id := s.operatorBinding.step("subscription")
	return planewright.Step{
		ID:      id,
		Title:   "Subscription to " + s.Package,
		Cluster: s.workload.Name,
		Needs:   needs,
		Objects: []planewright.Object{s.subscriptionRef(s.namespace).In(s.workload.Name)},
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			change, _, err := s.check(ctx, run)
			return s.checked(ctx, run, change, err)
		},
		Apply:     s.apply,
		CheckUndo: s.mayUndo,
		Undo:      s.undo,
		Render: func(context.Context, *planewright.Run) ([]planewright.File, error) {
			return s.render(id, s.desired(offer{channel: s.Channel}, s.CSV))
		},
	}
}

// desired is the Subscription. The version that it starts from is read by OLM
// while nothing is installed, and means nothing later.
func (s subscriptionStep) desired(offered offer, starting string) *unstructured.Unstructured {
	spec := map[string]any{
		"name": s.Package, "source": s.catalog.source, "sourceNamespace": s.catalog.namespace,
		"installPlanApproval": "Manual", "startingCSV": starting,
	}
	if offered.channel != "" {
		spec["channel"] = offered.channel
	}
	if len(s.operand.nodeSelector) > 0 {
		selector := map[string]any{}
		for key, value := range s.operand.nodeSelector {
			selector[key] = value
		}
		spec["config"] = map[string]any{"nodeSelector": selector}
	}
	labels := s.ownLabels()
	labels["catalog"] = s.catalog.source
	obj := newObject(s.subscriptionRef(s.namespace), labels, map[string]any{"spec": spec})
	obj.SetAnnotations(map[string]string{targetNamespaces: ""})
	return obj
}

// subscribed finds the Subscription of the package, in whatever namespace; nil if there is none.
func (o operatorBinding) subscribed(ctx context.Context) (*unstructured.Unstructured, error) {
	all, err := o.workload.Objects.List(ctx, kube.ListRequest{APIVersion: operatorsV1alpha1, Kind: "Subscription"})
	if err != nil && !errors.Is(err, planewright.ErrNotFound) {
		return nil, err
	}
	var found []*unstructured.Unstructured
	for _, sub := range all {
		if textAt(sub.Object, "spec", "name") == o.Package {
			found = append(found, sub)
		}
	}
	switch len(found) {
	case 0:
		return nil, nil
	case 1:
		return found[0], nil
	}
	var names []string
	for _, sub := range found {
		names = append(names, sub.GetNamespace()+"/"+sub.GetName())
	}
	return nil, fmt.Errorf("cluster %s has several Subscriptions to %s, which fight over the same definitions: %s; delete all but one: %w",
		o.workload.Name, o.Package, strings.Join(names, ", "), planewright.ErrConflict)
}

// elsewhere reports whether the operator is subscribed to in another namespace
// than the stack would use.
func (o operatorBinding) elsewhere(ctx context.Context) (bool, error) {
	sub, err := o.subscribed(ctx)
	return sub != nil && sub.GetNamespace() != o.namespace, err
}

// check compares the Subscription, and returns the object to apply, nil if there is nothing to do.
func (s subscriptionStep) check(ctx context.Context, run *planewright.Run) (planewright.Change, *unstructured.Unstructured, error) {
	live, err := s.subscribed(ctx)
	if err != nil {
		return planewright.Change{}, nil, err
	}
	if live == nil {
		offered, err := s.offered.Get(run)
		if err != nil {
			return planewright.Change{}, nil, err
		}
		desired := s.desired(offered, s.CSV)
		return planewright.Change{Action: planewright.ActionCreate, Fingerprint: "absent", Diff: fieldsOf(desired)}, desired, nil
	}
	if !s.owns(live.GetLabels()) {
		return s.foreign(live), nil, nil
	}
	offered, err := s.offered.Get(run)
	if errors.Is(err, planewright.ErrUnknown) && s.installedCSV(live) == s.CSV {
		// The catalog is needed to install, not to stay installed.
		offered = offer{channel: textAt(live.Object, "spec", "channel")}
	} else if err != nil {
		return planewright.Change{}, nil, err
	}
	starting := s.CSV
	if s.installedCSV(live) != "" {
		starting = textAt(live.Object, "spec", "startingCSV")
	}
	desired := s.desired(offered, starting)
	diff, err := s.workload.Objects.Diff(ctx, desired, kube.ApplyOptions{Force: true})
	if err != nil {
		return planewright.Change{}, nil, err
	}
	change := planewright.Change{Action: diff.Action, Diff: diff.Fields, Fingerprint: identity(live)}
	if starting != textAt(live.Object, "spec", "startingCSV") {
		change.Reason = "nothing is installed yet, and the pin has changed: it is made anew, because OLM reads the version once"
	}
	return change, desired, nil
}

func (o operatorBinding) installedCSV(sub *unstructured.Unstructured) string {
	return textAt(sub.Object, "status", "installedCSV")
}

// foreign is a Subscription that somebody else made: it is used as it is, and
// what is different is told.
func (s subscriptionStep) foreign(live *unstructured.Unstructured) planewright.Change {
	object := kube.RefOf(live).In(s.workload.Name)
	var differs []string
	for _, field := range []struct{ name, want string }{
		{"source", s.catalog.source}, {"sourceNamespace", s.catalog.namespace}, {"installPlanApproval", "Manual"},
	} {
		if got := textAt(live.Object, "spec", field.name); got != field.want {
			differs = append(differs, fmt.Sprintf("%s is %s and not %s", field.name, got, field.want))
		}
	}
	finding := planewright.Finding{Severity: planewright.SeverityInfo, Code: CodeSubscription, Object: &object,
		Cause: "somebody else subscribed to " + s.Package + "; the stack uses it as it is, and leaves it when it is uninstalled"}
	if len(differs) > 0 {
		finding.Severity = planewright.SeverityWarning
		finding.Cause += "; " + strings.Join(differs, ", ")
		finding.Fix = "change it, so that the operator stays at its pin"
	}
	return planewright.Change{Fingerprint: identity(live), Findings: []planewright.Finding{finding}}
}

func (s subscriptionStep) apply(ctx context.Context, run *planewright.Run) error {
	change, desired, err := s.check(ctx, run)
	if err != nil || desired == nil || change.Action == planewright.ActionNone {
		return err
	}
	live, err := s.subscribed(ctx)
	if err != nil {
		return err
	}
	if live != nil && s.installedCSV(live) == "" && textAt(live.Object, "spec", "startingCSV") != s.CSV {
		if err := deleteAndWait(ctx, run, s.workload, live); err != nil {
			return err
		}
	}
	_, err = s.workload.Objects.Apply(ctx, desired, kube.ApplyOptions{Force: true})
	return err
}
