package kubeflow

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// deployed tells whether the operator has applied its chart to what the custom resource says now.
func deployed(obj *unstructured.Unstructured) (bool, string) {
	if obj == nil {
		return false, "does not exist"
	}
	for _, kind := range []string{"ReleaseFailed", "Irreconcilable"} {
		if status, reason, message := condition(obj, kind); status == "True" {
			return false, fmt.Sprintf("%s (%s): %s", kind, reason, message)
		}
	}
	if !isTrue(obj, "Deployed") {
		_, reason, message := condition(obj, "Deployed")
		return false, strings.TrimSpace("is not deployed yet " + reason + " " + message)
	}
	return true, ""
}

// releaseFailedGrace is how often an operator is seen to fail before it is
// believed: it tries again by itself.
const releaseFailedGrace = 5

// await waits in two stages: the operator has applied its chart, and what the
// chart made is ready.
func (s instanceStep) await(ctx context.Context, run *planewright.Run) error {
	desired, _, err := s.desired(run)
	if err != nil {
		return err
	}
	ref := kube.RefOf(desired)
	var live *unstructured.Unstructured
	failures, reason := 0, ""
	err = s.workload.Objects.Wait(ctx, kube.WaitRequest{Refs: []kube.Ref{ref}, Progress: progress(run),
		Until: func(obj *unstructured.Unstructured) (bool, string) {
			live = obj
			var ok bool
			if ok, reason = deployed(obj); ok {
				return true, ""
			}
			if obj != nil && (isTrue(obj, "ReleaseFailed") || isTrue(obj, "Irreconcilable")) {
				failures++
			}
			return failures >= releaseFailedGrace, reason
		}})
	if ok, _ := deployed(live); !ok && live != nil && (err == nil || errors.Is(err, planewright.ErrTimeout)) {
		return &OperatorError{Sign: SignReleaseFailed, Object: ref.In(s.workload.Name), Cause: reason,
			Fix: "mend what the operator's chart trips over; it goes on by itself, and so does another install", Err: err}
	}
	if err != nil {
		return err
	}
	workloads, err := s.workloads(ctx, live)
	if err != nil {
		return err
	}
	for _, name := range s.instance.definitions {
		workloads = append(workloads, definitionRef(name))
	}
	if err := s.workload.Objects.Wait(ctx, kube.WaitRequest{Refs: workloads, Progress: progress(run)}); err != nil {
		return err
	}
	if s.Component == ComponentBase {
		s.advise(ctx, run)
	}
	return nil
}

// workloads are the Deployments and StatefulSets that the operator's Helm release has made.
func (s instanceStep) workloads(ctx context.Context, live *unstructured.Unstructured) ([]kube.Ref, error) {
	release := textAt(live.Object, "status", "deployedRelease", "name")
	if release == "" {
		release = live.GetName()
	}
	var refs []kube.Ref
	for _, kind := range []string{"Deployment", "StatefulSet"} {
		list, err := s.workload.Objects.List(ctx, kube.ListRequest{APIVersion: "apps/v1", Kind: kind})
		if err != nil {
			return nil, err
		}
		for _, w := range list {
			annotations := w.GetAnnotations()
			if annotations["meta.helm.sh/release-name"] == release && annotations["meta.helm.sh/release-namespace"] == live.GetNamespace() {
				refs = append(refs, kube.RefOf(w))
			}
		}
	}
	return refs, nil
}

// unready names what the operator has made and what does not work yet.
func (s instanceStep) unready(ctx context.Context, live *unstructured.Unstructured) ([]string, error) {
	refs, err := s.workloads(ctx, live)
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, ref := range refs {
		w, err := s.workload.Objects.Get(ctx, ref)
		if err != nil {
			return nil, err
		}
		if have, want := replicas(w); have < want {
			missing = append(missing, fmt.Sprintf("%s: %d of %d replicas are available", ref, have, want))
		}
	}
	for _, name := range s.instance.definitions {
		d, err := s.workload.Objects.Get(ctx, definitionRef(name))
		if errors.Is(err, planewright.ErrNotFound) || err == nil && !isTrue(d, "Established") {
			missing = append(missing, "definition "+name+" is not established")
		} else if err != nil {
			return nil, err
		}
	}
	return missing, nil
}

// replicas are how many replicas of a workload are available, and how many there should be.
func replicas(w *unstructured.Unstructured) (have, want int64) {
	want = 1
	if n, ok, _ := unstructured.NestedInt64(w.Object, "spec", "replicas"); ok {
		want = n
	}
	have, _, _ = unstructured.NestedInt64(w.Object, "status", "availableReplicas")
	return have, want
}

func (s instanceStep) verify(ctx context.Context, run *planewright.Run) ([]planewright.Finding, error) {
	desired, _, err := s.desired(run)
	if err != nil {
		return nil, err
	}
	live, err := s.workload.Objects.Get(ctx, kube.RefOf(desired))
	if err != nil {
		return nil, err
	}
	object := kube.RefOf(live).In(s.workload.Name)
	var findings []planewright.Finding
	broken := func(cause string) {
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodeWorkload, Object: &object,
			Cause: cause, Fix: "look at its pods and events"})
	}
	if ok, reason := deployed(live); !ok {
		broken(reason)
	}
	missing, err := s.unready(ctx, live)
	if err != nil {
		return nil, err
	}
	for _, m := range missing {
		broken(m)
	}
	if s.Component == ComponentBase {
		access, err := s.verifyAccess(ctx)
		if err != nil {
			return nil, err
		}
		findings = append(findings, access...)
	}
	return findings, nil
}

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
