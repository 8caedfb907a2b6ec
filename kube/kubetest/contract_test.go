package kubetest_test

import (
	"testing"
	"time"

	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kube/kubetest"
)

func TestContractOnAFakeCluster(t *testing.T) {
	fleet := kubefake.NewFleet("dp-1")
	t.Cleanup(fleet.Close)
	fleet.Configure("dp-1", kubefake.WithPullFailure("*/never:*"))
	kubetest.Run(t, func(*testing.T) kube.Cluster { return fleet.Cluster("dp-1") },
		kubetest.WithUnpullableImage("registry.example/never:1"), kubetest.WithReaction(200*time.Millisecond))
}

func TestContractOnAFakeClusterWithoutContainers(t *testing.T) {
	fleet := kubefake.NewFleet("dp-1")
	t.Cleanup(fleet.Close)
	fleet.Configure("dp-1", kubefake.WithoutContainers())
	kubetest.Run(t, func(*testing.T) kube.Cluster { return fleet.Cluster("dp-1") },
		kubetest.WithoutContainers(), kubetest.WithReaction(200*time.Millisecond))
}
