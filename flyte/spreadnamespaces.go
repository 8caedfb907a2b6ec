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

// verifyNamespaces looks for projects' namespaces on every cluster that runs
// workflows. syncresources makes them, and does not try a cluster again that
// failed once as long as another one did not.
func (f fleet) verifyNamespaces(ctx context.Context) ([]planewright.Finding, error) {
	var wanted []string
	for _, left := range f.projectNamespaces() {
		wanted = append(wanted, left.ref.Name)
	}
	missing := map[string][]string{}
	anywhere := false
	for _, e := range f.executors() {
		cluster, ok := f.env.cluster(e.cluster)
		if !ok || !e.enabled {
			continue
		}
		list, err := cluster.Objects.List(ctx, kube.ListRequest{APIVersion: "v1", Kind: "Namespace"})
		if errors.Is(err, planewright.ErrDenied) {
			return []planewright.Finding{{Severity: planewright.SeverityUnprobed, Code: CodeNamespaces,
				Cause: fmt.Sprintf("the namespaces of cluster %s may not be listed: %v", e.cluster, err)}}, nil
		}
		if err != nil {
			return nil, err
		}
		for _, name := range wanted {
			if slices.ContainsFunc(list, func(ns *unstructured.Unstructured) bool { return ns.GetName() == name }) {
				anywhere = true
			} else {
				missing[e.cluster] = append(missing[e.cluster], name)
			}
		}
	}
	if !anywhere {
		return []planewright.Finding{{Severity: planewright.SeverityUnprobed, Code: CodeNamespaces,
			Cause: "no cluster has projects' namespaces yet; Flyte makes them within minutes once it runs"}}, nil
	}
	var findings []planewright.Finding
	for _, e := range f.executors() {
		if names := missing[e.cluster]; len(names) > 0 {
			findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodeNamespaces,
				Cause: fmt.Sprintf("cluster %s lacks namespaces that others have, so their executions fail there: %s", e.cluster, joinAnd(names)),
				Fix: fmt.Sprintf("if they were made more than five minutes ago, syncresources passed the cluster over: restart it by kubectl -n %s rollout restart deployment/syncresources in cluster %s",
					f.namespace, f.control.cluster.Name)})
		}
	}
	return findings, nil
}
