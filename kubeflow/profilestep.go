package kubeflow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ownerAnnotation is where a profile's namespace names its owner. The profile
// controller leaves a namespace alone in which it does not find the owner.
const ownerAnnotation = "owner"

// profileStep keeps one profile. What the profile controller makes of it tells
// whether it is complete: its conditions say nothing.
type profileStep struct {
	binding
	profile Profile
}

func (s profileStep) ref() kube.Ref {
	return kube.Ref{APIVersion: profileAPI, Kind: "Profile", Name: s.profile.name}
}

func (s profileStep) desired() *unstructured.Unstructured {
	spec := map[string]any{"owner": map[string]any{"kind": "User", "apiGroup": rbacGroup, "name": s.profile.owner}}
	if len(s.profile.quota) > 0 {
		hard := map[string]any{}
		for name, quantity := range s.profile.quota {
			hard[name] = quantity
		}
		spec["resourceQuotaSpec"] = map[string]any{"hard": hard}
	}
	return newObject(s.ref(), s.ownLabels(), map[string]any{"spec": spec})
}

func (s profileStep) step(needs ...string) planewright.Step {
	id := s.binding.step("profiles", s.profile.name, "profile")
	return planewright.Step{
		ID:      id,
		Title:   fmt.Sprintf("profile %s of %s", s.profile.name, s.profile.owner),
		Cluster: s.workload.Name,
		Needs:   needs,
		Objects: []planewright.Object{s.ref().In(s.workload.Name)},
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			change, err := s.check(ctx)
			return s.checked(ctx, run, change, err)
		},
		Apply:  s.apply,
		Await:  s.await,
		Verify: s.verify,
		Undo:   s.undo,
		Render: func(context.Context, *planewright.Run) ([]planewright.File, error) {
			return s.render(id, s.desired())
		},
	}
}

func (s profileStep) check(ctx context.Context) (planewright.Change, error) {
	ns, err := s.namespaceOf(ctx, s.profile.name)
	if err != nil {
		return planewright.Change{}, err
	}
	change, err := s.checkProfile(ctx, ns)
	if err != nil || change.Action == planewright.ActionBlocked {
		return change, err
	}
	change.Findings = append(change.Findings, letterCase(s.profile.owner)...)
	if ns != nil {
		change.Findings = append(change.Findings, s.sidecars(ns)...)
	}
	if change.Action == planewright.ActionNone || change.Action == "" {
		missing, err := s.missing(ctx)
		if err != nil {
			return planewright.Change{}, err
		}
		change.Pending = strings.Join(missing, "; ")
	}
	return change, nil
}

// checkProfile compares the profile, and looks whether its namespace can be its own.
func (s profileStep) checkProfile(ctx context.Context, ns *unstructured.Unstructured) (planewright.Change, error) {
	live, err := s.workload.Objects.Get(ctx, s.ref())
	if err != nil && !errors.Is(err, planewright.ErrNotFound) {
		return planewright.Change{}, err
	}
	blocked := func(seen *unstructured.Unstructured, format string, args ...any) (planewright.Change, error) {
		return planewright.Change{Action: planewright.ActionBlocked, Fingerprint: identity(seen), Reason: fmt.Sprintf(format, args...)}, nil
	}
	owner := ""
	if ns != nil {
		owner = ns.GetAnnotations()[ownerAnnotation]
	}
	switch {
	case live != nil && textAt(live.Object, "spec", "owner", "name") != s.profile.owner:
		return blocked(live, "%s belongs to %s, and its owner cannot be changed; use another name, or name the owner there is", s.ref(), textAt(live.Object, "spec", "owner", "name"))
	case ns != nil && terminating(ns):
		return blocked(ns, "namespace %s is being deleted; wait until it is gone", s.profile.name)
	case ns != nil && owner != "" && owner != s.profile.owner:
		return blocked(ns, "namespace %s belongs to %s by its annotation %s; the profile controller leaves it alone", s.profile.name, owner, ownerAnnotation)
	case ns != nil && owner == "" && !s.profile.adoptNamespace:
		return blocked(ns, "namespace %s exists and lacks the annotation %s: %s; the profile controller leaves it alone: add the annotation by WithNamespaceAdoption, or use NewNamespaceBinding", s.profile.name, ownerAnnotation, s.profile.owner)
	}
	adopting := ns != nil && owner == ""
	if live == nil {
		change := planewright.Change{Action: planewright.ActionCreate, Fingerprint: "absent", Diff: fieldsOf(s.desired())}
		if adopting {
			change.Action = planewright.ActionAdopt
			change.Reason = "the namespace exists and becomes the profile's"
			change.Diff = append(change.Diff, planewright.FieldDiff{Path: fmt.Sprintf("Namespace %s: metadata.annotations.%s", s.profile.name, ownerAnnotation), After: s.profile.owner})
		}
		return change, nil
	}
	if !s.owns(live.GetLabels()) {
		object := s.ref().In(s.workload.Name)
		return planewright.Change{Fingerprint: identity(live), Findings: []planewright.Finding{{Severity: planewright.SeverityInfo, Code: CodeProfile, Object: &object,
			Cause: "somebody else made the profile, with the same owner; it stays as it is"}}}, nil
	}
	change, _, err := ownObject{binding: s.binding, cluster: s.workload, desired: s.desired()}.check(ctx)
	if err == nil && change.Action == planewright.ActionUpdate && quotasEqual(live, s.desired()) {
		// "1" and "1000m" are the same quantity.
		change.Action, change.Diff = planewright.ActionNone, nil
	}
	if err == nil && adopting {
		change.Action = planewright.ActionAdopt
	}
	return change, err
}

// quotasEqual reports whether two profiles differ in how quantities are written alone.
func quotasEqual(live, desired *unstructured.Unstructured) bool {
	have, want := mapAt(live.Object, "spec", "resourceQuotaSpec", "hard"), mapAt(desired.Object, "spec", "resourceQuotaSpec", "hard")
	if len(have) != len(want) || textAt(live.Object, "spec", "owner", "name") != textAt(desired.Object, "spec", "owner", "name") {
		return false
	}
	for name, w := range want {
		a, errA := resource.ParseQuantity(fmt.Sprint(have[name]))
		b, errB := resource.ParseQuantity(fmt.Sprint(w))
		if errA != nil || errB != nil || a.Cmp(b) != 0 {
			return false
		}
	}
	return true
}

func (s profileStep) apply(ctx context.Context, _ *planewright.Run) error {
	ns, err := s.namespaceOf(ctx, s.profile.name)
	if err != nil {
		return err
	}
	change, err := s.checkProfile(ctx, ns)
	if err != nil {
		return err
	}
	if change.Action == planewright.ActionBlocked {
		return blockedError(change)
	}
	if ns != nil && ns.GetAnnotations()[ownerAnnotation] == "" {
		annotations := ns.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[ownerAnnotation] = s.profile.owner
		ns.SetAnnotations(annotations)
		if _, err := s.workload.Objects.Update(ctx, ns); err != nil {
			return err
		}
	}
	if len(change.Findings) > 0 {
		return nil // it is somebody else's, and stays as it is
	}
	_, err = s.workload.Objects.Apply(ctx, s.desired(), kube.ApplyOptions{Force: true})
	return err
}

// made are the objects that the profile controller makes of a profile.
func (s profileStep) made() []kube.Ref {
	ns := s.profile.name
	refs := []kube.Ref{
		{APIVersion: "v1", Kind: "ServiceAccount", Namespace: ns, Name: "default-editor"},
		{APIVersion: "v1", Kind: "ServiceAccount", Namespace: ns, Name: "default-viewer"},
		{APIVersion: rbacAPI, Kind: "RoleBinding", Namespace: ns, Name: "default-editor"},
		{APIVersion: rbacAPI, Kind: "RoleBinding", Namespace: ns, Name: "default-viewer"},
		{APIVersion: rbacAPI, Kind: "RoleBinding", Namespace: ns, Name: "namespaceAdmin"},
		{APIVersion: policyAPI, Kind: "AuthorizationPolicy", Namespace: ns, Name: "ns-owner-access-istio"},
	}
	if len(s.profile.quota) > 0 {
		refs = append(refs, kube.Ref{APIVersion: "v1", Kind: "ResourceQuota", Namespace: ns, Name: "kf-resource-quota"})
	}
	return refs
}

// missing names what the profile controller has not made yet.
func (s profileStep) missing(ctx context.Context) ([]string, error) {
	ns, err := s.namespaceOf(ctx, s.profile.name)
	if err != nil {
		return nil, err
	}
	if ns == nil || ns.GetAnnotations()[ownerAnnotation] != s.profile.owner {
		return []string{"namespace " + s.profile.name + " is not the owner's yet"}, nil
	}
	var missing []string
	for _, ref := range s.made() {
		switch _, err := s.workload.Objects.Get(ctx, ref); {
		case errors.Is(err, planewright.ErrNotFound):
			missing = append(missing, ref.String()+" does not exist yet")
		case err != nil:
			return nil, err
		}
	}
	return missing, nil
}

func (s profileStep) await(ctx context.Context, run *planewright.Run) error {
	err := s.workload.Objects.Wait(ctx, kube.WaitRequest{Refs: []kube.Ref{namespaceRef(s.profile.name)}, Progress: progress(run),
		Until: func(obj *unstructured.Unstructured) (bool, string) {
			if obj == nil {
				return false, "does not exist yet"
			}
			return obj.GetAnnotations()[ownerAnnotation] == s.profile.owner, "is not the owner's"
		}})
	if err != nil {
		return err
	}
	return s.workload.Objects.Wait(ctx, kube.WaitRequest{Refs: s.made(), Progress: progress(run),
		Until: func(obj *unstructured.Unstructured) (bool, string) { return obj != nil, "does not exist yet" }})
}

// undo keeps the profile, unless it is the stack's own and named.
func (s profileStep) undo(ctx context.Context, run *planewright.Run) error {
	live, err := s.workload.Objects.Get(ctx, s.ref())
	if err != nil {
		return ignoreMissing(err)
	}
	if !slices.Contains(s.unkept.profiles, s.profile.name) {
		run.Keep(s.ref().In(s.workload.Name), "deleting a profile deletes its namespace and all data in it")
		return nil
	}
	if err := s.deleteOwn(ctx, run, s.workload, s.ref()); err != nil || !s.owns(live.GetLabels()) {
		return err
	}
	ns, err := s.namespaceOf(ctx, s.profile.name)
	if err != nil || ns == nil {
		return err
	}
	for _, owner := range ns.GetOwnerReferences() {
		if string(owner.UID) == identity(live) {
			return s.workload.Objects.Wait(ctx, kube.WaitRequest{Refs: []kube.Ref{namespaceRef(s.profile.name)}, Until: kube.Gone, Progress: progress(run)})
		}
	}
	run.Keep(namespaceRef(s.profile.name).In(s.workload.Name), "it was there before the profile")
	return nil
}

func (s profileStep) verify(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	missing, err := s.missing(ctx)
	if err != nil {
		return nil, err
	}
	object := s.ref().In(s.workload.Name)
	var findings []planewright.Finding
	for _, m := range missing {
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodeProfile, Object: &object, Cause: m,
			Fix: "look at the log of Deployment kubeflow/profiles-deployment"})
	}
	return findings, nil
}

// sidecars tells of a namespace whose labels ask for sidecars of two meshes.
func (s profileStep) sidecars(ns *unstructured.Unstructured) []planewright.Finding {
	labels := ns.GetLabels()
	if labels["istio-injection"] == "" || labels["istio.io/rev"] == "" {
		return nil
	}
	object := kube.RefOf(ns).In(s.workload.Name)
	return []planewright.Finding{{Severity: planewright.SeverityWarning, Code: CodeSidecar, Object: &object,
		Cause: "it has both labels istio-injection and istio.io/rev, and the first one wins", Fix: "remove the one that does not belong to the mesh in use"}}
}

// podSecurityStep sets which pods a profile's namespace takes.
type podSecurityStep struct {
	binding
	profile Profile
}

func podSecurityLabel(mode string) string { return "pod-security.kubernetes.io/" + mode }

func (s podSecurityStep) step(needs ...string) planewright.Step {
	return planewright.Step{
		ID:      s.binding.step("profiles", s.profile.name, "security"),
		Title:   fmt.Sprintf("pod security %s of namespace %s", s.profile.podSecurity, s.profile.name),
		Cluster: s.workload.Name,
		Needs:   needs,
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			change, err := s.check(ctx)
			return s.checked(ctx, run, change, err)
		},
		Apply: s.apply,
	}
}

func (s podSecurityStep) check(ctx context.Context) (planewright.Change, error) {
	ns, err := s.namespaceOf(ctx, s.profile.name)
	if err != nil {
		return planewright.Change{}, err
	}
	labels := map[string]string{}
	change := planewright.Change{Action: planewright.ActionUpdate, Fingerprint: "labels"}
	if ns != nil {
		labels = ns.GetLabels()
	}
	have := PodSecurity(labels[podSecurityLabel("enforce")])
	if have != PodSecurityUnset && have.rank() >= 0 && have.rank() < s.profile.podSecurity.rank() && !s.profile.lowerPodSecurity {
		return planewright.Change{Action: planewright.ActionBlocked, Fingerprint: string(have),
			Reason: fmt.Sprintf("namespace %s keeps pods to the level %s, and %s would lower it; say so by WithLoweredPodSecurity", s.profile.name, have, s.profile.podSecurity)}, nil
	}
	for _, mode := range []string{"enforce", "audit", "warn"} {
		if got := labels[podSecurityLabel(mode)]; got != string(s.profile.podSecurity) {
			change.Diff = append(change.Diff, planewright.FieldDiff{Path: "metadata.labels[" + podSecurityLabel(mode) + "]", Before: got, After: string(s.profile.podSecurity)})
		}
	}
	if len(change.Diff) == 0 {
		change.Action = planewright.ActionNone
	}
	return change, nil
}

func (s podSecurityStep) apply(ctx context.Context, _ *planewright.Run) error {
	ns, err := s.workload.Objects.Get(ctx, namespaceRef(s.profile.name))
	if err != nil {
		return err
	}
	change, err := s.check(ctx)
	if err != nil {
		return err
	}
	if change.Action == planewright.ActionBlocked {
		return blockedError(change)
	}
	labels := ns.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	for _, mode := range []string{"enforce", "audit", "warn"} {
		labels[podSecurityLabel(mode)] = string(s.profile.podSecurity)
	}
	ns.SetLabels(labels)
	_, err = s.workload.Objects.Update(ctx, ns)
	return err
}
