package kubeflow

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

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
	s.advise(ctx, run)
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
