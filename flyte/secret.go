package flyte

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"strconv"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// secretStep keeps one Secret object. Its annotation counts how often its
// content has changed; pods carry the number they started with, so that they are
// replaced when it changes, and no hash of a secret is written anywhere.
type secretStep struct {
	binding
	// id is the last part of the step's id, name the Secret's.
	id, name string
	// content returns what the Secret holds.
	content func(ctx context.Context, run *planewright.Run) (map[string][]byte, error)
	// annotations are the Secret's beside that of its revision. May be nil.
	annotations map[string]any
	// keys are the keys of the content.
	keys []string
	// podAnnotation is where pods carry the revision.
	podAnnotation string
	revision      planewright.Output[string]
}

// secrets returns the steps of the Secrets that the deployment makes itself.
func (b binding) secrets() []secretStep {
	var steps []secretStep
	if b.database.owned() {
		s := secretStep{binding: b, id: "database-secret", name: b.databaseSecretName(), content: b.databaseContent,
			podAnnotation: databaseRevisionAnnotation, revision: b.databaseRevision}
		if _, inCluster := b.database.password.InCluster(); !inCluster && !b.database.password.IsZero() {
			s.keys = append(s.keys, b.keys.password)
		}
		if b.database.rootCA != "" {
			s.keys = append(s.keys, rootCAKey)
		}
		steps = append(steps, s)
	}
	if b.storage.keyed() {
		s := secretStep{binding: b, id: "storage-secret", name: b.storageSecretName(), content: b.storageContent,
			keys: []string{b.keys.storage}, podAnnotation: storageRevisionAnnotation, revision: b.storageRevision}
		if b.hashInStorageSecret() {
			s.keys = append(s.keys, authConfigKey)
		}
		steps = append(steps, s)
	}
	if !b.auth.IsZero() {
		steps = append(steps, b.authSecret())
	}
	return steps
}

func (b binding) databaseContent(ctx context.Context, run *planewright.Run) (map[string][]byte, error) {
	content := map[string][]byte{}
	if _, inCluster := b.database.password.InCluster(); !inCluster && !b.database.password.IsZero() {
		password, err := run.Resolve(ctx, b.database.password)
		if err != nil {
			return nil, fmt.Errorf("database password: %w", err)
		}
		content[b.keys.password] = []byte(connectionString(string(password)))
	}
	if b.database.rootCA != "" {
		content[rootCAKey] = []byte(b.database.rootCA)
	}
	return content, nil
}

// storageContent is a configuration file with the storage's keys in it.
func (b binding) storageContent(ctx context.Context, run *planewright.Run) (map[string][]byte, error) {
	key, err := run.Resolve(ctx, b.storage.secretKey)
	if err != nil {
		return nil, fmt.Errorf("storage secret key: %w", err)
	}
	config := map[string]any{"access_key_id": b.storage.keyID, "secret_key": string(key)}
	file := kube.Values{}.Set("storage.stow.config", config)
	if b.keys.storage == coreStorageKey || b.isFlyte2() {
		file = b.storage.keyedFile(config)
	}
	text, err := yaml.Marshal(file)
	if err != nil {
		return nil, fmt.Errorf("storage keys cannot be written as YAML: %w", planewright.ErrInvalid)
	}
	content := map[string][]byte{b.keys.storage: text}
	if b.hashInStorageSecret() {
		machine, err := b.machineSecret(ctx, run)
		if err != nil {
			return nil, err
		}
		if content[authConfigKey], err = b.authConfig(ctx, b.storageSecretName(), machine); err != nil {
			return nil, err
		}
	}
	return content, nil
}

func (s secretStep) ref() kube.Ref {
	return kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: s.namespace, Name: s.name}
}

func (s secretStep) step() planewright.Step {
	return planewright.Step{
		ID:      s.binding.step(s.id),
		Title:   "Secret " + s.namespace + "/" + s.name,
		Cluster: s.cluster.Name,
		Needs:   []string{s.binding.step("namespace")},
		Objects: []planewright.Object{s.ref().In(s.cluster.Name)},
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			change, _, err := s.check(ctx, run)
			return s.checked(ctx, run, change, err)
		},
		Apply:  s.apply,
		Undo:   s.undo,
		Render: s.render,
	}
}

// desired is the Secret with its content.
func (s secretStep) desired(content map[string][]byte, revision string) *unstructured.Unstructured {
	data := map[string]any{}
	for key, value := range content {
		data[key] = base64.StdEncoding.EncodeToString(value)
	}
	annotations := map[string]any{revisionAnnotation: revision}
	maps.Copy(annotations, s.annotations)
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1",
		"kind":       "Secret",
		"metadata": map[string]any{
			"name": s.name, "namespace": s.namespace,
			"labels":      s.ownLabels(),
			"annotations": annotations,
		},
		"type": "Opaque",
		"data": data,
	}}
}

// check compares the Secret with its content, predicts its revision, and
// returns the object to apply.
func (s secretStep) check(ctx context.Context, run *planewright.Run) (planewright.Change, *unstructured.Unstructured, error) {
	content, err := s.content(ctx, run)
	if err != nil {
		return planewright.Change{}, nil, err
	}
	live, err := s.cluster.Objects.Get(ctx, s.ref())
	if errors.Is(err, planewright.ErrNotFound) {
		// Pods that are there already have seen an earlier Secret of this name.
		started, err := s.startedRevision(ctx, s.podAnnotation)
		if err != nil {
			return planewright.Change{}, nil, err
		}
		revision := strconv.Itoa(started + 1)
		s.revision.Set(run, revision)
		return planewright.Change{Action: planewright.ActionCreate, Fingerprint: "absent", Diff: secretDiff(s.keys, revision)}, s.desired(content, revision), nil
	}
	if err != nil {
		return planewright.Change{}, nil, err
	}
	fingerprint := string(live.GetUID()) + " " + live.GetResourceVersion()
	owned := s.owns(live.GetLabels())
	if !owned && !s.adopt {
		return planewright.Change{Action: planewright.ActionBlocked, Fingerprint: fingerprint,
			Reason: fmt.Sprintf("%s exists, and this deployment did not make it; delete it, use another release name, or take it over by WithAdoption", s.ref())}, nil, nil
	}
	number, err := strconv.Atoi(live.GetAnnotations()[revisionAnnotation])
	if err != nil {
		// The count is lost; what pods have seen goes on from there.
		if number, err = s.startedRevision(ctx, s.podAnnotation); err != nil {
			return planewright.Change{}, nil, err
		}
	}
	same := holds(live, content)
	if !same {
		number++
	}
	revision := strconv.Itoa(max(number, 1))
	s.revision.Set(run, revision)
	desired := s.desired(content, revision)
	if same && owned && live.GetAnnotations()[revisionAnnotation] == revision {
		return planewright.Change{Action: planewright.ActionNone, Fingerprint: fingerprint}, desired, nil
	}
	diff, err := s.cluster.Objects.Diff(ctx, desired, kube.ApplyOptions{Force: true})
	if err != nil {
		return planewright.Change{}, nil, err
	}
	change := planewright.Change{Action: diff.Action, Diff: diff.Fields, Fingerprint: fingerprint}
	if !owned {
		change.Action = planewright.ActionAdopt
	}
	if !same {
		change.Reason = "its content changes, and pods are replaced"
	}
	return change, desired, nil
}

// startedRevision returns the highest revision that running pods have started
// with, 0 if there are none.
func (b binding) startedRevision(ctx context.Context, annotation string) (int, error) {
	workloads, err := b.cluster.Objects.List(ctx, kube.ListRequest{APIVersion: "apps/v1", Kind: "Deployment",
		Namespace: b.namespace, Labels: "app.kubernetes.io/instance=" + b.release})
	if err != nil && !errors.Is(err, planewright.ErrNotFound) {
		return 0, err
	}
	highest := 0
	for _, w := range workloads {
		annotations, _, _ := unstructured.NestedStringMap(w.Object, "spec", "template", "metadata", "annotations")
		if n, err := strconv.Atoi(annotations[annotation]); err == nil {
			highest = max(highest, n)
		}
	}
	return highest, nil
}

// holds reports whether the Secret has this content; other keys do not matter.
func holds(live *unstructured.Unstructured, content map[string][]byte) bool {
	data, _, _ := unstructured.NestedStringMap(live.Object, "data")
	for key, want := range content {
		got, err := base64.StdEncoding.DecodeString(data[key])
		if err != nil || string(got) != string(want) {
			return false
		}
	}
	return true
}

func (s secretStep) apply(ctx context.Context, run *planewright.Run) error {
	change, desired, err := s.check(ctx, run)
	if err != nil {
		return err
	}
	if change.Action == planewright.ActionBlocked {
		return fmt.Errorf("%s: %w", change.Reason, planewright.ErrConflict)
	}
	// The Secret is ours, by its labels or by WithAdoption: whoever changed
	// its keys since is overruled.
	_, err = s.cluster.Objects.Apply(ctx, desired, kube.ApplyOptions{Force: true})
	return err
}

func (s secretStep) undo(ctx context.Context, run *planewright.Run) error {
	return s.deleteOwn(ctx, run, s.ref())
}

// deleteOwn deletes an object if its labels say that the deployment made it,
// and waits until it is gone.
func (b binding) deleteOwn(ctx context.Context, run *planewright.Run, ref kube.Ref) error {
	live, err := b.cluster.Objects.Get(ctx, ref)
	if errors.Is(err, planewright.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if !b.owns(live.GetLabels()) {
		run.Keep(ref.In(b.cluster.Name), "its labels do not say that this deployment made it")
		return nil
	}
	if err := b.cluster.Objects.Delete(ctx, ref, kube.DeleteOptions{UID: string(live.GetUID())}); err != nil {
		return err
	}
	return b.cluster.Objects.Wait(ctx, kube.WaitRequest{Refs: []kube.Ref{ref}, Until: kube.Gone,
		Progress: func(message string) { run.Progress("%s", message) }})
}

func (s secretStep) render(context.Context, *planewright.Run) ([]planewright.File, error) {
	content := map[string][]byte{}
	for _, key := range s.keys {
		content[key] = nil
	}
	return renderObjects(s.folder(s.id), []*unstructured.Unstructured{s.desired(content, firstRevision)})
}

// firstRevision is the revision of a Secret that has just been made.
const firstRevision = "1"
