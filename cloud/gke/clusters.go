package gke

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"cloud.google.com/go/container/apiv1/containerpb"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
)

// clusters implements cloud.Clusters with GKE.
type clusters struct{ *project }

func (p *project) parent() string { return "projects/" + p.Project + "/locations/" + p.Location }

func (p *project) clusterName(name string) string { return p.parent() + "/clusters/" + name }

func clusterObject(name string) planewright.Object {
	return planewright.Object{APIVersion: "container.googleapis.com", Kind: "Cluster", Name: name}
}

// Describe implements [cloud.Clusters].
func (c *clusters) Describe(ctx context.Context, name string) (cloud.Cluster, error) {
	live, err := c.get(ctx, name)
	if err != nil {
		return cloud.Cluster{}, err
	}
	return c.describe(live)
}

func (p *project) get(ctx context.Context, name string) (*containerpb.Cluster, error) {
	if p.Container == nil {
		return nil, fmt.Errorf("cluster %s: the account has no client for GKE: %w", name, planewright.ErrUnsupported)
	}
	live, err := p.Container.GetCluster(ctx, &containerpb.GetClusterRequest{Name: p.clusterName(name)})
	return live, failure("container.clusters.get", clusterObject(name), err)
}

// describe reads what GKE tells.
func (p *project) describe(live *containerpb.Cluster) (cloud.Cluster, error) {
	c := cloud.Cluster{
		Name: live.GetName(), ID: p.clusterName(live.GetName()), AccountID: p.Project, Location: p.Location,
		Status: statusOf(live.GetStatus()), StatusReason: live.GetStatus().String(), Version: live.GetCurrentMasterVersion(),
		Issuer: live.GetWorkloadIdentityConfig().GetWorkloadPool(), Network: live.GetNetwork(), Labels: live.GetResourceLabels(),
	}
	for _, condition := range live.GetConditions() {
		c.StatusReason += "; " + condition.GetCanonicalCode().String() + ": " + condition.GetMessage()
	}
	private := live.GetControlPlaneEndpointsConfig().GetIpEndpointsConfig().GetPrivateEndpoint()
	c.PublicEndpoint = live.GetEndpoint() != "" && live.GetEndpoint() != private
	ca, err := base64.StdEncoding.DecodeString(live.GetMasterAuth().GetClusterCaCertificate())
	if err != nil {
		return c, fmt.Errorf("the authority of cluster %s is no base64: %w", c.Name, planewright.ErrInvalid)
	}
	switch p.endpoint {
	case DNSEndpoint:
		dns := live.GetControlPlaneEndpointsConfig().GetDnsEndpointConfig()
		c.Endpoint, c.PublicEndpoint = withScheme(dns.GetEndpoint()), dns.GetAllowExternalTraffic()
	case PrivateEndpoint:
		c.Endpoint, c.CA = withScheme(private), ca
	case PublicEndpoint, "":
		if c.PublicEndpoint {
			c.Endpoint, c.CA = withScheme(live.GetEndpoint()), ca
		}
	}
	return c, nil
}

func withScheme(host string) string {
	if host == "" {
		return ""
	}
	return "https://" + host
}

func statusOf(s containerpb.Cluster_Status) cloud.ClusterStatus {
	switch s {
	case containerpb.Cluster_RUNNING, containerpb.Cluster_RECONCILING:
		return cloud.ClusterReady
	case containerpb.Cluster_STOPPING:
		return cloud.ClusterDeleting
	case containerpb.Cluster_ERROR:
		return cloud.ClusterFailed
	case containerpb.Cluster_DEGRADED:
		return cloud.ClusterDegraded
	case containerpb.Cluster_PROVISIONING, containerpb.Cluster_STATUS_UNSPECIFIED:
	}
	return cloud.ClusterCreating
}

// NodeGroups implements [cloud.Clusters].
func (c *clusters) NodeGroups(ctx context.Context, name string) ([]cloud.NodeGroupState, error) {
	live, err := c.get(ctx, name)
	if err != nil {
		return nil, err
	}
	var groups []cloud.NodeGroupState
	for _, pool := range live.GetNodePools() {
		groups = append(groups, cloud.NodeGroupState{
			Name: pool.GetName(), MachineType: pool.GetConfig().GetMachineType(),
			Min: int(pool.GetAutoscaling().GetMinNodeCount()), Max: int(pool.GetAutoscaling().GetMaxNodeCount()), Desired: int(pool.GetInitialNodeCount()),
			Status: poolStatus(pool.GetStatus()), StatusReason: pool.GetStatus().String(),
			WorkloadIdentity: live.GetAutopilot().GetEnabled() || givesIdentity(pool),
		})
	}
	slices.SortFunc(groups, func(a, b cloud.NodeGroupState) int { return strings.Compare(a.Name, b.Name) })
	return groups, nil
}

func poolStatus(s containerpb.NodePool_Status) cloud.ClusterStatus {
	switch s {
	case containerpb.NodePool_RUNNING, containerpb.NodePool_RECONCILING:
		return cloud.ClusterReady
	case containerpb.NodePool_RUNNING_WITH_ERROR:
		return cloud.ClusterDegraded
	case containerpb.NodePool_STOPPING:
		return cloud.ClusterDeleting
	case containerpb.NodePool_ERROR:
		return cloud.ClusterFailed
	case containerpb.NodePool_PROVISIONING, containerpb.NodePool_STATUS_UNSPECIFIED:
	}
	return cloud.ClusterCreating
}

// Access implements [cloud.Clusters] with a token of the credentials for Google.
func (c *clusters) Access(ctx context.Context, name string) (cloud.Access, error) {
	cluster, err := c.Describe(ctx, name)
	if err != nil {
		return cloud.Access{}, err
	}
	if cluster.Endpoint == "" {
		kind := c.endpoint
		if kind == "" {
			kind = PublicEndpoint
		}
		return cloud.Access{}, fmt.Errorf("cluster %s has no %s endpoint (it is %s); choose another by gke.WithEndpoint: %w", name, kind, cluster.StatusReason, planewright.ErrUnavailable)
	}
	if c.Tokens == nil {
		return cloud.Access{}, fmt.Errorf("cluster %s: the account has no source of tokens: %w", name, planewright.ErrUnsupported)
	}
	token, err := c.Tokens.Token()
	if err != nil {
		return cloud.Access{}, failure("oauth2.token", clusterObject(name), err)
	}
	return cloud.Access{Endpoint: cluster.Endpoint, CA: cluster.CA, Token: planewright.SecretValue(token.AccessToken), Expires: token.Expiry}, nil
}
