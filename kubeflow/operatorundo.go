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
	if err := s.refuseWhileUsed(ctx, run, csv); err != nil {
		return err
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

// refuseWhileUsed returns an error that names the custom resources of the
// operator's kinds, if there are any, and keeps the definitions.
func (o operatorBinding) refuseWhileUsed(ctx context.Context, run *planewright.Run, csv *unstructured.Unstructured) error {
	if csv == nil {
		return nil
	}
	var left []string
	for _, kind := range customsOf(mapAt(csv.Object, "spec", "customresourcedefinitions"), nil) {
		list, err := o.workload.Objects.List(ctx, kube.ListRequest{APIVersion: kind.apiVersion, Kind: kind.kind})
		if err != nil && !errors.Is(err, planewright.ErrNotFound) {
			return err
		}
		for _, obj := range list {
			left = append(left, kube.RefOf(obj).String())
		}
		run.Keep(definitionRef(kind.crd).In(o.workload.Name), "definitions stay: deleting one deletes all objects of its kind")
	}
	if len(left) > 0 {
		return fmt.Errorf("operator %s stays: %s would be left without anybody to remove what holds them; delete them first: %w",
			csv.GetName(), strings.Join(left, ", "), planewright.ErrBlocked)
	}
	return nil
}

func definitionRef(name string) kube.Ref {
	return kube.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: name}
}
