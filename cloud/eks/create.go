package eks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	policy "github.com/planewright/planewright/cloud/iam"
)

var (
	clusterName = regexp.MustCompile(`^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$`)
	clusterVer  = regexp.MustCompile(`^1\.[0-9]{2}$`)
	subnetID    = regexp.MustCompile(`^subnet-[0-9a-f]+$`)
)

// Provision implements [cloud.Clusters]. Its steps are, for a cluster called
// dp-3 with the default node group:
//
//	PREFIX/dp-3/cluster-role/role        the control plane's role, unless one is given
//	PREFIX/dp-3/node-role/role           the nodes' role, unless one is given
//	PREFIX/dp-3/cluster                  the cluster
//	PREFIX/dp-3/node-groups/default      the node group
//	PREFIX/dp-3/access/deployer          for each of WithClusterAdministrators
func (c *clusters) Provision(prefix string, spec cloud.ClusterSpec) cloud.ClusterProvision {
	if err := c.validate(spec); err != nil {
		return cloud.ClusterProvision{Err: err}
	}
	base := prefix + "/" + idPart(spec.Name())
	owner := stackOf(prefix)
	cluster := clusterStep{account: c.account, id: base + "/cluster", spec: spec, owner: owner, role: spec.ClusterRole(),
		output: planewright.NewOutput[cloud.Cluster](base+"/cluster", "cluster")}
	var made cloud.ClusterProvision
	if cluster.role == "" {
		role := c.serviceRole(base+"/cluster-role/role", spec.Name()+"-cluster", owner, "eks", "AmazonEKSClusterPolicy")
		cluster.role, cluster.needs = role.arn(), []string{role.id}
		made.Steps = append(made.Steps, role.step())
	}
	nodeRole, nodeNeeds := spec.NodeRole(), []string{cluster.id}
	if nodeRole == "" && len(spec.NodeGroups()) > 0 {
		role := c.serviceRole(base+"/node-role/role", spec.Name()+"-nodes", owner, "ec2",
			"AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryReadOnly")
		nodeRole, nodeNeeds = role.arn(), append(nodeNeeds, role.id)
		made.Steps = append(made.Steps, role.step())
	}
	made.Steps = append(made.Steps, cluster.step())
	for _, g := range spec.NodeGroups() {
		group := nodeGroupStep{account: c.account, id: base + "/node-groups/" + idPart(g.Name), cluster: spec, group: g.WithDefaults(cloud.AWS), role: nodeRole, owner: owner, needs: nodeNeeds}
		made.Steps = append(made.Steps, group.step())
	}
	access, err := c.administrators(prefix, spec, cluster.id)
	if err != nil {
		return cloud.ClusterProvision{Err: err}
	}
	made.Steps = append(made.Steps, access...)
	made.Cluster = cluster.output
	return made
}

// serviceRole is a role for a service of AWS, with policies of AWS's own.
func (c *clusters) serviceRole(id, name, owner, service string, policies ...string) roleStep {
	suffix := ".amazonaws.com"
	if service == "ec2" && c.Partition == policy.China {
		suffix = ".amazonaws.com.cn" // EC2's principal has the suffix of its partition, EKS's has not
	}
	role := roleStep{account: c.account, id: id, name: name, owner: owner,
		trust: func(*planewright.Run) (policy.TrustPolicy, error) {
			return policy.NewTrustPolicy().WithService(service + suffix), nil
		}}
	for _, p := range policies {
		role.attached = append(role.attached, policy.PolicyARN(c.Partition, "aws", "/", p))
	}
	return role
}

func (c *clusters) validate(spec cloud.ClusterSpec) error {
	var p planewright.Problems
	if c.EKS == nil || c.IAM == nil {
		p.Add("account", c.AccountID, "the account lacks a client for EKS or IAM, so it can make no clusters", "give eks.Config both, or use eks.Open")
	}
	if !clusterName.MatchString(spec.Name()) {
		p.Add("name", spec.Name(), "an EKS cluster's name is at most 100 letters, digits, hyphens and underscores, and begins with a letter or digit", "rename it")
	}
	if v := spec.Version(); v != "" && !clusterVer.MatchString(v) {
		p.Add("version", v, "a version is like 1.33", "leave it out to have EKS choose")
	}
	if len(spec.Subnets()) < 2 {
		p.Add("subnets", strings.Join(spec.Subnets(), ", "), "EKS needs at least two subnets in different availability zones", "use WithSubnets with private ones")
	}
	for i, s := range spec.Subnets() {
		if !subnetID.MatchString(s) {
			p.Add(fmt.Sprintf("subnets[%d]", i), s, "a subnet is named by its id", "use something like subnet-0a1b2c3d4e5f60718")
		}
	}
	if spec.Network() != "" {
		p.Add("network", spec.Network(), "on EKS the subnets determine the network", "leave WithNetwork out")
	}
	for _, role := range []struct{ path, arn string }{{"clusterRole", spec.ClusterRole()}, {"nodeRole", spec.NodeRole()}} {
		switch a, err := policy.ParseARN(role.arn); {
		case role.arn == "":
		case err != nil || a.Service != "iam" || !strings.HasPrefix(a.Resource, "role/") || a.AccountID != c.AccountID:
			p.Add(role.path, role.arn, "a role is named by its ARN, and is in the cluster's account", "use arn:"+string(c.Partition)+":iam::"+c.AccountID+":role/NAME")
		case a.Partition != c.Partition:
			p.Add(role.path, role.arn, fmt.Sprintf("the role is in partition %s, the cluster in %s", a.Partition, c.Partition), "use a role of the same partition")
		}
	}
	c.validateMade(&p)
	validateTags(&p, "labels", spec.Labels())
	seen := map[string]bool{}
	for i, g := range spec.NodeGroups() {
		path := fmt.Sprintf("nodeGroups[%d]", i)
		if !clusterName.MatchString(g.Name) || len(g.Name) > 63 || seen[g.Name] {
			p.Add(path+".name", g.Name, "a node group has a name of its own, of at most 63 letters, digits, hyphens and underscores", "rename it")
		}
		seen[g.Name] = true
		if g = g.WithDefaults(cloud.AWS); g.Min < 0 || g.Min > g.Desired || g.Desired > g.Max || g.Max < 1 {
			p.Add(path, fmt.Sprintf("%d, %d, %d", g.Min, g.Desired, g.Max), "minimum, desired and maximum grow in this order, from 0 and to at least 1", "set all three, or none")
		}
	}
	return p.Err("EKS cluster " + spec.Name())
}

// clusterStep sees to a cluster.
type clusterStep struct {
	*account
	id, owner, role string
	needs           []string
	spec            cloud.ClusterSpec
	output          planewright.Output[cloud.Cluster]
}

// createTimeout is how long EKS may take; usually it is ten minutes.
const createTimeout = 40 * time.Minute

func (s clusterStep) object() planewright.Object { return clusterObject(s.spec.Name()) }

func (s clusterStep) step() planewright.Step {
	return planewright.Step{
		ID: s.id, Title: "EKS cluster " + s.spec.Name(), Needs: s.needs, Timeout: createTimeout,
		Check: s.check, Apply: s.apply, Await: s.await, Undo: s.undo,
	}
}

func (s clusterStep) live(ctx context.Context) (*types.Cluster, cloud.Cluster, error) {
	found, err := s.EKS.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(s.spec.Name())})
	if err = failure("eks:DescribeCluster", s.object(), err); err != nil {
		return nil, cloud.Cluster{}, err
	}
	cluster, err := describe(found.Cluster)
	return found.Cluster, cluster, err
}

func (s clusterStep) check(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
	raw, live, err := s.live(ctx)
	if is(err, planewright.ErrNotFound) {
		return planewright.Change{Action: planewright.ActionCreate, Fingerprint: "absent", Diff: []planewright.FieldDiff{
			{Path: "name", After: s.spec.Name()}, {Path: "roleArn", After: s.role}, {Path: "subnetIds", After: strings.Join(s.spec.Subnets(), ", ")},
		}}, nil
	}
	if err != nil {
		return planewright.Change{}, err
	}
	change := planewright.Change{Fingerprint: live.ID + " " + string(live.Status)}
	if blocked := s.blocked(raw, live); blocked != "" {
		change.Action, change.Reason = planewright.ActionBlocked, blocked
		return change, nil
	}
	if live.Status == cloud.ClusterCreating {
		change.Pending = "the cluster is being created"
		return change, nil
	}
	if v := s.spec.Version(); v != "" && v != live.Version {
		object := s.object()
		change.Findings = append(change.Findings, planewright.Finding{Severity: planewright.SeverityWarning, Code: CodeClusterVersion, Object: &object,
			Cause: fmt.Sprintf("the cluster is version %s, not %s; it is not upgraded here", live.Version, v), Fix: "upgrade it, or name its version"})
	}
	s.output.Set(run, live)
	return change, nil
}

// blocked says why a cluster that is there is not taken for the one that is wanted.
func (s clusterStep) blocked(raw *types.Cluster, live cloud.Cluster) string {
	switch {
	case raw.Tags[OwnerTag] != s.owner:
		return fmt.Sprintf("the cluster %s exists, and its tags do not say that this stack made it; refer to it instead of making it, or choose another name", live.Name)
	case live.Status == cloud.ClusterFailed || live.Status == cloud.ClusterDegraded:
		return fmt.Sprintf("the cluster %s is %s; see to that, or delete it", live.Name, live.StatusReason)
	case live.Status == cloud.ClusterDeleting:
		return fmt.Sprintf("the cluster %s is being deleted; wait until it is gone", live.Name)
	case aws.ToString(raw.RoleArn) != s.role:
		return fmt.Sprintf("the cluster %s has the role %s, which cannot be changed to %s", live.Name, aws.ToString(raw.RoleArn), s.role)
	}
	if vpc := raw.ResourcesVpcConfig; vpc != nil {
		have, want := slices.Sorted(slices.Values(vpc.SubnetIds)), slices.Sorted(slices.Values(s.spec.Subnets()))
		if !slices.Equal(have, want) {
			return fmt.Sprintf("the cluster %s is in the subnets %s, not in %s", live.Name, strings.Join(have, ", "), strings.Join(want, ", "))
		}
	}
	return ""
}

// token makes a request the same one however often it is made: should the
// program die before it hears the answer, the next one hears it.
func token(parts ...string) *string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return aws.String(hex.EncodeToString(sum[:16]))
}

func (s clusterStep) apply(ctx context.Context, run *planewright.Run) error {
	tags := s.ownTags(s.owner)
	for key, value := range s.spec.Labels() {
		tags[key] = value
	}
	input := &eks.CreateClusterInput{
		Name: aws.String(s.spec.Name()), RoleArn: aws.String(s.role), Tags: tags,
		ResourcesVpcConfig: &types.VpcConfigRequest{SubnetIds: s.spec.Subnets(), EndpointPrivateAccess: aws.Bool(true), EndpointPublicAccess: aws.Bool(!s.spec.PrivateEndpoint())},
		// The SDK's default leaves access entries out of use.
		AccessConfig: &types.CreateAccessConfigRequest{AuthenticationMode: types.AuthenticationModeApiAndConfigMap, BootstrapClusterCreatorAdminPermissions: aws.Bool(true)},
		// The same request, and no other, has the same token.
		ClientRequestToken: token(s.AccountID, s.Region, s.spec.Name(), s.role, strings.Join(s.spec.Subnets(), ","), s.spec.Version(), fmt.Sprint(s.spec.PrivateEndpoint(), s.spec.DeletionProtection(), tags)),
	}
	if v := s.spec.Version(); v != "" {
		input.Version = aws.String(v)
	}
	if s.spec.DeletionProtection() {
		input.DeletionProtection = aws.Bool(true)
	}
	err := s.untilRoleIsSeen(ctx, run, func() error {
		_, err := s.EKS.CreateCluster(ctx, input)
		return failure("eks:CreateCluster", s.object(), err)
	})
	if is(err, planewright.ErrAlreadyExists) {
		return again{err}
	}
	return err
}

// untilRoleIsSeen tries again while EKS cannot assume a role that was made
// moments ago.
func (a *account) untilRoleIsSeen(ctx context.Context, run *planewright.Run, create func() error) error {
	ctx, cancel := context.WithTimeout(ctx, 2*settleWithin)
	defer cancel()
	pause := settleFirst
	for {
		err := create()
		code := codeOf(err)
		if code != "InvalidParameter" && code != "InvalidRequest" || !strings.Contains(strings.ToLower(err.Error()), "role") {
			return err
		}
		run.Progress("EKS does not know the role yet")
		if a.wait(ctx, pause) != nil {
			return err
		}
		pause = min(2*pause, settleMost)
	}
}

// The pace of looking at what takes minutes.
const (
	pollFirst = 5 * time.Second
	pollMost  = 30 * time.Second
	// unseenMost bounds how long something that was made may not be seen.
	unseenMost = 2 * time.Minute
)

func (s clusterStep) await(ctx context.Context, run *planewright.Run) error {
	pause, last, unseen := pollFirst, "", time.Duration(0)
	for {
		_, live, err := s.live(ctx)
		switch {
		case is(err, planewright.ErrNotFound) && unseen < unseenMost: // not everywhere yet
			live.StatusReason, unseen = "not seen yet", unseen+pause
		case transient(err):
			live.StatusReason = "not answered for: " + err.Error()
		case err != nil:
			return err
		case live.Status == cloud.ClusterReady && live.Issuer != "" && live.Endpoint != "":
			s.output.Set(run, live)
			return nil
		case live.Status == cloud.ClusterFailed, live.Status == cloud.ClusterDegraded, live.Status == cloud.ClusterDeleting:
			return fmt.Errorf("cluster %s is %s: %w", s.spec.Name(), live.StatusReason, errFailed)
		}
		if live.StatusReason != last {
			run.Progress("cluster %s: %s", s.spec.Name(), live.StatusReason)
			last = live.StatusReason
		}
		if err := s.wait(ctx, pause); err != nil {
			return fmt.Errorf("cluster %s is %s: %w", s.spec.Name(), last, err)
		}
		pause = min(2*pause, pollMost)
	}
}

// undo keeps the cluster: what runs on it is not known here.
func (s clusterStep) undo(ctx context.Context, run *planewright.Run) error {
	_, live, err := s.live(ctx)
	if is(err, planewright.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	run.Keep(s.object(), "clusters are not deleted here; when nobody needs it: aws eks delete-cluster --region "+s.Region+" --name "+live.Name)
	return nil
}

// errFailed says that EKS has given up on something; trying again does not help.
var errFailed = fmt.Errorf("EKS has given up on it: %w", planewright.ErrUnavailable)
