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

// registrySteps are those of the stack's model registries.
func (o operatorBinding) registrySteps() []planewright.Step {
	var steps []planewright.Step
	for _, r := range o.registries {
		id := o.step("registries", r.profile.name, r.name)
		made := instanceStep{operatorBinding: o, instance: instance{
			id: id, title: "model registry " + r.path(), namespace: r.profile.name, name: r.name, raw: r.values.raw(), settings: r.settings(),
		}}.step(o.binding.step("profiles", r.profile.name, "profile"))
		steps = append(steps, made)
		steps = append(steps, registryAccessStep{o.binding, r}.step(id+"/access", id))
	}
	return steps
}

// registryAccessStep lets further namespaces use a registry: it appends a rule
// to the registry's own AuthorizationPolicy, and leaves the others as they are.
type registryAccessStep struct {
	binding
	registry ModelRegistry
}

func (s registryAccessStep) ref() kube.Ref {
	return kube.Ref{APIVersion: policyAPI, Kind: "AuthorizationPolicy", Namespace: s.registry.profile.name, Name: s.registry.name}
}

func (s registryAccessStep) step(id string, needs ...string) planewright.Step {
	return planewright.Step{
		ID:      id,
		Title:   "access to model registry " + s.registry.path(),
		Cluster: s.workload.Name,
		Needs:   needs,
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			change, _, err := s.check(ctx)
			return s.checked(ctx, run, change, err)
		},
		Apply: func(ctx context.Context, _ *planewright.Run) error {
			_, next, err := s.check(ctx)
			if err != nil || next == nil {
				return err
			}
			_, err = s.workload.Objects.Update(ctx, next)
			return err
		},
	}
}

// check compares what the policy admits, and returns what is to be written.
func (s registryAccessStep) check(ctx context.Context) (planewright.Change, *unstructured.Unstructured, error) {
	wanted := slices.Compact(slices.Sorted(slices.Values(s.registry.admitted)))
	live, err := s.workload.Objects.Get(ctx, s.ref())
	if err != nil && !errors.Is(err, planewright.ErrNotFound) {
		return planewright.Change{}, nil, err
	}
	had := ""
	var rules []any
	if live != nil {
		had = live.GetAnnotations()[s.noteAnnotation()]
		rules, _, _ = unstructured.NestedSlice(live.Object, "spec", "rules")
	}
	note := strings.Join(wanted, ",")
	at := ruleOf(rules, had)
	if note == "" && at < 0 || note == had && at >= 0 {
		return planewright.Change{}, nil, nil
	}
	if at < 0 {
		had = ""
	}
	change := planewright.Change{Action: planewright.ActionUpdate, Fingerprint: "admits " + had,
		Diff: []planewright.FieldDiff{{Path: s.ref().String() + ": spec.rules[].from[].source.namespaces", Before: had, After: note}}}
	if live == nil {
		return change, nil, nil
	}
	if at >= 0 {
		rules = slices.Delete(rules, at, at+1)
	}
	if note != "" {
		list := make([]any, len(wanted))
		for i, ns := range wanted {
			list[i] = ns
		}
		rules = append(rules, map[string]any{"from": []any{map[string]any{"source": map[string]any{"namespaces": list}}}})
	}
	if err := unstructured.SetNestedSlice(live.Object, rules, "spec", "rules"); err != nil {
		return planewright.Change{}, nil, fmt.Errorf("%s cannot be read: %w: %w", s.ref(), err, planewright.ErrInvalid)
	}
	s.note(live, note)
	return change, live, nil
}

// ruleOf finds the rule that admits exactly the namespaces of a note, -1 if it is not there.
func ruleOf(rules []any, note string) int {
	if note == "" {
		return -1
	}
	return slices.IndexFunc(rules, func(rule any) bool {
		m, _ := rule.(map[string]any)
		from := mapsAt(m, "from")
		return len(from) == 1 && strings.Join(textsAt(from[0], "source", "namespaces"), ",") == note
	})
}
