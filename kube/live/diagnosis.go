package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/planewright/planewright/kube"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// maxDiagnosed is how many objects are looked into at a time.
	maxDiagnosed = 8
	// maxEvents is how many different events are told of an object.
	maxEvents = 3
)

// diagnose finds out why objects are not ready: pods that cannot be scheduled
// or cannot pull, quota, conditions, warning events, finalizers. What it may not
// read it leaves out.
func (c *connection) diagnose(ctx context.Context, pending map[kube.Ref]*unstructured.Unstructured) map[kube.Ref][]string {
	refs := make([]kube.Ref, 0, len(pending))
	for ref := range pending {
		refs = append(refs, ref)
	}
	slices.SortFunc(refs, func(a, b kube.Ref) int { return strings.Compare(a.String(), b.String()) })
	found := map[kube.Ref][]string{}
	ctx = c.quiet(ctx)
	d := diagnosis{c: c, events: map[string][]corev1.Event{}}
	for _, ref := range refs[:min(len(refs), maxDiagnosed)] {
		if lines := d.explain(ctx, ref, pending[ref]); len(lines) > 0 {
			found[ref] = lines
		}
	}
	return found
}

type diagnosis struct {
	c      *connection
	events map[string][]corev1.Event // by namespace
}

func (d *diagnosis) explain(ctx context.Context, ref kube.Ref, obj *unstructured.Unstructured) []string {
	if obj == nil {
		return d.tellEvents(ctx, ref, nil, nil)
	}
	pods := d.pods(ctx, obj)
	lines := podLines(pods)
	if when := obj.GetDeletionTimestamp(); when != nil {
		lines = append(lines, deletionLine(obj, when))
	}
	lines = append(lines, conditionLines(obj, len(lines) > 0)...)
	for _, e := range d.tellEvents(ctx, ref, obj, pods) {
		_, message, _ := strings.Cut(e, ": ")
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, message) }) {
			lines = append(lines, e)
		}
	}
	return lines
}

func deletionLine(obj *unstructured.Unstructured, when *metav1.Time) string {
	line := fmt.Sprintf("it was deleted %s ago", time.Since(when.Time).Round(time.Second))
	if held := obj.GetFinalizers(); len(held) > 0 {
		line += " and is held by the finalizers " + strings.Join(held, ", ")
	}
	return line
}

// conditionLines tells the conditions that speak of trouble. That a workload is
// not available says nothing once its pods have told why.
func conditionLines(obj *unstructured.Unstructured, told bool) []string {
	var lines []string
	for _, c := range conditions(obj) {
		kind, _ := c["type"].(string)
		status, _ := c["status"].(string)
		trouble := status == "False" && slices.Contains([]string{"Ready", "Available", "Progressing", "Established", "NamesAccepted"}, kind) ||
			status == "True" && (strings.Contains(kind, "Fail") || strings.HasPrefix(kind, "Namespace"))
		if trouble && (!told || kind != "Available") {
			lines = append(lines, "condition "+kind+" is "+status+": "+conditionText(c))
		}
	}
	return lines
}

// pods are the pods that stand for an object: those that a workload selects, or
// the pod itself.
func (d *diagnosis) pods(ctx context.Context, obj *unstructured.Unstructured) []corev1.Pod {
	if obj.GetKind() == "Pod" {
		return convert[corev1.Pod]([]*unstructured.Unstructured{obj})
	}
	if !slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job"}, obj.GetKind()) {
		return nil
	}
	content, ok, _ := unstructured.NestedMap(obj.Object, "spec", "selector")
	if !ok {
		return nil
	}
	var by metav1.LabelSelector
	if runtime.DefaultUnstructuredConverter.FromUnstructured(content, &by) != nil {
		return nil
	}
	selector, err := metav1.LabelSelectorAsSelector(&by)
	if err != nil || selector.Empty() {
		return nil
	}
	items, _, err := d.c.list(ctx, kube.Ref{APIVersion: "v1", Kind: "Pod"},
		client.InNamespace(obj.GetNamespace()), client.MatchingLabelsSelector{Selector: selector})
	if err != nil {
		return nil
	}
	return convert[corev1.Pod](items)
}

// podLines tells what keeps pods from running, pods with the same trouble together.
func podLines(pods []corev1.Pod) []string {
	byTrouble := map[string][]string{}
	var order []string
	for _, pod := range pods {
		for _, t := range podTroubles(pod) {
			if _, known := byTrouble[t]; !known {
				order = append(order, t)
			}
			byTrouble[t] = append(byTrouble[t], pod.Name)
		}
	}
	var lines []string
	for _, t := range order {
		names := byTrouble[t]
		line := "pod " + names[0]
		if len(names) > 1 {
			line += fmt.Sprintf(" and %d more", len(names)-1)
		}
		lines = append(lines, line+": "+t)
	}
	return lines
}

func podTroubles(pod corev1.Pod) []string {
	var troubles []string
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			troubles = append(troubles, c.Reason+": "+c.Message)
		}
	}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		waiting := s.State.Waiting
		ended := s.State.Terminated
		if ended == nil {
			ended = s.LastTerminationState.Terminated
		}
		switch {
		case waiting != nil && waiting.Reason != "ContainerCreating" && waiting.Reason != "PodInitializing" && waiting.Reason != "":
			t := fmt.Sprintf("container %s: %s", s.Name, waiting.Reason)
			if waiting.Message != "" {
				t += ": " + waiting.Message
			}
			if ended != nil && ended.ExitCode != 0 {
				t += fmt.Sprintf(" (last exit code %d, %s, %d restarts)", ended.ExitCode, ended.Reason, s.RestartCount)
			}
			troubles = append(troubles, t)
		case ended != nil && ended.ExitCode != 0:
			troubles = append(troubles, fmt.Sprintf("container %s: exit code %d, %s, %d restarts", s.Name, ended.ExitCode, ended.Reason, s.RestartCount))
		case s.State.Running != nil && !s.Ready && s.Started != nil && *s.Started:
			troubles = append(troubles, fmt.Sprintf("container %s: runs but is not ready", s.Name))
		}
	}
	return troubles
}

// tellEvents tells the latest warnings about an object, its pods, and what it owns in between.
func (d *diagnosis) tellEvents(ctx context.Context, ref kube.Ref, obj *unstructured.Unstructured, pods []corev1.Pod) []string {
	if ref.Namespace == "" {
		return nil
	}
	about := func(e corev1.Event) bool {
		if e.InvolvedObject.Kind == ref.Kind && e.InvolvedObject.Name == ref.Name {
			return true
		}
		if obj != nil && e.InvolvedObject.Kind == "ReplicaSet" && obj.GetKind() == "Deployment" && strings.HasPrefix(e.InvolvedObject.Name, ref.Name+"-") {
			return true
		}
		return e.InvolvedObject.Kind == "Pod" && slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.Name == e.InvolvedObject.Name })
	}
	var lines []string
	for _, e := range d.warnings(ctx, ref.Namespace) {
		line := "event " + e.Reason + ": " + strings.TrimSpace(e.Message)
		if about(e) && !slices.Contains(lines, line) {
			if lines = append(lines, line); len(lines) == maxEvents {
				break
			}
		}
	}
	return lines
}

// warnings are a namespace's warning events, latest first.
func (d *diagnosis) warnings(ctx context.Context, namespace string) []corev1.Event {
	events, asked := d.events[namespace]
	if asked {
		return events
	}
	items, _, err := d.c.list(ctx, kube.Ref{APIVersion: "v1", Kind: "Event"}, client.InNamespace(namespace),
		client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("type", corev1.EventTypeWarning)})
	if err == nil {
		events = convert[corev1.Event](items)
	}
	slices.SortStableFunc(events, func(a, b corev1.Event) int { return cmp.Compare(eventTime(b).UnixNano(), eventTime(a).UnixNano()) })
	d.events[namespace] = events
	return events
}

func eventTime(e corev1.Event) time.Time {
	switch {
	case e.Series != nil && !e.Series.LastObservedTime.IsZero():
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	case !e.EventTime.IsZero():
		return e.EventTime.Time
	}
	return e.CreationTimestamp.Time
}

// convert gives unstructured objects their types, leaving out what does not fit.
func convert[T any](items []*unstructured.Unstructured) []T {
	typed := make([]T, 0, len(items))
	for _, item := range items {
		var t T
		if runtime.DefaultUnstructuredConverter.FromUnstructured(item.Object, &t) == nil {
			typed = append(typed, t)
		}
	}
	return typed
}
