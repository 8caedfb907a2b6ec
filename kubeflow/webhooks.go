package kubeflow

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// legacyIstiod is the Service of a control plane of service mesh version 1: istiod-1-22.
var legacyIstiod = regexp.MustCompile(`^istiod-(1-[0-9]+)$`)

const admissionAPI = "admissionregistration.k8s.io/v1"

// legacyWebhook is a webhook that a mesh of version 1 has left behind.
type legacyWebhook struct {
	obj *unstructured.Unstructured
	// revision is that of its control plane: "1-22".
	revision string
}

// legacyWebhooks finds the webhooks of a mesh of version 1 by their names and by
// where they lead: two of the names are also names of version 2.
func (b binding) legacyWebhooks(ctx context.Context) ([]legacyWebhook, error) {
	var found []legacyWebhook
	for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		list, err := b.workload.Objects.List(ctx, kube.ListRequest{APIVersion: admissionAPI, Kind: kind})
		if err != nil {
			return nil, err
		}
		for _, obj := range list {
			for _, hook := range mapsAt(obj.Object, "webhooks") {
				match := legacyIstiod.FindStringSubmatch(textAt(hook, "clientConfig", "service", "name"))
				if match != nil && legacyName(obj.GetName(), match[1]) {
					found = append(found, legacyWebhook{obj, match[1]})
					break
				}
			}
		}
	}
	return found, nil
}

func legacyName(name, revision string) bool {
	return slices.Contains([]string{"istiod-default-validator", "istio-revision-tag-default", "istio-sidecar-injector-" + revision}, name)
}

// legacyUsers are the namespaces whose sidecars a mesh of version 1 injects.
func (b binding) legacyUsers(ctx context.Context, revision string) ([]string, error) {
	var users []string
	for _, selector := range []string{"istio.io/rev=" + revision, "cpaas.io/serviceMesh=enabled"} {
		list, err := b.workload.Objects.List(ctx, kube.ListRequest{APIVersion: "v1", Kind: "Namespace", Labels: selector})
		if err != nil {
			return nil, err
		}
		for _, ns := range list {
			if !slices.Contains(users, ns.GetName()) {
				users = append(users, ns.GetName())
			}
		}
	}
	return users, nil
}

// webhookStep deletes the webhooks of a mesh of version 1, once nobody uses it,
// and keeps what they were in a ConfigMap.
type webhookStep struct{ binding }

func (s webhookStep) backup() kube.Ref {
	return kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: s.operatorNamespace(ComponentBase), Name: "planewright-kubeflow-" + s.name + "-webhooks"}
}

func (s webhookStep) step(needs ...string) planewright.Step {
	return planewright.Step{
		ID:      s.binding.step("mesh-webhooks"),
		Title:   "webhooks of service mesh version 1",
		Cluster: s.workload.Name,
		Needs:   needs,
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			change, err := s.check(ctx)
			return s.checked(ctx, run, change, err)
		},
		Apply: s.apply,
	}
}

func (s webhookStep) check(ctx context.Context) (planewright.Change, error) {
	found, err := s.legacyWebhooks(ctx)
	if err != nil || len(found) == 0 {
		return planewright.Change{}, err
	}
	change := planewright.Change{Action: planewright.ActionDelete, Reason: "what they were is kept in " + s.backup().String()}
	for _, w := range found {
		users, err := s.legacyUsers(ctx, w.revision)
		if err != nil {
			return planewright.Change{}, err
		}
		if len(users) > 0 {
			return planewright.Change{Action: planewright.ActionBlocked, Fingerprint: strings.Join(users, " "),
				Reason: fmt.Sprintf("%s serves the namespaces %s; move them to the other mesh first", kube.RefOf(w.obj), strings.Join(users, ", "))}, nil
		}
		change.Diff = append(change.Diff, planewright.FieldDiff{Path: kube.RefOf(w.obj).String(), Before: "leads to istiod-" + w.revision})
		change.Fingerprint += identity(w.obj) + ";"
	}
	return change, nil
}

func (s webhookStep) apply(ctx context.Context, run *planewright.Run) error {
	change, err := s.check(ctx)
	if err != nil {
		return err
	}
	if change.Action == planewright.ActionBlocked {
		return blockedError(change)
	}
	found, err := s.legacyWebhooks(ctx)
	if err != nil || len(found) == 0 {
		return err
	}
	kept := map[string]any{}
	if have, err := s.workload.Objects.Get(ctx, s.backup()); err == nil {
		for key, value := range mapAt(have.Object, "data") {
			kept[key] = value
		}
	} else if !errors.Is(err, planewright.ErrNotFound) {
		return err
	}
	for _, w := range found {
		copied := w.obj.DeepCopy()
		copied.SetManagedFields(nil)
		text, err := yaml.Marshal(copied.Object)
		if err != nil {
			return fmt.Errorf("%s cannot be written as YAML: %w", kube.RefOf(w.obj), err)
		}
		kept[strings.ToLower(w.obj.GetKind())+"."+w.obj.GetName()+".yaml"] = string(text)
	}
	desired := newObject(s.backup(), s.ownLabels(), map[string]any{"data": kept})
	if _, err := s.workload.Objects.Apply(ctx, desired, kube.ApplyOptions{Force: true}); err != nil {
		return err
	}
	for _, w := range found {
		if err := s.workload.Objects.Delete(ctx, kube.RefOf(w.obj), kube.DeleteOptions{UID: identity(w.obj)}); err != nil {
			return err
		}
	}
	run.Advise("the webhooks of service mesh version 1 are gone; what they were is in %s", s.backup())
	return nil
}
