package e2e_test

import (
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/kube/live"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Flyte on one real cluster grows into planes on three: its release goes,
// the control plane's comes, and only then the host.
func TestASingleClusterGrowsIntoPlanesOnRealClusters(t *testing.T) {
	for _, source := range chartSources(t) {
		t.Run(source.name, func(t *testing.T) {
			env := flyte.NewEnv().WithCharts(live.ChartFolder(source.args[1])).WithoutAdmin()
			for _, name := range planesClusters() {
				cluster, err := live.FromKubeconfig(world.stack.Kubeconfig(name), name)
				require.NoError(t, err)
				env = env.WithClusters(cluster)
			}
			storage := flyte.S3("acme-flyte", "us-east-1")
			database := flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("correct-horse-battery"))
			single := flyte.NewSingleCluster("grows", flyte.V1_16_8, "control").WithStorage(storage).WithDatabase(database)
			planes := flyte.NewDeployment("grows", flyte.V1_16_8).WithStorage(storage).WithDatabase(database).
				WithControlPlane(flyte.NewControlPlane("control").WithHost("flyte.acme.example").WithIngress(flyte.NGINX("flyte-tls"))).
				WithDataplanes(flyte.NewDataplane("dp-1", "dp-1"), flyte.NewDataplane("dp-2", "dp-2")).
				WithLabelMap(flyte.NewLabelMap().WithLabel("all", flyte.Weight("dp-1", 1), flyte.Weight("dp-2", 1)).WithDefault("all"))
			_, err := single.Install(t.Context(), env)
			require.NoError(t, err)

			report, err := planes.WithPredecessor(single).Install(t.Context(), env)
			require.NoError(t, err)
			for _, id := range []string{"predecessor/stop", "controlplane/release", "predecessor/uninstall", "controlplane/host"} {
				assert.Contains(t, report.Changed(), "flyte/grows/"+id)
			}
			client := clientOf(t, "control", "")
			_, err = client.AppsV1().Deployments("flyte").Get(t.Context(), "flyte-backend-flyte-binary", metav1.GetOptions{})
			assert.True(t, apierrors.IsNotFound(err), "%v", err)
			ingresses, err := client.NetworkingV1().Ingresses("flyte").List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			require.NotEmpty(t, ingresses.Items)
			assert.Equal(t, "flyte.acme.example", ingresses.Items[0].Spec.Rules[0].Host)

			plan, err := planes.WithPredecessor(single).Plan(t.Context(), env)
			require.NoError(t, err)
			planewright.AssertNoChanges(t, plan)
			_, err = planes.Uninstall(t.Context(), env)
			require.NoError(t, err)
		})
	}
}
