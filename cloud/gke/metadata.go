package gke

import (
	"context"
	"fmt"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
)

// metadataProbes ask, for each cluster that is there already, whether pods on
// its nodes get their own identity. Clusters that the same stack makes are its
// matter.
func (i *identities) metadataProbes(prefix string, specs []cloud.IdentitySpec) []planewright.Probe {
	var probes []planewright.Probe
	seen := map[string]bool{}
	for _, spec := range specs {
		for _, s := range spec.Subjects {
			if key := clusterKey(s.Cluster); len(s.Cluster.Needs) == 0 && !seen[key] {
				seen[key] = true
				probes = append(probes, metadataProbe(fmt.Sprintf("%s/preflight/node-metadata/%s.%s", prefix, s.Cluster.Name, s.Cluster.Account.Location), s.Cluster))
			}
		}
	}
	return probes
}

func metadataProbe(id string, cluster cloud.ClusterRef) planewright.Probe {
	return planewright.Probe{ID: id, Run: func(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
		groups, err := cluster.Account.Clusters.NodeGroups(ctx, cluster.Name)
		switch {
		case is(err, planewright.ErrNotFound):
			return nil, nil // the step that needs the cluster says so
		case is(err, planewright.ErrDenied):
			object := clusterObject(cluster.Name)
			return []planewright.Finding{{Severity: planewright.SeverityUnprobed, Code: CodeNodeMetadata, Object: &object, Cause: "its node pools may not be looked at: " + err.Error()}}, nil
		case err != nil:
			return nil, err
		}
		var without []string
		for _, g := range groups {
			if !g.WorkloadIdentity {
				without = append(without, g.Name)
			}
		}
		severity := planewright.SeverityWarning
		if len(without) == len(groups) {
			severity = planewright.SeverityError // no pod would get its identity
		}
		var findings []planewright.Finding
		for _, name := range without {
			findings = append(findings, metadataFinding(severity, cluster.Name, cluster.Account.Location, name))
		}
		return findings, nil
	}}
}
