package flyte

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// spread is a Deployment whose pods must each have a node of their own.
type spread struct {
	ref kube.Ref
	// replicas are its pods, unavailable how many of them an upgrade may stop
	// before their successors run.
	replicas, unavailable int
	selector              map[string]string
}

// spreadIn returns the rendered Deployments whose pods refuse to share a node.
func spreadIn(objects []*unstructured.Unstructured) []spread {
	var list []spread
	for _, obj := range objects {
		if obj.GetKind() != "Deployment" {
			continue
		}
		rules, _, _ := unstructured.NestedSlice(obj.Object, "spec", "template", "spec", "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
		apart := false
		for _, rule := range rules {
			m, _ := asMap(rule)
			apart = apart || m["topologyKey"] == "kubernetes.io/hostname"
		}
		if !apart {
			continue
		}
		s := spread{ref: kube.RefOf(obj), replicas: 1}
		if n, ok, _ := unstructured.NestedFieldNoCopy(obj.Object, "spec", "replicas"); ok {
			s.replicas = wholeNumber(n)
		}
		s.selector, _, _ = unstructured.NestedStringMap(obj.Object, "spec", "template", "spec", "nodeSelector")
		s.unavailable = unavailable(obj, s.replicas)
		list = append(list, s)
	}
	return list
}

// unavailable is how many pods a rolling upgrade may stop at once, a quarter
// rounded down by default; Recreate stops all of them.
func unavailable(deployment *unstructured.Unstructured, replicas int) int {
	if kind, _, _ := unstructured.NestedString(deployment.Object, "spec", "strategy", "type"); kind == "Recreate" {
		return replicas
	}
	value, ok, _ := unstructured.NestedFieldNoCopy(deployment.Object, "spec", "strategy", "rollingUpdate", "maxUnavailable")
	most := intstr.FromString("25%")
	if text, isText := value.(string); isText {
		most = intstr.Parse(text)
	} else if ok {
		most = intstr.FromInt32(int32(min(wholeNumber(value), 1<<20))) //nolint:gosec // bounded
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(&most, replicas, false)
	if err != nil {
		return 0
	}
	return n
}

// wholeNumber is a number as YAML holds it.
func wholeNumber(value any) int {
	switch n := value.(type) {
	case int64:
		return int(n)
	case float64:
		return int(n)
	}
	return 0
}

// rolloutFindings tell of pods that would wait for a node for ever: each has
// to have one of its own, and during an upgrade there is one pod more.
func (s releaseStep) rolloutFindings(ctx context.Context, plan kube.ReleasePlan) ([]planewright.Finding, error) {
	spreads := spreadIn(plan.Objects)
	if plan.Action == planewright.ActionNone || len(spreads) == 0 {
		return nil, nil
	}
	nodes, err := s.cluster.Facts.Nodes(ctx)
	if errors.Is(err, planewright.ErrDenied) {
		return nil, nil // the preflight says so
	}
	if err != nil {
		return nil, err
	}
	var findings []planewright.Finding
	for _, d := range spreads {
		if !changes(plan, d.ref) {
			continue
		}
		usable := 0
		for _, n := range nodes {
			if s.unusable(n) == "" && hasLabels(n, d.selector) {
				usable++
			}
		}
		object := d.ref.In(s.cluster.Name)
		finding := planewright.Finding{Severity: planewright.SeverityError, Code: CodeTooFewNodes, Object: &object,
			Fix: fmt.Sprintf("add a node, set WithPods(%q, …) to fewer replicas, or give it another affinity", d.ref.Name)}
		switch {
		case usable < d.replicas:
			finding.Cause = fmt.Sprintf("its %d pods must not share a node, and cluster %s has %d that they can use", d.replicas, s.cluster.Name, usable)
		case usable > d.replicas || d.unavailable > 0:
			continue
		case plan.State == nil:
			finding.Severity = planewright.SeverityWarning
			finding.Cause = fmt.Sprintf("its %d pods must not share a node, and cluster %s has no more than %d that they can use: the first upgrade would wait for another for ever", d.replicas, s.cluster.Name, usable)
		default:
			finding.Cause = fmt.Sprintf("its %d pods must not share a node, and cluster %s has no more than %d that they can use: the upgrade, which starts a pod before it stops one, would wait for another for ever", d.replicas, s.cluster.Name, usable)
		}
		findings = append(findings, finding)
	}
	return findings, nil
}

// changes reports whether the plan changes an object.
func changes(plan kube.ReleasePlan, ref kube.Ref) bool {
	for _, field := range plan.Diff {
		if strings.HasPrefix(field.Path, ref.String()+":") || field.Path == ref.String() {
			return true
		}
	}
	return false
}

func hasLabels(n kube.Node, labels map[string]string) bool {
	for key, value := range labels {
		if n.Labels[key] != value {
			return false
		}
	}
	return true
}
