package kubeflow

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
)

// undo deletes the custom resource, and waits until its operator has removed
// what it made. The operator must still be there.
func (s instanceStep) undo(ctx context.Context, run *planewright.Run) error {
	ref, err := s.liveRef(ctx)
	if err != nil || ref == (kube.Ref{}) {
		return err
	}
	if s.Component == ComponentBase {
		if err := s.protectProfiles(ctx, run); err != nil {
			return err
		}
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

// protectProfiles refuses to take the base away if the definition of profiles
// would go with it, and with that all profiles, their namespaces and data.
func (s instanceStep) protectProfiles(ctx context.Context, run *planewright.Run) error {
	const name = "profiles.kubeflow.org"
	definition, err := s.workload.Objects.Get(ctx, definitionRef(name))
	if err != nil {
		return ignoreMissing(err)
	}
	profiles, err := s.workload.Objects.List(ctx, kube.ListRequest{APIVersion: profileAPI, Kind: "Profile"})
	if err != nil {
		return ignoreMissing(err)
	}
	annotations := definition.GetAnnotations()
	if annotations["meta.helm.sh/release-name"] != "" && annotations["helm.sh/resource-policy"] != "keep" && len(profiles) > 0 {
		var names []string
		for _, p := range profiles {
			names = append(names, p.GetName())
		}
		return fmt.Errorf("the base stays: its chart would delete the definition %s, and with it the profiles %s, their namespaces and data; move what is to live on, and delete the profiles first: %w",
			name, strings.Join(names, ", "), planewright.ErrBlocked)
	}
	run.Keep(definitionRef(name).In(s.workload.Name), "definitions stay: deleting one deletes all objects of its kind")
	return nil
}
