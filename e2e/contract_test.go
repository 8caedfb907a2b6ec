package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/planewright/planewright/internal/kubestack"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubetest"
	"github.com/planewright/planewright/kube/live"
)

// The same suite that kubefake passes: where the two differ, kubefake is wrong.
func TestThePortsKeepTheirContractOnARealAPIServer(t *testing.T) {
	kubetest.Run(t, func(t *testing.T) kube.Cluster {
		t.Helper()
		cluster, err := live.FromKubeconfig(world.stack.Kubeconfig(contractCluster), contractCluster)
		require.NoError(t, err)
		return cluster
	}, kubetest.WithoutContainers(), kubetest.WithUnpullableImage("registry.example/"+kubestack.NeverPulls+"/web:1"))
}
