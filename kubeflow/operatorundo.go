package kubeflow

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// undo takes the operator away: its Subscription, and then its CSV. While
// custom resources of its kinds exist it refuses: nobody would be left to
// remove what holds them.
func (s subscriptionStep) undo(ctx context.Context, run *planewright.Run) error {
	sub, err := s.subscribed(ctx)
	if err != nil {
		return err
	}
	if sub != nil && !s.owns(sub.GetLabels()) {
		run.Keep(kube.RefOf(sub).In(s.workload.Name), "somebody else made it")
		return nil
	}
	csv, err := s.csvOf(ctx, sub)
	if err != nil {
		return err
	}
	left, err := s.users(ctx, csv)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("%s; delete them first: %w", inUse(csv, left), planewright.ErrBlocked)
	}
	if csv != nil {
		for _, kind := range customsOf(mapAt(csv.Object, "spec", "customresourcedefinitions"), nil) {
			s.keepDefinition(run, kind.crd)
		}
	}
	if sub != nil {
		if err := deleteAndWait(ctx, run, s.workload, sub); err != nil {
			return err
		}
	}
	if csv == nil {
		return nil
	}
	return deleteAndWait(ctx, run, s.workload, csv)
}

// csvOf finds the CSV that a Subscription has installed. Of an uninstall that was
// cut off only the CSV is left; it is the stack's if its namespace is.
func (o operatorBinding) csvOf(ctx context.Context, sub *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	namespace, name := o.namespace, o.CSV
	if sub != nil {
		namespace, name = sub.GetNamespace(), o.installedCSV(sub)
	} else {
		ns, err := o.workload.Objects.Get(ctx, namespaceStep{o}.ref())
		if err != nil || !o.owns(ns.GetLabels()) {
			return nil, ignoreMissing(err)
		}
	}
	if name == "" {
		return nil, nil
	}
	csv, err := o.workload.Objects.Get(ctx, o.csvRef(namespace, name))
	if err != nil {
		return nil, ignoreMissing(err)
	}
	return csv, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, planewright.ErrNotFound) {
		return nil
	}
	return err
}

// users are the custom resources of the operator's kinds.
func (o operatorBinding) users(ctx context.Context, csv *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	if csv == nil {
		return nil, nil
	}
	var all []*unstructured.Unstructured
	for _, kind := range customsOf(mapAt(csv.Object, "spec", "customresourcedefinitions"), nil) {
		list, err := o.workload.Objects.List(ctx, kube.ListRequest{APIVersion: kind.apiVersion, Kind: kind.kind})
		if err != nil && !errors.Is(err, planewright.ErrNotFound) {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// inUse says why an operator stays.
func inUse(csv *unstructured.Unstructured, users []*unstructured.Unstructured) string {
	return fmt.Sprintf("operator %s stays: %s would be left without anybody to remove what holds them", csv.GetName(), refsOf(users))
}

// mayUndo finds custom resources of others' that need the operator.
func (s subscriptionStep) mayUndo(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	sub, err := s.subscribed(ctx)
	if err != nil || sub == nil || !s.owns(sub.GetLabels()) {
		return nil, err
	}
	csv, err := s.csvOf(ctx, sub)
	if err != nil {
		return nil, err
	}
	left, err := s.users(ctx, csv)
	if err != nil {
		return nil, err
	}
	if left = slices.DeleteFunc(left, s.goes); len(left) == 0 {
		return nil, nil
	}
	object := kube.RefOf(csv).In(s.workload.Name)
	return []planewright.Finding{{Severity: planewright.SeverityError, Code: CodeInUse, Object: &object, Cause: inUse(csv, left), Fix: "delete them first"}}, nil
}

func definitionRef(name string) kube.Ref {
	return kube.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: name}
}
