package kubeflow

import (
	"context"
	"errors"
	"fmt"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// bindingStep lets one person into a namespace: a RoleBinding for the API
// server and an AuthorizationPolicy for the mesh, always both, under the names
// that the dashboard gives them.
type bindingStep struct {
	binding
	namespace string
	person    Binding
	// bare marks a namespace that is no profile's.
	bare bool
}

func (s bindingStep) roleRef() kube.Ref {
	return kube.Ref{APIVersion: rbacAPI, Kind: "RoleBinding", Namespace: s.namespace, Name: s.person.Name()}
}

func (s bindingStep) policyRef() kube.Ref {
	return kube.Ref{APIVersion: policyAPI, Kind: "AuthorizationPolicy", Namespace: s.namespace, Name: s.person.Name()}
}

func (s bindingStep) step(id string, needs ...string) planewright.Step {
	return planewright.Step{
		ID:      id,
		Title:   fmt.Sprintf("%s as %s of namespace %s", s.person.User, s.person.Role, s.namespace),
		Cluster: s.workload.Name,
		Needs:   needs,
		Objects: []planewright.Object{s.roleRef().In(s.workload.Name), s.policyRef().In(s.workload.Name)},
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			change, _, err := s.check(ctx)
			return s.checked(ctx, run, change, err)
		},
		Apply: s.apply,
		Undo: func(ctx context.Context, run *planewright.Run) error {
			for _, ref := range []kube.Ref{s.policyRef(), s.roleRef()} {
				if err := s.deleteOwn(ctx, run, s.workload, ref); err != nil {
					return err
				}
			}
			return nil
		},
		Render: func(context.Context, *planewright.Run) ([]planewright.File, error) {
			return s.render(id, s.pair(access{header: defaultHeader, gateway: defaultGateway, pipelines: defaultPipelines})...)
		},
	}
}

// pair are the two objects. The policy has one rule: who asks and where the
// request comes from must both fit.
func (s bindingStep) pair(a access) []*unstructured.Unstructured {
	annotations := map[string]string{"user": s.person.User, "role": string(s.person.Role)}
	role := newObject(s.roleRef(), s.ownLabels(), map[string]any{
		"roleRef":  map[string]any{"apiGroup": rbacGroup, "kind": "ClusterRole", "name": s.person.Role.clusterRole()},
		"subjects": []any{map[string]any{"apiGroup": rbacGroup, "kind": "User", "name": s.person.User}},
	})
	role.SetAnnotations(annotations)
	policy := newObject(s.policyRef(), s.ownLabels(), map[string]any{"spec": map[string]any{"rules": []any{map[string]any{
		"from": []any{map[string]any{"source": map[string]any{"principals": []any{a.gateway, a.pipelines}}}},
		"when": []any{map[string]any{"key": "request.headers[" + a.header + "]", "values": []any{a.prefix + s.person.User}}},
	}}}})
	policy.SetAnnotations(annotations)
	return []*unstructured.Unstructured{role, policy}
}

// check compares the pair, and returns what is to be applied.
func (s bindingStep) check(ctx context.Context) (planewright.Change, []*unstructured.Unstructured, error) {
	known, err := s.known(ctx)
	if err != nil {
		return planewright.Change{}, nil, err
	}
	findings := letterCase(s.person.User)
	if s.bare {
		findings = append(findings, s.invisible()...)
	}
	if known {
		return planewright.Change{Fingerprint: "known", Findings: findings}, nil, nil
	}
	a, err := s.access(ctx)
	if err != nil {
		return planewright.Change{}, nil, err
	}
	change := planewright.Change{Findings: findings}
	var write []*unstructured.Unstructured
	for _, desired := range s.pair(a) {
		part, live, err := s.compare(ctx, desired)
		if err != nil {
			return planewright.Change{}, nil, err
		}
		if live != nil {
			if user := live.GetAnnotations()["user"]; user != s.person.User {
				collision := &CollisionError{Object: kube.RefOf(live).In(s.workload.Name), Wanted: s.person.User, Found: user}
				return blockedBy(collision, identity(live)), nil, nil
			}
		}
		change.Fingerprint += part.Fingerprint + ";"
		if part.Action == planewright.ActionNone || part.Action == "" {
			continue
		}
		write = append(write, desired)
		if change.Action == "" || part.Action == planewright.ActionUpdate {
			change.Action = part.Action
		}
		for _, d := range part.Diff {
			d.Path = kube.RefOf(desired).Kind + ": " + d.Path
			change.Diff = append(change.Diff, d)
		}
	}
	return change, write, nil
}

// compare compares one of the pair. The role of a RoleBinding cannot be
// changed, so one with another role is made anew.
func (s bindingStep) compare(ctx context.Context, desired *unstructured.Unstructured) (planewright.Change, *unstructured.Unstructured, error) {
	live, err := s.workload.Objects.Get(ctx, kube.RefOf(desired))
	if err != nil && !errors.Is(err, planewright.ErrNotFound) {
		return planewright.Change{}, nil, err
	}
	if live != nil && textAt(live.Object, "roleRef", "name") != textAt(desired.Object, "roleRef", "name") {
		return planewright.Change{Action: planewright.ActionUpdate, Fingerprint: identity(live), Diff: []planewright.FieldDiff{
			{Path: "roleRef.name", Before: textAt(live.Object, "roleRef", "name"), After: textAt(desired.Object, "roleRef", "name")}}}, live, nil
	}
	return ownObject{binding: s.taking(), cluster: s.workload, desired: desired}.check(ctx)
}

// write writes one of the pair.
func (s bindingStep) write(ctx context.Context, run *planewright.Run, desired *unstructured.Unstructured) error {
	live, err := s.workload.Objects.Get(ctx, kube.RefOf(desired))
	if err != nil && !errors.Is(err, planewright.ErrNotFound) {
		return err
	}
	if live == nil || textAt(live.Object, "roleRef", "name") == textAt(desired.Object, "roleRef", "name") {
		_, err := s.workload.Objects.Apply(ctx, desired, kube.ApplyOptions{Force: true})
		return err
	}
	if err := deleteAndWait(ctx, run, s.workload, live); err != nil {
		return err
	}
	if _, err := s.workload.Objects.Create(ctx, desired); err != nil {
		live.SetUID("")
		live.SetResourceVersion("")
		live.SetManagedFields(nil)
		_, back := s.workload.Objects.Create(ctx, live)
		return errors.Join(err, back)
	}
	return nil
}

// taking is the binding with leave to complete an object of the same person's:
// half a pair lets nobody in, and is nobody's intent.
func (s bindingStep) taking() binding {
	b := s.binding
	b.adopt = true
	return b
}

// known reports whether the person has the role by a pair of somebody else's: of
// the dashboard, which names them otherwise in older releases, or made by hand.
func (s bindingStep) known(ctx context.Context) (bool, error) {
	list, err := s.workload.Objects.List(ctx, kube.ListRequest{APIVersion: rbacAPI, Kind: "RoleBinding", Namespace: s.namespace})
	if err != nil {
		return false, err
	}
	for _, role := range list {
		annotations := role.GetAnnotations()
		if annotations["user"] != s.person.User || annotations["role"] != string(s.person.Role) || s.owns(role.GetLabels()) {
			continue
		}
		policy, err := s.workload.Objects.Get(ctx, kube.Ref{APIVersion: policyAPI, Kind: "AuthorizationPolicy", Namespace: s.namespace, Name: role.GetName()})
		if errors.Is(err, planewright.ErrNotFound) {
			continue
		}
		if err != nil {
			return false, err
		}
		if policy.GetAnnotations()["user"] == s.person.User {
			return true, nil
		}
	}
	return false, nil
}

// invisible tells that the dashboard lists people of profiles only.
func (s bindingStep) invisible() []planewright.Finding {
	object := namespaceRef(s.namespace).In(s.workload.Name)
	return []planewright.Finding{{Severity: planewright.SeverityInfo, Code: CodeInvisible, Object: &object,
		Cause: "the namespace is no profile's: " + s.person.User + " is let in, and the dashboard's list of contributors does not show it",
		Fix:   "use NewProfile with WithNamespaceAdoption if it is to be shown"}}
}

func (s bindingStep) apply(ctx context.Context, run *planewright.Run) error {
	change, write, err := s.check(ctx)
	if err != nil {
		return err
	}
	if change.Action == planewright.ActionBlocked {
		return blockedError(change)
	}
	for _, desired := range write {
		if err := s.write(ctx, run, desired); err != nil {
			return err
		}
	}
	return nil
}
