package eks

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
)

// clusters implements cloud.Clusters with EKS.
type clusters struct{ *account }

func clusterObject(name string) planewright.Object {
	return planewright.Object{APIVersion: "eks", Kind: "Cluster", Name: name}
}

// Describe implements [cloud.Clusters].
func (c *clusters) Describe(ctx context.Context, name string) (cloud.Cluster, error) {
	if c.EKS == nil {
		return cloud.Cluster{}, fmt.Errorf("cluster %s: the account has no client for EKS: %w", name, planewright.ErrUnsupported)
	}
	found, err := c.EKS.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(name)})
	if err != nil {
		return cloud.Cluster{}, failure("eks:DescribeCluster", clusterObject(name), err)
	}
	return describe(found.Cluster)
}

// describe reads what EKS tells. Every pointer may be nil while a cluster is
// being created.
func describe(live *types.Cluster) (cloud.Cluster, error) {
	if live == nil {
		return cloud.Cluster{}, empty("eks:DescribeCluster", planewright.Object{})
	}
	c := cloud.Cluster{
		Name: aws.ToString(live.Name), ID: aws.ToString(live.Arn), Version: aws.ToString(live.Version),
		Endpoint: aws.ToString(live.Endpoint), Labels: live.Tags,
		Status: clusterStatus(live.Status), StatusReason: string(live.Status),
	}
	if parts := strings.Split(c.ID, ":"); len(parts) == 6 {
		c.Location, c.AccountID = parts[3], parts[4]
	}
	if live.Health != nil {
		c.StatusReason += issues(live.Health.Issues, func(i types.ClusterIssue) string {
			return fmt.Sprintf("%s: %s (%s)", i.Code, aws.ToString(i.Message), strings.Join(i.ResourceIds, ", "))
		})
		if len(live.Health.Issues) > 0 && c.Status == cloud.ClusterReady {
			c.Status = cloud.ClusterDegraded
		}
	}
	if live.CertificateAuthority != nil && live.CertificateAuthority.Data != nil {
		ca, err := base64.StdEncoding.DecodeString(*live.CertificateAuthority.Data)
		if err != nil {
			return c, fmt.Errorf("the authority of cluster %s is no base64: %w", c.Name, planewright.ErrInvalid)
		}
		c.CA = ca
	}
	if live.Identity != nil && live.Identity.Oidc != nil {
		c.Issuer = aws.ToString(live.Identity.Oidc.Issuer)
	}
	if vpc := live.ResourcesVpcConfig; vpc != nil {
		c.Network, c.PublicEndpoint = aws.ToString(vpc.VpcId), vpc.EndpointPublicAccess
		if vpc.EndpointPublicAccess {
			c.PublicCIDRs = slices.Clone(vpc.PublicAccessCidrs)
		}
	}
	return c, nil
}

func clusterStatus(s types.ClusterStatus) cloud.ClusterStatus {
	switch s {
	case types.ClusterStatusActive, types.ClusterStatusUpdating:
		return cloud.ClusterReady
	case types.ClusterStatusDeleting:
		return cloud.ClusterDeleting
	case types.ClusterStatusFailed:
		return cloud.ClusterFailed
	case types.ClusterStatusCreating, types.ClusterStatusPending:
		return cloud.ClusterCreating
	}
	return cloud.ClusterCreating
}

// issues joins what is wrong with something.
func issues[T any](list []T, text func(T) string) string {
	var b strings.Builder
	for _, i := range list {
		b.WriteString("; " + text(i))
	}
	return b.String()
}

// NodeGroups implements [cloud.Clusters].
func (c *clusters) NodeGroups(ctx context.Context, name string) ([]cloud.NodeGroupState, error) {
	if c.EKS == nil {
		return nil, fmt.Errorf("cluster %s: the account has no client for EKS: %w", name, planewright.ErrUnsupported)
	}
	var groups []cloud.NodeGroupState
	pages := eks.NewListNodegroupsPaginator(c.EKS, &eks.ListNodegroupsInput{ClusterName: aws.String(name)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, failure("eks:ListNodegroups", clusterObject(name), err)
		}
		for _, group := range page.Nodegroups {
			one, err := c.EKS.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: aws.String(name), NodegroupName: aws.String(group)})
			if err = failure("eks:DescribeNodegroup", nodeGroupObject(name, group), err); is(err, planewright.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			groups = append(groups, describeGroup(one.Nodegroup))
		}
	}
	slices.SortFunc(groups, func(a, b cloud.NodeGroupState) int { return strings.Compare(a.Name, b.Name) })
	return groups, nil
}

func nodeGroupObject(cluster, group string) planewright.Object {
	return planewright.Object{APIVersion: "eks", Kind: "Nodegroup", Namespace: cluster, Name: group}
}

func describeGroup(live *types.Nodegroup) cloud.NodeGroupState {
	if live == nil {
		return cloud.NodeGroupState{}
	}
	g := cloud.NodeGroupState{Name: aws.ToString(live.NodegroupName), MachineType: strings.Join(live.InstanceTypes, ","), StatusReason: string(live.Status), WorkloadIdentity: true}
	if s := live.ScalingConfig; s != nil {
		g.Min, g.Max, g.Desired = int(aws.ToInt32(s.MinSize)), int(aws.ToInt32(s.MaxSize)), int(aws.ToInt32(s.DesiredSize))
	}
	switch live.Status {
	case types.NodegroupStatusActive, types.NodegroupStatusUpdating:
		g.Status = cloud.ClusterReady
	case types.NodegroupStatusCreating:
		g.Status = cloud.ClusterCreating
	case types.NodegroupStatusDegraded:
		g.Status = cloud.ClusterDegraded
	case types.NodegroupStatusDeleting:
		g.Status = cloud.ClusterDeleting
	case types.NodegroupStatusCreateFailed, types.NodegroupStatusDeleteFailed:
		g.Status = cloud.ClusterFailed
	}
	if live.Health != nil {
		g.StatusReason += issues(live.Health.Issues, func(i types.Issue) string {
			return fmt.Sprintf("%s: %s (%s)", i.Code, aws.ToString(i.Message), strings.Join(i.ResourceIds, ", "))
		})
	}
	return g
}
