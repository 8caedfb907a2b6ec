package kubeflow

import (
	"context"
	"fmt"
	"slices"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// undo deletes the custom resource, and waits until its operator has removed
// what it made. The operator must still be there.
func (s instanceStep) undo(ctx context.Context, run *planewright.Run) error {
	ref, err := s.liveRef(ctx)
	if err != nil || ref == (kube.Ref{}) {
		return err
	}
	left, err := s.endangered(ctx)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("%s; delete them first: %w", endangers(left), planewright.ErrBlocked)
	}
	if s.Component == ComponentBase {
		s.keepDefinition(run, profilesDefinition)
	}
	return s.deleteOwn(ctx, run, s.workload, ref)
}

// liveRef finds the group of the custom resource in the operator that is
// installed; it is empty if there is none.
func (s instanceStep) liveRef(ctx context.Context) (kube.Ref, error) {
	sub, err := s.subscribed(ctx)
	if err != nil {
		return kube.Ref{}, err
	}
	csv, err := s.csvOf(ctx, sub)
	if err != nil || csv == nil {
		return kube.Ref{}, err
	}
	kinds := customsOf(mapAt(csv.Object, "spec", "customresourcedefinitions"), nil)
	i := slices.IndexFunc(kinds, func(c custom) bool { return c.kind == s.Kind })
	if i < 0 {
		return kube.Ref{}, nil
	}
	return kube.Ref{APIVersion: kinds[i].apiVersion, Kind: s.Kind, Namespace: s.instance.namespace, Name: s.instance.name}, nil
}

// profilesDefinition is the definition of profiles.
const profilesDefinition = "profiles.kubeflow.org"

// endangered are the profiles that would go with the base: those that are to
// stay, if its chart owns their definition.
func (s instanceStep) endangered(ctx context.Context) ([]*unstructured.Unstructured, error) {
	definition, err := s.workload.Objects.Get(ctx, definitionRef(profilesDefinition))
	if err != nil || s.Component != ComponentBase {
		return nil, ignoreMissing(err)
	}
	annotations := definition.GetAnnotations()
	if annotations["meta.helm.sh/release-name"] == "" || annotations["helm.sh/resource-policy"] == "keep" {
		return nil, nil
	}
	profiles, err := s.workload.Objects.List(ctx, kube.ListRequest{APIVersion: profileAPI, Kind: "Profile"})
	return slices.DeleteFunc(profiles, s.goes), ignoreMissing(err)
}

func endangers(profiles []*unstructured.Unstructured) string {
	return fmt.Sprintf("the base stays: its chart would delete the definition %s, and with it %s, their namespaces and data", profilesDefinition, refsOf(profiles))
}

// mayUndo finds profiles that would go with the base.
func (s instanceStep) mayUndo(ctx context.Context) ([]planewright.Finding, error) {
	ref, err := s.liveRef(ctx)
	if err != nil || ref == (kube.Ref{}) {
		return nil, err
	}
	live, err := s.workload.Objects.Get(ctx, ref)
	if err != nil || !s.owns(live.GetLabels()) {
		return nil, ignoreMissing(err)
	}
	left, err := s.endangered(ctx)
	if err != nil || len(left) == 0 {
		return nil, err
	}
	object := definitionRef(profilesDefinition).In(s.workload.Name)
	return []planewright.Finding{{Severity: planewright.SeverityError, Code: CodeInUse, Object: &object,
		Cause: endangers(left), Fix: "move what is to live on, and delete the profiles first"}}, nil
}
