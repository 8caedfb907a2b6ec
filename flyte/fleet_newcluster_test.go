package flyte_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dp3InTheMaking has the AWS account make a cluster, on which a data plane
// is to be. The cluster in memory stands for it once the cloud has it.
func (w planesWorld) dp3InTheMaking(tb testing.TB) (planesWorld, planewright.Stack) {
	tb.Helper()
	w.fleet.Add("dp-3", kubefake.WithObjects(podWebhook()))
	account := w.aws.Account()
	making := account.Clusters.Provision("aws", cloud.NewCluster("dp-3").WithSubnets("subnet-0c", "subnet-0d"))
	require.NoError(tb, making.Err)
	where := account.Cluster("dp-3").MadeBy(making)
	handle := kube.Deferred("dp-3", func(ctx context.Context) (kube.Cluster, error) {
		if _, err := where.Access(ctx); err != nil {
			return kube.Cluster{}, err
		}
		return w.fleet.Cluster("dp-3"), nil
	})
	w.env = w.env.WithClusters(handle).WithCloud("dp-3", where)
	return w, planewright.NewStack("aws").WithSteps(making.Steps...).WithProbes(making.Probes...)
}

func three() flyte.Deployment {
	return two().WithDataplanes(flyte.NewDataplane("dp-3", "dp-3")).
		WithLabelMap(two().LabelMap().WithLabel("gpu", flyte.Weight("dp-3", 1)))
}

func TestADataplaneIsAddedOnAClusterThatTheSameInstallMakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPlanesWorld(t, "one", "two")
		w.install(t, two())
		w, made := w.dp3InTheMaking(t)
		w.aws.SetPace(9 * time.Minute)
		before := w.writes()

		plan, err := planewright.Plan(t.Context(), made, three().On(w.env))
		require.NoError(t, err)
		require.NoError(t, plan.Err())
		goldenPlan(t, "new-cluster", plan.String())

		report, err := planewright.Install(t.Context(), made, three().On(w.env))
		require.NoError(t, err)
		assert.Contains(t, report.Changed(), "aws/dp-3/cluster")
		assert.Contains(t, report.Changed(), "flyte/ml/dataplanes/dp-3/access")
		after := w.writes()
		assert.Equal(t, before["one"], after["one"])
		assert.Equal(t, before["two"], after["two"])
		cluster, err := w.aws.Account().Clusters.Describe(t.Context(), "dp-3")
		require.NoError(t, err)
		configs, _ := w.clusters(t).Get("clusters.clusterConfigs")
		assert.Contains(t, fmt.Sprint(configs), cluster.Endpoint)

		plan, err = planewright.Plan(t.Context(), made, three().On(w.env))
		require.NoError(t, err)
		assert.Empty(t, actions(plan))
		verified, err := planewright.Verify(t.Context(), made, three().On(w.env))
		require.NoError(t, err)
		assert.True(t, verified.OK(), "%s", verified)
	})
}

// Also files can be rendered before there is a cluster.
func TestWhatIsForAClusterInTheMakingIsRenderedAndTakenAway(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	w.install(t, two())
	w, _ = w.dp3InTheMaking(t)
	files := memory{}
	require.NoError(t, three().Render(t.Context(), w.env, files))
	assert.Contains(t, files, "dataplanes/dp-3/release/values.yaml")

	_, err := planewright.Uninstall(t.Context(), three().On(w.env))
	require.NoError(t, err, "what is on a cluster that was never made is not there")
}
