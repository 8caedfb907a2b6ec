package flyte

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// WithAbandonedExecutions allows to take flytepropeller away from executions
// that it has not ended: when a data plane is taken out or renamed, when a control
// plane no longer runs workflows, and by Uninstall. Dangerous: nobody ends
// these executions, and their finalizers hold their namespaces. By default it is refused.
func (d Deployment) WithAbandonedExecutions() Deployment {
	d.abandons = true
	return d
}

// notTerminated selects executions that flytepropeller still has to end. It
// labels those that have ended (flytepropeller's termination-status).
const notTerminated = "termination-status!=terminated"

// runningWorkflows counts the executions that a cluster's flytepropeller has not ended.
func runningWorkflows(ctx context.Context, cluster kube.Cluster) (int, error) {
	list, err := cluster.Objects.List(ctx, kube.ListRequest{APIVersion: "flyte.lyft.com/v1alpha1", Kind: "FlyteWorkflow", Labels: notTerminated})
	if errors.Is(err, planewright.ErrNotFound) {
		return 0, nil
	}
	return len(list), err
}

// drainFindings refuse to take flytepropeller away from executions that it
// has not ended: nobody would end them, and their finalizers hold their
// namespaces. What says why it would be taken away.
func (b binding) drainFindings(ctx context.Context, what string) ([]planewright.Finding, error) {
	n, err := runningWorkflows(ctx, b.cluster)
	if errors.Is(err, planewright.ErrDenied) {
		return []planewright.Finding{{Severity: planewright.SeverityUnprobed, Code: CodeRunning,
			Cause: fmt.Sprintf("whether workflows run in cluster %s may not be asked: %v", b.cluster.Name, err)}}, nil
	}
	if err != nil || n == 0 {
		return nil, err
	}
	finding := planewright.Finding{Severity: planewright.SeverityError, Code: CodeRunning,
		Cause: fmt.Sprintf("cluster %s has %s that flytepropeller has not ended, and %s nobody does", b.cluster.Name, counted(n, "execution"), what),
		Fix:   "let no new ones start (WithoutNewExecutions of a data plane), and wait for these or abort them; or give them up by WithAbandonedExecutions",
	}
	if b.abandons {
		finding.Severity = planewright.SeverityWarning
	}
	return []planewright.Finding{finding}, nil
}

// Why nobody ends the executions any more.
const (
	withoutPropeller = "without it"
	underAnotherName = "under another name, from which flyteadmin takes no news of them,"
)

// dropsPropeller reports whether an upgrade takes flytepropeller away.
func dropsPropeller(deletes []kube.Ref) bool {
	return slices.ContainsFunc(deletes, func(ref kube.Ref) bool {
		return ref.Kind == "Deployment" && ref.Name == string(FlytePropeller)
	})
}

// clusterFlag says in flytepropeller's command how its cluster is called.
const clusterFlag = "--propeller.cluster-id"

// renamesPropeller reports whether an upgrade has flytepropeller call its
// cluster by another name than it does now.
func (b binding) renamesPropeller(ctx context.Context, plan kube.ReleasePlan) (bool, error) {
	ref := kube.Ref{APIVersion: "apps/v1", Kind: "Deployment", Namespace: b.namespace, Name: string(FlytePropeller)}
	i := slices.IndexFunc(plan.Objects, func(obj *unstructured.Unstructured) bool { return kube.RefOf(obj) == ref })
	if plan.Action != planewright.ActionUpdate || i < 0 {
		return false, nil
	}
	live, err := b.cluster.Objects.Get(ctx, ref)
	if errors.Is(err, planewright.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	now, then := clusterFlagOf(live), clusterFlagOf(plan.Objects[i])
	return now != "" && then != "" && now != then, nil
}

// clusterFlagOf is the flag's value in a Deployment's containers.
func clusterFlagOf(deployment *unstructured.Unstructured) string {
	containers, _, _ := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	for _, item := range containers {
		container, _ := asMap(item)
		command, _, _ := unstructured.NestedStringSlice(container, "command")
		args, _, _ := unstructured.NestedStringSlice(container, "args")
		words := slices.Concat(command, args)
		if i := slices.Index(words, clusterFlag); i >= 0 && i+1 < len(words) {
			return words[i+1]
		}
	}
	return ""
}
