package cloud_test

import (
	"context"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/stretchr/testify/assert"
)

// clusters is a port that knows one cluster by heart.
type clusters struct {
	cloud.Clusters
	cluster cloud.Cluster
	err     error
}

func (c clusters) Describe(context.Context, string) (cloud.Cluster, error) { return c.cluster, c.err }

func TestClustersArePresupposed(t *testing.T) {
	notFound := &cloud.CallError{Operation: "eks:DescribeCluster", Message: "No cluster found for name: main.", Kind: planewright.ErrNotFound}
	for name, test := range map[string]struct {
		port  clusters
		needs []string
		want  []string
	}{
		"ready": {port: clusters{cluster: cloud.Cluster{Status: cloud.ClusterReady, PublicEndpoint: true, PublicCIDRs: []string{"0.0.0.0/0"}}}},
		"not there": {port: clusters{err: notFound}, want: []string{
			"error [cloud-cluster] Cluster main: there is no such cluster in aws account 123456789012 in us-east-1; fix: check its name and its region"}},
		"to be made": {port: clusters{err: notFound}, needs: []string{"flyte/ml/clusters/main/cluster"}},
		"not to be looked at": {port: clusters{err: &cloud.CallError{Operation: "eks:DescribeCluster", Code: "AccessDenied", Message: "no", Kind: planewright.ErrDenied}}, want: []string{
			"unprobed [cloud-cluster] Cluster main: it may not be looked at: eks:DescribeCluster: AccessDenied: no"}},
		"being created": {port: clusters{cluster: cloud.Cluster{Status: cloud.ClusterCreating, StatusReason: "CREATING"}}, want: []string{
			"error [cloud-cluster] Cluster main: it is CREATING; fix: wait until it is active, or use another"}},
		"degraded": {port: clusters{cluster: cloud.Cluster{Status: cloud.ClusterDegraded, StatusReason: "ACTIVE; SubnetNotFound: gone"}}, want: []string{
			"warning [cloud-cluster] Cluster main: it is ACTIVE; SubnetNotFound: gone; fix: see to that first"}},
		"private": {port: clusters{cluster: cloud.Cluster{Status: cloud.ClusterReady}}, want: []string{
			"info [private-endpoint] Cluster main: its API is reached from inside its network only; from elsewhere it times out; fix: run this inside the network, or through a tunnel"}},
		"reached from somewhere": {port: clusters{cluster: cloud.Cluster{Status: cloud.ClusterReady, PublicEndpoint: true, PublicCIDRs: []string{"203.0.113.0/24"}}}, want: []string{
			"info [private-endpoint] Cluster main: its API is reached from 203.0.113.0/24 only"}},
	} {
		t.Run(name, func(t *testing.T) {
			ref := cloud.ClusterRef{Account: cloud.Account{Provider: cloud.AWS, ID: "123456789012", Location: "us-east-1", Clusters: test.port}, Name: "main", Needs: test.needs}
			assert.Equal(t, test.want, look(t, cloud.ProbeCluster("flyte/ml/preflight/cloud-cluster", ref)))
		})
	}
}
