package eksfake

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awseks "github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/planewright/planewright/cloud/eks"
	policies "github.com/planewright/planewright/cloud/iam"
)

// EKS returns the account's EKS.
func (f *Fake) EKS() eks.EKS { return &eksFake{f} }

// eksFake implements eks.EKS.
type eksFake struct{ *Fake }

// cluster is an EKS cluster.
type cluster struct {
	name, roleARN, version, token string
	status                        types.ClusterStatus
	ready                         time.Time // when it becomes active
	issues                        []types.ClusterIssue
	subnets                       []string
	private                       bool
	mode                          types.AuthenticationMode
	tags                          map[string]string
	groups                        map[string]*nodeGroup
	associations                  map[string]*association
	addons                        map[string]bool
	entries                       map[string]*accessEntry // by their principal's ARN
}

type nodeGroup struct {
	input  *awseks.CreateNodegroupInput
	status types.NodegroupStatus
	ready  time.Time
	issues []types.Issue
}

type association struct {
	id, namespace, account, role string
	tags                         map[string]string
}

// certificateAuthority is what the fake's clusters show as theirs.
const certificateAuthority = "-----BEGIN CERTIFICATE-----\nZmFrZQ==\n-----END CERTIFICATE-----\n"

// Issuer is the OIDC issuer of a cluster of the account.
func (f *Fake) Issuer(cluster string) string {
	sum := sha256.Sum256([]byte(f.account + f.region + cluster))
	suffix := ""
	if f.partition == policies.China {
		suffix = ".cn"
	}
	return fmt.Sprintf("https://oidc.eks.%s.amazonaws.com%s/id/%s", f.region, suffix, strings.ToUpper(hex.EncodeToString(sum[:16])))
}

// ClusterARN is the ARN of a cluster of the account.
func (f *Fake) ClusterARN(cluster string) string {
	return policies.ARN{Partition: f.partition, Service: "eks", Region: f.region, AccountID: f.account, Resource: "cluster/" + cluster}.String()
}

// AddCluster adds an active cluster as somebody else would have made it.
func (f *Fake) AddCluster(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clusters[name] = &cluster{name: name, version: "1.33", status: types.ClusterStatusActive, mode: types.AuthenticationModeApiAndConfigMap,
		subnets: []string{"subnet-0a", "subnet-0b"}, roleARN: policies.RoleARN(f.partition, f.account, "/", "eks-"+name),
		groups: map[string]*nodeGroup{}, associations: map[string]*association{}, addons: map[string]bool{}, entries: map[string]*accessEntry{}}
}

// ClusterState is what tests set of a cluster.
type ClusterState struct {
	Status types.ClusterStatus
	Issues []types.ClusterIssue
	// Private says that its API is reached from inside the network only.
	Private bool
	// PodIdentityAgent says that it has the add-on.
	PodIdentityAgent bool
}

// SetCluster sets what becomes of a cluster, also of one being created.
func (f *Fake) SetCluster(name string, state ClusterState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.clusters[name]
	c.private, c.addons["eks-pod-identity-agent"] = state.Private, state.PodIdentityAgent
	if state.Status != "" {
		c.status, c.issues, c.ready = state.Status, state.Issues, time.Time{}
	}
}

// SetNodeGroup sets what becomes of a node group.
func (f *Fake) SetNodeGroup(cluster, group string, status types.NodegroupStatus, issues ...types.Issue) {
	f.mu.Lock()
	defer f.mu.Unlock()
	g := f.clusters[cluster].groups[group]
	g.status, g.issues, g.ready = status, issues, time.Time{}
}

// DeleteCluster takes a cluster away, with what is in it.
func (f *Fake) DeleteCluster(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.clusters, name)
}

func notFound(format string, args ...any) error {
	return apiError{http.StatusNotFound, &types.ResourceNotFoundException{Message: aws.String(fmt.Sprintf(format, args...))}}
}

func inUse(format string, args ...any) error {
	return apiError{http.StatusConflict, &types.ResourceInUseException{Message: aws.String(fmt.Sprintf(format, args...))}}
}

func badParameter(format string, args ...any) error {
	return apiError{http.StatusBadRequest, &types.InvalidParameterException{Message: aws.String(fmt.Sprintf(format, args...))}}
}

func badRequest(format string, args ...any) error {
	return apiError{http.StatusBadRequest, &types.InvalidRequestException{Message: aws.String(fmt.Sprintf(format, args...))}}
}

// find returns a cluster; the fake is locked.
func (f *Fake) find(name string) (*cluster, error) {
	c := f.clusters[name]
	if c == nil {
		return nil, notFound("No cluster found for name: %s.", name)
	}
	if c.status == types.ClusterStatusCreating && !c.ready.IsZero() && !time.Now().Before(c.ready) {
		c.status = types.ClusterStatusActive
	}
	return c, nil
}

// DescribeCluster implements eks.EKS. A cluster that is being created has no
// endpoint, authority and issuer yet.
func (f *eksFake) DescribeCluster(ctx context.Context, in *awseks.DescribeClusterInput, _ ...func(*awseks.Options)) (*awseks.DescribeClusterOutput, error) {
	name := aws.ToString(in.Name)
	return do(ctx, f.Fake, call{"eks:DescribeCluster", name, false}, func() (*awseks.DescribeClusterOutput, error) {
		c, err := f.find(name)
		if err != nil {
			return nil, err
		}
		return &awseks.DescribeClusterOutput{Cluster: f.showCluster(c)}, nil
	})
}

func (f *Fake) showCluster(c *cluster) *types.Cluster {
	shown := &types.Cluster{
		Name: aws.String(c.name), Arn: aws.String(f.ClusterARN(c.name)), Status: c.status, RoleArn: aws.String(c.roleARN), Tags: maps.Clone(c.tags),
		AccessConfig:       &types.AccessConfigResponse{AuthenticationMode: c.mode},
		ResourcesVpcConfig: &types.VpcConfigResponse{SubnetIds: slices.Clone(c.subnets), EndpointPublicAccess: !c.private, EndpointPrivateAccess: true, VpcId: aws.String("vpc-0a")},
	}
	if !c.private {
		shown.ResourcesVpcConfig.PublicAccessCidrs = []string{"0.0.0.0/0"}
	}
	if len(c.issues) > 0 {
		shown.Health = &types.ClusterHealth{Issues: slices.Clone(c.issues)}
	}
	if c.status == types.ClusterStatusActive || c.status == types.ClusterStatusUpdating {
		shown.Version = aws.String(c.version)
		shown.Endpoint = aws.String(fmt.Sprintf("https://%s.gr7.%s.eks.amazonaws.com", strings.ToUpper(c.name), f.region))
		shown.CertificateAuthority = &types.Certificate{Data: aws.String(base64.StdEncoding.EncodeToString([]byte(certificateAuthority)))}
		shown.Identity = &types.Identity{Oidc: &types.OIDC{Issuer: aws.String(f.Issuer(c.name))}}
	}
	return shown
}

// CreateCluster implements eks.EKS. A request with the token of one that was
// made is the same one.
func (f *eksFake) CreateCluster(ctx context.Context, in *awseks.CreateClusterInput, _ ...func(*awseks.Options)) (*awseks.CreateClusterOutput, error) {
	name := aws.ToString(in.Name)
	return do(ctx, f.Fake, call{"eks:CreateCluster", name, true}, func() (*awseks.CreateClusterOutput, error) {
		if have := f.clusters[name]; have != nil {
			if have.token != "" && have.token == aws.ToString(in.ClientRequestToken) {
				return &awseks.CreateClusterOutput{Cluster: f.showCluster(have)}, nil
			}
			return nil, inUse("Cluster already exists with name: %s", name)
		}
		switch {
		case len(in.ResourcesVpcConfig.SubnetIds) < 2:
			return nil, badParameter("Subnets specified must be in at least two different AZs")
		case !f.roleIs(aws.ToString(in.RoleArn)):
			return nil, badParameter("The role with name %s cannot be found.", aws.ToString(in.RoleArn))
		}
		c := &cluster{name: name, roleARN: aws.ToString(in.RoleArn), version: "1.33", status: types.ClusterStatusCreating, ready: time.Now().Add(f.pace),
			subnets: slices.Clone(in.ResourcesVpcConfig.SubnetIds), private: !aws.ToBool(in.ResourcesVpcConfig.EndpointPublicAccess),
			mode: types.AuthenticationModeConfigMap, tags: maps.Clone(in.Tags), token: aws.ToString(in.ClientRequestToken),
			groups: map[string]*nodeGroup{}, associations: map[string]*association{}, addons: map[string]bool{}, entries: map[string]*accessEntry{}}
		if in.Version != nil {
			c.version = *in.Version
		}
		if in.AccessConfig != nil && in.AccessConfig.AuthenticationMode != "" {
			c.mode = in.AccessConfig.AuthenticationMode
		}
		f.clusters[name] = c
		if c.mode != types.AuthenticationModeConfigMap && in.AccessConfig != nil && aws.ToBool(in.AccessConfig.BootstrapClusterCreatorAdminPermissions) {
			c.entries[f.caller()] = &accessEntry{created: time.Now(), policies: map[string]*types.AccessScope{f.adminPolicy(): {Type: types.AccessScopeTypeCluster}}}
		}
		return &awseks.CreateClusterOutput{Cluster: f.showCluster(c)}, nil
	})
}

// roleIs reports whether a role of the account exists.
func (f *Fake) roleIs(arn string) bool {
	return current(f.roles, strings.ToLower(arn[strings.LastIndex(arn, "/")+1:])) != nil
}

// AuthenticationMode returns how a cluster authenticates.
func (f *Fake) AuthenticationMode(cluster string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return string(f.clusters[cluster].mode)
}

// ListNodegroups implements eks.EKS.
func (f *eksFake) ListNodegroups(ctx context.Context, in *awseks.ListNodegroupsInput, _ ...func(*awseks.Options)) (*awseks.ListNodegroupsOutput, error) {
	name := aws.ToString(in.ClusterName)
	return do(ctx, f.Fake, call{"eks:ListNodegroups", name, false}, func() (*awseks.ListNodegroupsOutput, error) {
		c, err := f.find(name)
		if err != nil {
			return nil, err
		}
		return &awseks.ListNodegroupsOutput{Nodegroups: slices.Sorted(maps.Keys(c.groups))}, nil
	})
}

// DescribeNodegroup implements eks.EKS.
func (f *eksFake) DescribeNodegroup(ctx context.Context, in *awseks.DescribeNodegroupInput, _ ...func(*awseks.Options)) (*awseks.DescribeNodegroupOutput, error) {
	name, group := aws.ToString(in.ClusterName), aws.ToString(in.NodegroupName)
	return do(ctx, f.Fake, call{"eks:DescribeNodegroup", name + "/" + group, false}, func() (*awseks.DescribeNodegroupOutput, error) {
		c, err := f.find(name)
		if err != nil {
			return nil, err
		}
		g := c.groups[group]
		if g == nil {
			return nil, notFound("No node group found for name: %s.", group)
		}
		if g.status == types.NodegroupStatusCreating && !g.ready.IsZero() && !time.Now().Before(g.ready) {
			g.status = types.NodegroupStatusActive
		}
		shown := &types.Nodegroup{NodegroupName: aws.String(group), ClusterName: aws.String(name), Status: g.status, InstanceTypes: g.input.InstanceTypes, ScalingConfig: g.input.ScalingConfig,
			NodegroupArn: aws.String(f.ClusterARN(name) + "/" + group), NodeRole: g.input.NodeRole, Tags: maps.Clone(g.input.Tags), Labels: g.input.Labels, CapacityType: g.input.CapacityType}
		if len(g.issues) > 0 {
			shown.Health = &types.NodegroupHealth{Issues: slices.Clone(g.issues)}
		}
		return &awseks.DescribeNodegroupOutput{Nodegroup: shown}, nil
	})
}

// CreateNodegroup implements eks.EKS. The cluster has to be active.
func (f *eksFake) CreateNodegroup(ctx context.Context, in *awseks.CreateNodegroupInput, _ ...func(*awseks.Options)) (*awseks.CreateNodegroupOutput, error) {
	name, group := aws.ToString(in.ClusterName), aws.ToString(in.NodegroupName)
	return do(ctx, f.Fake, call{"eks:CreateNodegroup", name + "/" + group, true}, func() (*awseks.CreateNodegroupOutput, error) {
		c, err := f.find(name)
		if err != nil {
			return nil, err
		}
		switch {
		case c.status != types.ClusterStatusActive:
			return nil, badRequest("Cluster '%s' is not in ACTIVE status", name)
		case c.groups[group] != nil && aws.ToString(c.groups[group].input.ClientRequestToken) != aws.ToString(in.ClientRequestToken):
			return nil, inUse("NodeGroup already exists with name %s and cluster name %s", group, name)
		case c.groups[group] != nil:
			return &awseks.CreateNodegroupOutput{}, nil
		case !f.roleIs(aws.ToString(in.NodeRole)):
			return nil, badParameter("The role with name %s cannot be found.", aws.ToString(in.NodeRole))
		}
		c.groups[group] = &nodeGroup{input: in, status: types.NodegroupStatusCreating, ready: time.Now().Add(f.pace)}
		return &awseks.CreateNodegroupOutput{}, nil
	})
}

// DescribeAddon implements eks.EKS.
func (f *eksFake) DescribeAddon(ctx context.Context, in *awseks.DescribeAddonInput, _ ...func(*awseks.Options)) (*awseks.DescribeAddonOutput, error) {
	name, addon := aws.ToString(in.ClusterName), aws.ToString(in.AddonName)
	return do(ctx, f.Fake, call{"eks:DescribeAddon", name + "/" + addon, false}, func() (*awseks.DescribeAddonOutput, error) {
		c, err := f.find(name)
		if err != nil {
			return nil, err
		}
		if !c.addons[addon] {
			return nil, notFound("No addon: %s found in cluster: %s", addon, name)
		}
		return &awseks.DescribeAddonOutput{Addon: &types.Addon{AddonName: aws.String(addon), Status: types.AddonStatusActive}}, nil
	})
}
