package bench_test

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/internal/testcharts"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kube/live"
)

// charts is the folder of published archives if there is one, else our own charts.
func charts() kube.ChartSource {
	if folder := os.Getenv("PLANEWRIGHT_CHARTS"); folder != "" {
		return live.ChartFolder(folder)
	}
	return live.ChartFS(testcharts.FS(), ".")
}

func deployment() flyte.Deployment {
	return flyte.NewSingleCluster("ml", flyte.V1_16_8, "main").
		WithStorage(flyte.S3("acme-flyte", "us-east-1")).
		WithDatabase(flyte.Postgres("db.acme.example", "flyteadmin").WithUser("flyte").WithPassword(planewright.SecretValue("p")))
}

// onFakes makes a new cluster in memory and the deployment on it.
func onFakes(b *testing.B) (*kubefake.Fleet, planewright.Stack) {
	b.Helper()
	fleet := kubefake.NewFleet("main")
	b.Cleanup(fleet.Close)
	return fleet, deployment().On(flyte.NewEnv(fleet.Cluster("main")).WithCharts(charts()))
}

// renderOnce is how long Helm's engine takes to parse and render the chart: the unit of the plans.
func renderOnce(b *testing.B) time.Duration {
	b.Helper()
	chart, err := charts().Chart(b.Context(), kube.ChartRef{Name: "flyte-binary", Version: "v1.16.8"})
	require.NoError(b, err)
	var files []*loader.BufferedFile
	for _, f := range chart.Files() {
		files = append(files, &loader.BufferedFile{Name: f.Name, Data: f.Data})
	}
	const rounds = 20
	start := time.Now()
	for range rounds {
		c, err := loader.LoadFiles(files)
		require.NoError(b, err)
		values, err := chartutil.ToRenderValues(c, map[string]any{}, chartutil.ReleaseOptions{Name: "flyte-backend", Namespace: "flyte", IsInstall: true}, chartutil.DefaultCapabilities)
		require.NoError(b, err)
		_, err = engine.Render(c, values)
		require.NoError(b, err)
	}
	return time.Since(start) / rounds
}

// perRendering reports the time of one operation as a multiple of rendering the chart.
func perRendering(b *testing.B) {
	b.Helper()
	elapsed := b.Elapsed() / time.Duration(b.N)
	b.ReportMetric(float64(elapsed)/float64(renderOnce(b)), "renderings/op")
}

func BenchmarkPlanFresh(b *testing.B) {
	_, stack := onFakes(b)
	for b.Loop() {
		_, err := planewright.Plan(b.Context(), stack)
		require.NoError(b, err)
	}
	perRendering(b)
}

func BenchmarkPlanConverged(b *testing.B) {
	fleet, stack := onFakes(b)
	_, err := planewright.Install(b.Context(), stack)
	require.NoError(b, err)
	fleet.ForgetCalls()
	for b.Loop() {
		_, err := planewright.Plan(b.Context(), stack)
		require.NoError(b, err)
	}
	perRendering(b)
	b.ReportMetric(float64(fleet.Reads("main"))/float64(b.N), "reads/op")
	b.ReportMetric(float64(fleet.Writes("main"))/float64(b.N), "writes/op")
}

func BenchmarkInstall(b *testing.B) {
	for b.Loop() {
		_, stack := onFakes(b)
		_, err := planewright.Install(b.Context(), stack)
		require.NoError(b, err)
	}
}

// The public chart is never part of this repository, so a benchmark on our own says so.
func TestMain(m *testing.M) {
	if os.Getenv("PLANEWRIGHT_CHARTS") == "" {
		names, _ := fs.Glob(testcharts.FS(), "*")
		fmt.Fprintln(os.Stderr, "PLANEWRIGHT_CHARTS is not set: measuring with charts of our own:", strings.Join(names, ", "))
	}
	os.Exit(m.Run())
}
