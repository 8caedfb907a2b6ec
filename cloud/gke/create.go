package gke

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/container/apiv1/containerpb"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"google.golang.org/protobuf/proto"
)

// CodeClusterVersion is the code of the finding that a cluster is of another
// version than is said.
const CodeClusterVersion = "gcp-cluster-version"

// ownerLabel is the resource label of clusters that are made here. Labels take
// neither dots nor slashes.
const ownerLabel = "planewright-stack"

// labelValue makes an owner fit into a label.
func labelValue(owner string) string {
	return strings.ToLower(regexp.MustCompile(`[^A-Za-z0-9_-]`).ReplaceAllString(owner, "-"))
}

var (
	clusterNamePattern = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$`)
	versionPattern     = regexp.MustCompile(`^1\.[0-9]{2}(\.[0-9]+(-gke\.[0-9]+)?)?$`)
	labelPattern       = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)
)

// Provision implements [cloud.Clusters]: one step, PREFIX/NAME/cluster, for the
// cluster and its node pools, since GKE makes them in one operation. A cluster
// of ours gets what it lacks: workload identity, on itself and on the node
// pools of the spec (whose nodes GKE replaces for that), and missing pools.
func (c *clusters) Provision(prefix string, spec cloud.ClusterSpec) cloud.ClusterProvision {
	if err := c.validate(spec); err != nil {
		return cloud.ClusterProvision{Err: err}
	}
	id := prefix + "/" + spec.Name() + "/cluster"
	s := clusterStep{project: c.project, id: id, spec: spec, owner: labelValue(stackOf(prefix)), output: planewright.NewOutput[cloud.Cluster](id, "cluster")}
	return cloud.ClusterProvision{Steps: []planewright.Step{s.step()}, Cluster: s.output}
}

func (c *clusters) validate(spec cloud.ClusterSpec) error {
	var p planewright.Problems
	if c.Container == nil {
		p.Add("account", c.Project, "the account has no client for GKE, so it can make no clusters", "give gke.Config a Container, or use gke.Open")
	}
	c.validateProject(&p)
	if !clusterNamePattern.MatchString(spec.Name()) {
		p.Add("name", spec.Name(), "a GKE cluster's name has at most 40 lower-case letters, digits and hyphens, and begins with a letter", "rename it")
	}
	if v := spec.Version(); v != "" && !versionPattern.MatchString(v) {
		p.Add("version", v, "a version is like 1.33 or 1.33.2-gke.100", "leave it out to have GKE choose")
	}
	if len(spec.Subnets()) > 1 {
		p.Add("subnets", strings.Join(spec.Subnets(), ", "), "a GKE cluster is in one subnetwork", "name one")
	}
	if spec.ClusterRole() != "" || spec.NodeRole() != "" {
		p.Add("roles", spec.ClusterRole()+spec.NodeRole(), "roles of clusters and nodes are AWS's", "leave WithRoles out")
	}
	for _, key := range slices.Sorted(maps.Keys(spec.Labels())) {
		value := spec.Labels()[key]
		if key == ownerLabel {
			p.Add("labels["+key+"]", value, "this label says whose a cluster is", "choose another key")
		}
		if !labelPattern.MatchString(key) || strings.ToLower(value) != value || len(value) > 63 {
			p.Add("labels["+key+"]", value, "a label of Google's has lower-case letters, digits, hyphens and underscores, at most 63", "rename it")
		}
	}
	seen := map[string]bool{}
	for i, g := range spec.NodeGroups() {
		path := fmt.Sprintf("nodeGroups[%d]", i)
		if !clusterNamePattern.MatchString(g.Name) || seen[g.Name] {
			p.Add(path+".name", g.Name, "a node pool has a name of its own, of at most 40 lower-case letters, digits and hyphens", "rename it")
		}
		seen[g.Name] = true
		if g = g.WithDefaults(cloud.GCP); g.Min < 0 || g.Min > g.Desired || g.Desired > g.Max || g.Max < 1 {
			p.Add(path, fmt.Sprintf("%d, %d, %d", g.Min, g.Desired, g.Max), "minimum, desired and maximum grow in this order, from 0 and to at least 1", "set all three, or none")
		}
	}
	if len(spec.NodeGroups()) == 0 {
		p.Add("nodeGroups", "", "GKE makes no cluster without a node pool", "leave WithoutNodeGroups out")
	}
	return p.Err("GKE cluster " + spec.Name())
}

// clusterStep sees to a cluster with its node pools.
type clusterStep struct {
	*project
	id, owner string
	spec      cloud.ClusterSpec
	output    planewright.Output[cloud.Cluster]
}

// createTimeout is how long GKE may take; usually it is ten minutes.
const createTimeout = 40 * time.Minute

func (s clusterStep) step() planewright.Step {
	return planewright.Step{
		ID: s.id, Title: "GKE cluster " + s.spec.Name(), Timeout: createTimeout,
		Check: s.check, Apply: s.apply, Await: s.await, Undo: s.undo,
	}
}

func (s clusterStep) check(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
	live, err := s.get(ctx, s.spec.Name())
	if is(err, planewright.ErrNotFound) {
		change := planewright.Change{Action: planewright.ActionCreate, Fingerprint: "absent", Diff: []planewright.FieldDiff{{Path: "name", After: s.spec.Name()}, {Path: "workloadPool", After: s.pool()}}}
		for _, g := range s.spec.NodeGroups() {
			g = g.WithDefaults(cloud.GCP)
			change.Diff = append(change.Diff, planewright.FieldDiff{Path: "nodePools[" + g.Name + "]", After: fmt.Sprintf("%s, %d to %d", g.MachineType, g.Min, g.Max)})
		}
		return change, nil
	}
	if err != nil {
		return planewright.Change{}, err
	}
	cluster, err := s.describe(live)
	if err != nil {
		return planewright.Change{}, err
	}
	change := planewright.Change{Action: planewright.ActionNone, Fingerprint: live.GetId() + " " + string(cluster.Status)}
	lacks := s.lacks(live)
	switch {
	case live.GetResourceLabels()[ownerLabel] != s.owner:
		change.Action, change.Reason = planewright.ActionBlocked, fmt.Sprintf("the cluster %s exists, and its labels do not say that this stack made it; refer to it instead of making it, or choose another name", s.spec.Name())
	case cluster.Status == cloud.ClusterFailed || cluster.Status == cloud.ClusterDegraded || cluster.Status == cloud.ClusterDeleting:
		change.Action, change.Reason = planewright.ActionBlocked, fmt.Sprintf("the cluster %s is %s; see to that, or delete it", s.spec.Name(), cluster.StatusReason)
	case cluster.Status == cloud.ClusterCreating:
		change.Pending = "the cluster is being created"
	case lacks.blocked != "":
		change.Action, change.Reason = planewright.ActionBlocked, lacks.blocked
	default:
		change.Pending, change.Findings = lacks.pending, lacks.findings
		if v := s.spec.Version(); v != "" && !strings.HasPrefix(cluster.Version, v) {
			object := clusterObject(s.spec.Name())
			change.Findings = append(change.Findings, planewright.Finding{Severity: planewright.SeverityWarning, Code: CodeClusterVersion, Object: &object,
				Cause: fmt.Sprintf("the cluster is version %s, not %s; it is not upgraded here", cluster.Version, v), Fix: "upgrade it, or name its version"})
		}
		lacks.describe(&change, s.pool())
		if change.Action == planewright.ActionNone {
			s.output.Set(run, cluster)
		}
	}
	for _, pool := range live.GetNodePools() {
		change.Fingerprint += " " + pool.GetName() + "=" + pool.GetConfig().GetWorkloadMetadataConfig().GetMode().String()
	}
	change.Fingerprint += " " + cluster.Issuer
	return change, nil
}

func (p *project) pool() string { return p.Project + ".svc.id.goog" }

func (s clusterStep) apply(ctx context.Context, run *planewright.Run) error {
	live, err := s.get(ctx, s.spec.Name())
	switch {
	case err == nil && live.GetResourceLabels()[ownerLabel] == s.owner:
		return s.complete(ctx, run, live)
	case err == nil:
		return again{&cloud.CallError{Operation: "container.clusters.create", Object: clusterObject(s.spec.Name()), Message: "somebody else has made it", Kind: planewright.ErrAlreadyExists}}
	case !is(err, planewright.ErrNotFound):
		return err
	}
	return s.create(ctx, run)
}

func (s clusterStep) create(ctx context.Context, run *planewright.Run) error {
	labels := s.spec.Labels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[ownerLabel] = s.owner
	cluster := &containerpb.Cluster{
		Name: s.spec.Name(), InitialClusterVersion: s.spec.Version(), Network: s.spec.Network(), ResourceLabels: labels,
		WorkloadIdentityConfig: &containerpb.WorkloadIdentityConfig{WorkloadPool: s.pool()},
		IpAllocationPolicy:     &containerpb.IPAllocationPolicy{UseIpAliases: true},
	}
	if subnets := s.spec.Subnets(); len(subnets) == 1 {
		cluster.Subnetwork = subnets[0]
	}
	if s.spec.PrivateEndpoint() {
		cluster.NetworkConfig = &containerpb.NetworkConfig{DefaultEnablePrivateNodes: proto.Bool(true)}
		cluster.ControlPlaneEndpointsConfig = &containerpb.ControlPlaneEndpointsConfig{
			IpEndpointsConfig: &containerpb.ControlPlaneEndpointsConfig_IPEndpointsConfig{Enabled: proto.Bool(true), EnablePublicEndpoint: proto.Bool(false)},
		}
	}
	for _, g := range s.spec.NodeGroups() {
		cluster.NodePools = append(cluster.NodePools, nodePool(g.WithDefaults(cloud.GCP)))
	}
	return s.operate(ctx, run, containerpb.Operation_CREATE_CLUSTER, s.clusterName(s.spec.Name()), "container.clusters.create", func() (*containerpb.Operation, error) {
		return s.Container.CreateCluster(ctx, &containerpb.CreateClusterRequest{Parent: s.parent(), Cluster: cluster})
	})
}

func nodePool(g cloud.NodeGroup) *containerpb.NodePool {
	pool := &containerpb.NodePool{
		Name: g.Name, InitialNodeCount: int32(g.Desired), //nolint:gosec // validated
		Autoscaling: &containerpb.NodePoolAutoscaling{Enabled: g.Max > g.Min, MinNodeCount: int32(g.Min), MaxNodeCount: int32(g.Max)}, //nolint:gosec // validated
		Config: &containerpb.NodeConfig{
			MachineType: g.MachineType, Labels: g.Labels, Spot: g.Spot, DiskSizeGb: int32(g.DiskGiB), //nolint:gosec // a disk has less than 2 billion GiB
			// Without it pods get the node's identity instead of their own.
			WorkloadMetadataConfig: &containerpb.WorkloadMetadataConfig{Mode: containerpb.WorkloadMetadataConfig_GKE_METADATA},
		},
	}
	for _, t := range g.Taints {
		effect := map[string]containerpb.NodeTaint_Effect{"NoExecute": containerpb.NodeTaint_NO_EXECUTE, "PreferNoSchedule": containerpb.NodeTaint_PREFER_NO_SCHEDULE}[t.Effect]
		if effect == containerpb.NodeTaint_EFFECT_UNSPECIFIED {
			effect = containerpb.NodeTaint_NO_SCHEDULE
		}
		pool.Config.Taints = append(pool.Config.Taints, &containerpb.NodeTaint{Key: t.Key, Value: t.Value, Effect: effect})
	}
	return pool
}

func (s clusterStep) await(ctx context.Context, run *planewright.Run) error {
	for pause, last := pollFirst, ""; ; pause = min(2*pause, pollMost) {
		live, err := s.get(ctx, s.spec.Name())
		cluster, wrong := s.describe(live)
		lacks := s.lacks(live)
		switch {
		case ambiguous(err) && ctx.Err() == nil:
			cluster.StatusReason = "not answered for: " + err.Error()
		case err != nil:
			return err
		case wrong != nil:
			return wrong
		case lacks.blocked != "":
			return fmt.Errorf("%s: %w", lacks.blocked, planewright.ErrUnavailable)
		case cluster.Status == cloud.ClusterReady && lacks.pending == "":
			s.output.Set(run, cluster)
			return nil
		case cluster.Status == cloud.ClusterReady:
			cluster.StatusReason = lacks.pending
		case cluster.Status != cloud.ClusterCreating:
			return fmt.Errorf("cluster %s is %s%s: %w", s.spec.Name(), cluster.StatusReason, s.because(ctx), planewright.ErrUnavailable)
		}
		if cluster.StatusReason != last {
			run.Progress("cluster %s: %s", s.spec.Name(), cluster.StatusReason)
			last = cluster.StatusReason
		}
		if err := s.wait(ctx, pause); err != nil {
			return fmt.Errorf("cluster %s is %s: %w", s.spec.Name(), last, err)
		}
	}
}

// because is what the operation that made the cluster says of its end, which
// the cluster itself may not.
func (s clusterStep) because(ctx context.Context) string {
	operation, err := s.find(ctx, containerpb.Operation_CREATE_CLUSTER, s.clusterName(s.spec.Name()), time.Time{})
	if err != nil || operation.GetError().GetMessage() == "" {
		return ""
	}
	return "; " + operation.GetError().GetMessage()
}

// undo keeps the cluster: what runs on it is not known here.
func (s clusterStep) undo(ctx context.Context, run *planewright.Run) error {
	_, err := s.get(ctx, s.spec.Name())
	if is(err, planewright.ErrNotFound) {
		return nil
	}
	if err == nil {
		run.Keep(clusterObject(s.spec.Name()), "clusters are not deleted here; when nobody needs it: gcloud container clusters delete "+s.spec.Name()+" --location "+s.Location)
	}
	return err
}
