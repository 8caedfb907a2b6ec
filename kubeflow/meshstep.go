package kubeflow

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// meshStep adds Kubeflow's login to the service mesh: to the Istio of the
// workload cluster, or to the ServiceMesh of version 1 in the global one. It
// writes nothing but what was read, changed in three places.
type meshStep struct{ binding }

func (s meshStep) ref() kube.Ref {
	if s.mesh.v1 {
		return kube.Ref{APIVersion: "asm.alauda.io/v1alpha1", Kind: "ServiceMesh", Namespace: DefaultCatalogNamespace, Name: s.mesh.name(s.workload.Name)}
	}
	return kube.Ref{APIVersion: "sailoperator.io/v1", Kind: "Istio", Name: s.mesh.name(s.workload.Name)}
}

func (s meshStep) cluster() kube.Cluster {
	if s.mesh.v1 {
		return s.global
	}
	return s.workload
}

func (s meshStep) document(obj *unstructured.Unstructured) meshDocument {
	if s.mesh.v1 {
		return overlayDocument{obj}
	}
	return istioDocument{obj}
}

func (s meshStep) step(needs ...string) planewright.Step {
	return planewright.Step{
		ID:      s.binding.step("mesh"),
		Title:   "login in " + s.ref().String(),
		Cluster: s.cluster().Name,
		Needs:   needs,
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			change, _, err := s.check(ctx, run)
			return s.checked(ctx, run, change, err)
		},
		Apply:  s.apply,
		Await:  s.await,
		Verify: s.verify,
		Undo:   s.undo,
		Render: func(context.Context, *planewright.Run) ([]planewright.File, error) {
			text, err := yaml.Marshal(map[string]any{"extensionProviders": []any{loginProvider()}})
			return []planewright.File{{Name: "mesh/extension-provider.yaml", Data: text}}, err
		},
	}
}

// check compares the mesh with what it needs, and returns what is to be
// written, nil if there is nothing to do.
func (s meshStep) check(ctx context.Context, run *planewright.Run) (planewright.Change, *unstructured.Unstructured, error) {
	login, err := s.certificate.Get(run)
	if err != nil {
		return planewright.Change{}, nil, err
	}
	list, err := s.cluster().Objects.List(ctx, kube.ListRequest{APIVersion: s.ref().APIVersion, Kind: s.ref().Kind, Namespace: s.ref().Namespace})
	if err != nil && !errors.Is(err, planewright.ErrNotFound) {
		return planewright.Change{}, nil, err
	}
	live, blocked := s.choose(list)
	if live == nil {
		return planewright.Change{Action: planewright.ActionBlocked, Reason: blocked, Fingerprint: blocked}, nil, nil
	}
	next := live.DeepCopy()
	m := meshMerge{doc: s.document(next), note: readMeshNote(live.GetAnnotations()[s.noteAnnotation()]), appendCA: s.mesh.appendCA}
	effective, err := s.effective(ctx, live)
	if err != nil {
		return planewright.Change{}, nil, err
	}
	m.effective = effective
	m.merge(login)
	object := s.ref().In(s.cluster().Name)
	change := planewright.Change{Fingerprint: fmt.Sprintf("%s %d", identity(live), live.GetGeneration()), Diff: m.diff}
	for _, note := range m.notes {
		change.Findings = append(change.Findings, planewright.Finding{Severity: planewright.SeverityInfo, Code: CodeMesh, Object: &object, Cause: note})
	}
	switch {
	case m.conflict != "":
		change.Action, change.Reason, change.Diff = planewright.ActionBlocked, m.conflict, nil
		return change, nil, nil
	case len(m.diff) == 0:
		change.Pending, err = s.pending(ctx, live)
		return change, nil, err
	}
	change.Action = planewright.ActionUpdate
	s.note(next, m.note.text())
	return change, next, nil
}

// choose finds the mesh's object, or says why it cannot be told.
func (s meshStep) choose(list []*unstructured.Unstructured) (*unstructured.Unstructured, string) {
	var names []string
	for _, obj := range list {
		names = append(names, obj.GetName())
	}
	if s.mesh.istio == "" && !s.mesh.v1 && len(list) > 1 {
		return nil, fmt.Sprintf("cluster %s has several meshes: %s; say which one by WithMesh(kubeflow.ServiceMeshV2().WithIstio(…))", s.workload.Name, strings.Join(names, ", "))
	}
	for _, obj := range list {
		if obj.GetName() == s.ref().Name {
			return obj, ""
		}
	}
	reason := fmt.Sprintf("cluster %s has no %s", s.cluster().Name, s.ref())
	if len(names) > 0 {
		reason += "; it has " + strings.Join(names, ", ")
	}
	return nil, reason + "; install the service mesh first, or name the one there is"
}

func (s meshStep) apply(ctx context.Context, run *planewright.Run) error {
	change, next, err := s.check(ctx, run)
	if err != nil {
		return err
	}
	if change.Action == planewright.ActionBlocked {
		return blockedError(change)
	}
	if next == nil {
		return nil
	}
	_, err = s.cluster().Objects.Update(ctx, next)
	return err
}

// configMap is what the mesh's control plane reads.
func (s meshStep) configMap(obj *unstructured.Unstructured) kube.Ref {
	ref := kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "istio-system", Name: "istio"}
	if s.mesh.v1 {
		if version := textAt(obj.Object, "spec", "istioVersion"); version != "" {
			parts := strings.SplitN(version, ".", 3)
			ref.Name = "istio-" + strings.Join(parts[:min(len(parts), 2)], "-")
		}
		return ref
	}
	if ns := textAt(obj.Object, "spec", "namespace"); ns != "" {
		ref.Namespace = ns
	}
	if revision := textAt(obj.Object, "status", "activeRevisionName"); revision != "" && revision != "default" {
		ref.Name = "istio-" + revision
	}
	return ref
}

// effective are the providers that the mesh uses now, nil if that cannot be told.
func (s meshStep) effective(ctx context.Context, obj *unstructured.Unstructured) ([]any, error) {
	live, err := s.workload.Objects.Get(ctx, s.configMap(obj))
	if err != nil {
		return nil, ignoreMissing(err)
	}
	return effectiveProviders(live), nil
}

func effectiveProviders(configMap *unstructured.Unstructured) []any {
	var mesh map[string]any
	if yaml.Unmarshal([]byte(textAt(configMap.Object, "data", "mesh")), &mesh) != nil {
		return nil
	}
	mesh, err := plain(mesh)
	if err != nil {
		return nil
	}
	list, _ := mesh["extensionProviders"].([]any)
	return list
}

// healthy tells whether the Sail operator has taken over what the Istio says.
func healthy(obj *unstructured.Unstructured) (bool, string) {
	if obj == nil {
		return false, "does not exist"
	}
	observed, _, _ := unstructured.NestedInt64(obj.Object, "status", "observedGeneration")
	state := textAt(obj.Object, "status", "state")
	if observed != obj.GetGeneration() {
		return false, "has not been looked at by its operator"
	}
	if !isTrue(obj, "Reconciled") || !isTrue(obj, "Ready") || state != "Healthy" {
		return false, "is in state " + state
	}
	return true, ""
}

func hasProvider(obj *unstructured.Unstructured) (bool, string) {
	if obj == nil {
		return false, "does not exist"
	}
	list := effectiveProviders(obj)
	if i := providerAt(list); i < 0 || !sameProvider(list[i]) {
		return false, "does not have the provider " + providerName + " as it should be"
	}
	return true, ""
}

// pending says what has not taken effect yet.
func (s meshStep) pending(ctx context.Context, obj *unstructured.Unstructured) (string, error) {
	if !s.mesh.v1 {
		if ok, reason := healthy(obj); !ok {
			return kube.RefOf(obj).String() + " " + reason, nil
		}
	}
	ref := s.configMap(obj)
	live, err := s.workload.Objects.Get(ctx, ref)
	if err != nil && !errors.Is(err, planewright.ErrNotFound) {
		return "", err
	}
	if ok, reason := hasProvider(live); !ok {
		return ref.String() + " " + reason, nil
	}
	return "", nil
}

// await waits until the mesh uses what was written.
func (s meshStep) await(ctx context.Context, run *planewright.Run) error {
	live, err := s.cluster().Objects.Get(ctx, s.ref())
	if err != nil {
		return err
	}
	if !s.mesh.v1 {
		err := s.workload.Objects.Wait(ctx, kube.WaitRequest{Refs: []kube.Ref{s.ref()}, Progress: progress(run),
			Until: func(obj *unstructured.Unstructured) (bool, string) {
				live = obj
				return healthy(obj)
			}})
		if err != nil {
			return err
		}
	}
	return s.workload.Objects.Wait(ctx, kube.WaitRequest{Refs: []kube.Ref{s.configMap(live)}, Until: hasProvider, Progress: progress(run)})
}

func (s meshStep) verify(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	live, err := s.cluster().Objects.Get(ctx, s.ref())
	if err != nil {
		return nil, err
	}
	pending, err := s.pending(ctx, live)
	if err != nil || pending == "" {
		return nil, err
	}
	object := s.ref().In(s.cluster().Name)
	return []planewright.Finding{{Severity: planewright.SeverityError, Code: CodeMesh, Object: &object,
		Cause: "the mesh does not use what its object says: " + pending + "; every request to Kubeflow is denied meanwhile",
		Fix:   "look at the mesh's operator and its log"}}, nil
}

func (s meshStep) undo(ctx context.Context, _ *planewright.Run) error {
	live, err := s.cluster().Objects.Get(ctx, s.ref())
	if err != nil {
		return ignoreMissing(err)
	}
	note := live.GetAnnotations()[s.noteAnnotation()]
	if note == "" {
		return nil
	}
	m := meshMerge{doc: s.document(live), note: readMeshNote(note)}
	m.unmerge()
	s.note(live, "")
	_, err = s.cluster().Objects.Update(ctx, live)
	return err
}
