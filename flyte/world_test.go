package flyte_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/internal/testcharts"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kube/live"
	"github.com/stretchr/testify/require"
)

// world is a cluster in memory with charts to install.
type world struct {
	fleet   *kubefake.Fleet
	cluster kube.Cluster
	env     flyte.Env
}

// standIns are the charts of our own.
func standIns() kube.ChartSource { return live.ChartFS(testcharts.FS(), ".") }

// newWorld makes a world with one cluster, main.
func newWorld(t testing.TB, opts ...kubefake.ClusterOption) world {
	t.Helper()
	fleet := kubefake.NewFleet().Add("main", opts...)
	t.Cleanup(fleet.Close)
	cluster := fleet.Cluster("main")
	return world{fleet, cluster, flyte.NewEnv(cluster).WithCharts(standIns())}
}

// forEachSource runs a test with the stand-in charts, and with the published
// ones where they are to be had.
func forEachSource(t *testing.T, test func(t *testing.T, w world)) {
	t.Run("stand-in", func(t *testing.T) { test(t, newWorld(t)) })
	t.Run("published", func(t *testing.T) {
		folder := os.Getenv("PLANEWRIGHT_CHARTS")
		if folder == "" {
			t.Skip("PLANEWRIGHT_CHARTS is not set, so the published chart is not tried")
		}
		w := newWorld(t)
		w.env = w.env.WithCharts(live.ChartArchive(filepath.Join(folder, "flyte-binary-v1.16.8.tgz")))
		test(t, w)
	})
}

// production is the deployment that most tests install.
func production() flyte.Deployment {
	return flyte.NewSingleCluster("ml", flyte.V1_16_8, "main").
		WithStorage(flyte.S3("acme-flyte", "us-east-1")).
		WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("hunter2"))).
		WithIdentity(flyte.AWSRole("arn:aws:iam::123456789012:role/flyte-backend")).
		WithUserIdentity(flyte.AWSRole("arn:aws:iam::123456789012:role/flyte-user"))
}

// install installs and expects it to work.
func (w world) install(t testing.TB, d flyte.Deployment) *planewright.Report {
	t.Helper()
	report, err := d.Install(t.Context(), w.env)
	require.NoError(t, err)
	return report
}
