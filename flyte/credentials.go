package flyte

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// credentialsStep keeps the data planes' tokens and authorities in the Secret
// that flyteadmin and syncresources mount. Both read them only when they
// start; so the Secret counts its changes, and their pods carry the number.
// Keys of others in the Secret stay.
type credentialsStep struct {
	binding
	planes   []accessStep
	revision planewright.Output[string]
}

func (s credentialsStep) ref() kube.Ref {
	return kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: s.namespace, Name: credentialsSecret}
}

func (s credentialsStep) step(needs []string) planewright.Step {
	return planewright.Step{
		ID:      s.revision.Step(),
		Title:   fmt.Sprintf("Secret %s/%s, the data planes' tokens", s.namespace, credentialsSecret),
		Cluster: s.cluster.Name,
		Needs:   needs,
		Objects: []planewright.Object{s.ref().In(s.cluster.Name)},
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			change, _, err := s.check(ctx, run)
			return s.checked(ctx, run, change, err)
		},
		Apply: func(ctx context.Context, run *planewright.Run) error {
			change, desired, err := s.check(ctx, run)
			if err != nil {
				return err
			}
			if change.Action == planewright.ActionBlocked {
				return fmt.Errorf("%s: %w", change.Reason, planewright.ErrConflict)
			}
			_, err = s.cluster.Objects.Apply(ctx, desired, kube.ApplyOptions{Force: s.overrules(desired)})
			return err
		},
		Undo:   s.undo,
		Render: s.render,
	}
}

// desired is the Secret with the deployment's keys.
func (s credentialsStep) desired(content map[string][]byte, revision string, labels map[string]any) *unstructured.Unstructured {
	data := map[string]any{}
	for key, value := range content {
		data[key] = base64.StdEncoding.EncodeToString(value)
	}
	metadata := map[string]any{
		"name": credentialsSecret, "namespace": s.namespace,
		"annotations": map[string]any{revisionAnnotation: revision},
	}
	if labels != nil {
		metadata["labels"] = labels
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque", "data": data,
	}}
}

// content is what the Secret should hold. Where a token does not exist yet,
// the error tells which step makes it, and the keys are known nevertheless.
func (s credentialsStep) content(run *planewright.Run) (content map[string][]byte, keys []string, err error) {
	content = map[string][]byte{}
	for _, p := range s.planes {
		keys = append(keys, tokenKeyOf(p.plane.name), caKeyOf(p.plane.name))
		credentials, missing := p.credentials.Get(run)
		if missing != nil {
			err = errors.Join(err, missing)
			continue
		}
		content[tokenKeyOf(p.plane.name)] = credentials.token
		content[caKeyOf(p.plane.name)] = credentials.ca
	}
	return content, keys, err
}

func (s credentialsStep) check(ctx context.Context, run *planewright.Run) (planewright.Change, *unstructured.Unstructured, error) {
	content, keys, unknown := s.content(run)
	live, err := s.cluster.Objects.Get(ctx, s.ref())
	if errors.Is(err, planewright.ErrNotFound) {
		// Pods that are there already have seen an earlier Secret of this name.
		started, err := s.startedRevision(ctx, credentialsRevisionAnnotation)
		if err != nil {
			return planewright.Change{}, nil, err
		}
		revision := strconv.Itoa(started + 1)
		s.revision.Set(run, revision)
		change := planewright.Change{Action: planewright.ActionCreate, Fingerprint: "absent", Diff: secretDiff(keys, revision)}
		return change, s.desired(content, revision, s.ownLabels()), unknown
	}
	if err != nil {
		return planewright.Change{}, nil, err
	}
	number, err := strconv.Atoi(live.GetAnnotations()[revisionAnnotation])
	if err != nil {
		if number, err = s.startedRevision(ctx, credentialsRevisionAnnotation); err != nil {
			return planewright.Change{}, nil, err
		}
	}
	gone := s.formerKeys(live, keys)
	same := unknown == nil && holds(live, content) && len(gone) == 0
	if !same {
		number++
	}
	revision := strconv.Itoa(max(number, 1))
	s.revision.Set(run, revision)
	if unknown != nil {
		// A token that is to come changes the content, whatever it will be.
		return planewright.Change{}, nil, unknown
	}
	fingerprint := string(live.GetUID()) + " " + live.GetResourceVersion()
	var labels map[string]any
	if s.owns(live.GetLabels()) {
		labels = s.ownLabels()
	}
	desired := s.desired(content, revision, labels)
	if same && live.GetAnnotations()[revisionAnnotation] == revision {
		return planewright.Change{Action: planewright.ActionNone, Fingerprint: fingerprint}, desired, nil
	}
	diff, err := s.cluster.Objects.Diff(ctx, desired, kube.ApplyOptions{Force: s.overrules(desired)})
	if conflict, ok := errors.AsType[*kube.ConflictError](err); ok {
		return planewright.Change{Action: planewright.ActionBlocked, Fingerprint: fingerprint,
			Reason: fmt.Sprintf("somebody else wrote credentials of the same names: %v; delete these keys, or take them over by WithAdoption", conflict)}, nil, nil
	}
	if err != nil {
		return planewright.Change{}, nil, err
	}
	change := planewright.Change{Action: diff.Action, Diff: diff.Fields, Fingerprint: fingerprint}
	if !same {
		change.Reason = "the credentials change, and flyteadmin and syncresources are restarted"
	}
	return change, desired, nil
}

// overrules reports whether whoever else wrote the deployment's keys is
// overruled: in a Secret that the deployment made, that is drift.
func (s credentialsStep) overrules(desired *unstructured.Unstructured) bool {
	return s.adopt || len(desired.GetLabels()) > 0
}

// formerKeys are keys that the deployment wrote for data planes that it no
// longer has. Applying the others takes them away.
func (s credentialsStep) formerKeys(live *unstructured.Unstructured, keys []string) []string {
	var former []string
	for _, entry := range live.GetManagedFields() {
		if entry.Manager != kube.FieldManager || entry.Operation != metav1.ManagedFieldsOperationApply || entry.FieldsV1 == nil {
			continue
		}
		for _, key := range keysOf(live.Object["data"]) {
			if !slices.Contains(keys, key) && ownsDataKey(entry.FieldsV1.GetRawBytes(), key) {
				former = append(former, key)
			}
		}
	}
	return former
}

// secretDiff lists what a Secret that is to be made will have.
func secretDiff(keys []string, revision string) []planewright.FieldDiff {
	var diff []planewright.FieldDiff
	for _, key := range slices.Sorted(slices.Values(keys)) {
		diff = append(diff, planewright.FieldDiff{Path: valuePath{"data", key}.String(), Secret: true})
	}
	return append(diff, planewright.FieldDiff{Path: valuePath{"metadata", "annotations", revisionAnnotation}.String(), After: revision})
}

// undo deletes the Secret if the deployment made it. Otherwise it takes the
// deployment's keys out of it.
func (s credentialsStep) undo(ctx context.Context, run *planewright.Run) error {
	live, err := s.cluster.Objects.Get(ctx, s.ref())
	if errors.Is(err, planewright.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if s.owns(live.GetLabels()) {
		return s.deleteOwn(ctx, run, s.ref())
	}
	_, err = s.cluster.Objects.Apply(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{"name": credentialsSecret, "namespace": s.namespace},
		"type":     "Opaque",
	}}, kube.ApplyOptions{})
	if err == nil {
		run.Keep(s.ref().In(s.cluster.Name), "it was there before the deployment, whose keys have been taken out of it")
	}
	return err
}

func (s credentialsStep) render(context.Context, *planewright.Run) ([]planewright.File, error) {
	content := map[string][]byte{}
	for _, p := range s.planes {
		content[tokenKeyOf(p.plane.name)], content[caKeyOf(p.plane.name)] = nil, nil
	}
	return renderObjects(s.folder("credentials"), []*unstructured.Unstructured{s.desired(content, firstRevision, s.ownLabels())})
}
