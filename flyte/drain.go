package flyte

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
)

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

// drainFinding refuses to take flytepropeller away from executions that it
// has not ended: nobody would end them, and their finalizers hold their namespaces.
func drainFinding(ctx context.Context, cluster kube.Cluster) ([]planewright.Finding, error) {
	n, err := runningWorkflows(ctx, cluster)
	if errors.Is(err, planewright.ErrDenied) {
		return []planewright.Finding{{Severity: planewright.SeverityUnprobed, Code: CodeRunning,
			Cause: fmt.Sprintf("whether workflows run in cluster %s may not be asked: %v", cluster.Name, err)}}, nil
	}
	if err != nil || n == 0 {
		return nil, err
	}
	return []planewright.Finding{{Severity: planewright.SeverityError, Code: CodeRunning,
		Cause: fmt.Sprintf("cluster %s has %s that flytepropeller has not ended, and without it nobody does", cluster.Name, counted(n, "execution")),
		Fix:   "let no new ones start (WithoutNewExecutions of a data plane), and wait for these or abort them",
	}}, nil
}

// dropsPropeller reports whether an upgrade takes flytepropeller away.
func dropsPropeller(deletes []kube.Ref) bool {
	return slices.ContainsFunc(deletes, func(ref kube.Ref) bool {
		return ref.Kind == "Deployment" && ref.Name == string(FlytePropeller)
	})
}
