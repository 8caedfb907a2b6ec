package kubetest_test

import (
	"testing"

	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kube/kubetest"
)

func TestContractOnAFakeCluster(t *testing.T) {
	fleet := kubefake.NewFleet("dp-1")
	t.Cleanup(fleet.Close)
	fleet.Configure("dp-1", kubefake.WithPullFailure("*/never:*"))
	kubetest.Run(t, func(*testing.T) kube.Cluster { return fleet.Cluster("dp-1") }, kubetest.WithUnpullableImage("registry.example/never:1"))
}
