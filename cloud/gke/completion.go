package gke

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cloud.google.com/go/container/apiv1/containerpb"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
)

// CodeNodeMetadata is the code of the finding that pods on a node pool get the
// nodes' identity instead of their own.
const CodeNodeMetadata = "gcp-node-metadata"

// completion is what a cluster of ours lacks.
type completion struct {
	// pool says that workload identity is off.
	pool bool
	// missing are node pools that are to be made, metadata those whose pods
	// get the nodes' identity.
	missing  []cloud.NodeGroup
	metadata []*containerpb.NodePool
	// pending says what is still being made, blocked what stands in the way.
	pending, blocked string
	findings         []planewright.Finding
}

// lacks compares a cluster that is there with the spec. In an Autopilot
// cluster Google sees to nodes and to workload identity.
func (s clusterStep) lacks(live *containerpb.Cluster) completion {
	var c completion
	if live.GetAutopilot().GetEnabled() {
		return c
	}
	switch pool := live.GetWorkloadIdentityConfig().GetWorkloadPool(); pool {
	case s.pool():
	case "":
		c.pool = true
	default:
		c.blocked = fmt.Sprintf("the cluster %s has the workload pool %s, not %s, and it cannot be changed", s.spec.Name(), pool, s.pool())
		return c
	}
	for _, g := range s.spec.NodeGroups() {
		if !slices.ContainsFunc(live.GetNodePools(), func(p *containerpb.NodePool) bool { return p.GetName() == g.Name }) {
			c.missing = append(c.missing, g.WithDefaults(cloud.GCP))
		}
	}
	for _, p := range live.GetNodePools() {
		named := slices.ContainsFunc(s.spec.NodeGroups(), func(g cloud.NodeGroup) bool { return g.Name == p.GetName() })
		switch state := poolStatus(p.GetStatus()); {
		case !named && !givesIdentity(p):
			c.findings = append(c.findings, metadataFinding(planewright.SeverityWarning, s.spec.Name(), s.Location, p.GetName()))
		case !named:
		case state == cloud.ClusterFailed || state == cloud.ClusterDegraded || state == cloud.ClusterDeleting:
			c.blocked = fmt.Sprintf("the node pool %s of cluster %s is %s; see to that, or delete it", p.GetName(), s.spec.Name(), p.GetStatus())
		case state == cloud.ClusterCreating:
			c.pending = "node pool " + p.GetName() + " is being created"
		case !givesIdentity(p):
			c.metadata = append(c.metadata, p)
		}
	}
	return c
}

// givesIdentity reports whether pods on a node pool get their own identity.
func givesIdentity(p *containerpb.NodePool) bool {
	return p.GetConfig().GetWorkloadMetadataConfig().GetMode() == containerpb.WorkloadMetadataConfig_GKE_METADATA
}

func metadataFinding(severity planewright.Severity, cluster, location, pool string) planewright.Finding {
	object := planewright.Object{APIVersion: "container.googleapis.com", Kind: "NodePool", Namespace: cluster, Name: pool}
	return planewright.Finding{Severity: severity, Code: CodeNodeMetadata, Object: &object,
		Cause: "pods on these nodes get the nodes' identity instead of their own",
		Fix:   fmt.Sprintf("gcloud container node-pools update %s --cluster %s --location %s --workload-metadata GKE_METADATA, which replaces the nodes", pool, cluster, location)}
}

// describe adds to a change what is to be done.
func (c completion) describe(change *planewright.Change, pool string) {
	add := func(path, before, after string) {
		change.Action = planewright.ActionUpdate
		change.Diff = append(change.Diff, planewright.FieldDiff{Path: path, Before: before, After: after})
	}
	if c.pool {
		add("workloadPool", "", pool)
	}
	for _, g := range c.missing {
		add("nodePools["+g.Name+"]", "", fmt.Sprintf("%s, %d to %d", g.MachineType, g.Min, g.Max))
	}
	var replaced []string
	for _, p := range c.metadata {
		add("nodePools["+p.GetName()+"].workloadMetadata", p.GetConfig().GetWorkloadMetadataConfig().GetMode().String(), containerpb.WorkloadMetadataConfig_GKE_METADATA.String())
		replaced = append(replaced, p.GetName())
	}
	if len(replaced) > 0 {
		change.Reason = "GKE replaces the nodes of " + strings.Join(replaced, ", ") + " one after the other"
	}
}

// complete gives a cluster of ours what it lacks: workload identity first, which
// the node pools' metadata server needs.
func (s clusterStep) complete(ctx context.Context, run *planewright.Run, live *containerpb.Cluster) error {
	c := s.lacks(live)
	name := s.clusterName(s.spec.Name())
	if c.pool {
		err := s.operate(ctx, run, repeatable, name, "container.clusters.update", s.ifStill(ctx, func(c completion) bool { return c.pool }, func() (*containerpb.Operation, error) {
			return s.Container.UpdateCluster(ctx, &containerpb.UpdateClusterRequest{Name: name,
				Update: &containerpb.ClusterUpdate{DesiredWorkloadIdentityConfig: &containerpb.WorkloadIdentityConfig{WorkloadPool: s.pool()}}})
		}))
		if err != nil {
			return err
		}
	}
	for _, g := range c.missing {
		still := func(c completion) bool {
			return slices.ContainsFunc(c.missing, func(one cloud.NodeGroup) bool { return one.Name == g.Name })
		}
		err := s.operate(ctx, run, containerpb.Operation_CREATE_NODE_POOL, name+"/nodePools/"+g.Name, "container.nodePools.create", s.ifStill(ctx, still, func() (*containerpb.Operation, error) {
			return s.Container.CreateNodePool(ctx, &containerpb.CreateNodePoolRequest{Parent: name, NodePool: nodePool(g)})
		}))
		if err != nil {
			return err
		}
	}
	for _, p := range c.metadata {
		at := name + "/nodePools/" + p.GetName()
		still := func(c completion) bool {
			return slices.ContainsFunc(c.metadata, func(one *containerpb.NodePool) bool { return one.GetName() == p.GetName() })
		}
		err := s.operate(ctx, run, repeatable, at, "container.nodePools.update", s.ifStill(ctx, still, func() (*containerpb.Operation, error) {
			return s.Container.UpdateNodePool(ctx, &containerpb.UpdateNodePoolRequest{Name: at,
				WorkloadMetadataConfig: &containerpb.WorkloadMetadataConfig{Mode: containerpb.WorkloadMetadataConfig_GKE_METADATA}})
		}))
		if err != nil {
			return err
		}
	}
	return nil
}

// ifStill begins an operation if the cluster still lacks what it is for: the
// operation that GKE was busy with may have been an earlier one of the kind.
func (s clusterStep) ifStill(ctx context.Context, lacks func(completion) bool, begin func() (*containerpb.Operation, error)) func() (*containerpb.Operation, error) {
	return func() (*containerpb.Operation, error) {
		if live, err := s.get(ctx, s.spec.Name()); err == nil && !lacks(s.lacks(live)) {
			return &containerpb.Operation{Status: containerpb.Operation_DONE}, nil
		}
		return begin()
	}
}
