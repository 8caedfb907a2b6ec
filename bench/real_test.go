package bench_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/internal/kubestack"
	"github.com/planewright/planewright/kube/live"
)

// BenchmarkRealCluster installs and takes away on a real control plane: by
// this library, and by the helm command waiting for the same workloads.
func BenchmarkRealCluster(b *testing.B) {
	folder, err := filepath.Abs("../internal/testcharts/charts")
	require.NoError(b, err)
	stack, err := kubestack.Start(b.Context(), kubestack.Config{Clusters: kubestack.Named("main"), Log: os.Stderr})
	require.NoError(b, err)
	b.Cleanup(func() { _ = stack.Stop() })
	cluster, err := live.FromKubeconfig(stack.Kubeconfig("main"), "main")
	require.NoError(b, err)
	env := flyte.NewEnv(cluster).WithCharts(live.ChartFolder(folder))
	bin, err := kubestack.Find(kubestack.Options{})
	require.NoError(b, err)

	values := filepath.Join(b.TempDir(), "rendered")
	require.NoError(b, deployment().On(env).Render(b.Context(), planewright.Directory(values)))

	var ours, helms time.Duration
	for b.Loop() {
		start := time.Now()
		_, err := planewright.Install(b.Context(), deployment().On(env))
		require.NoError(b, err)
		ours += time.Since(start)
		_, err = planewright.Uninstall(b.Context(), deployment().On(env))
		require.NoError(b, err)

		start = time.Now()
		helm(b, bin, stack, "upgrade", "--install", "flyte-backend", filepath.Join(folder, "flyte-binary"), "--namespace", "flyte", "--create-namespace",
			"--wait", "-f", filepath.Join(values, "release", "values.yaml"))
		helms += time.Since(start)
		helm(b, bin, stack, "uninstall", "flyte-backend", "--namespace", "flyte", "--wait")
	}
	b.ReportMetric(float64(ours.Milliseconds())/float64(b.N), "ours-ms")
	b.ReportMetric(float64(helms.Milliseconds())/float64(b.N), "helm-ms")
	b.ReportMetric(float64(ours)/float64(helms), "ours/helm")
}

func helm(b *testing.B, bin kubestack.Binaries, stack *kubestack.Stack, args ...string) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), bin.Path(kubestack.Helm), append([]string{"--kubeconfig", stack.Kubeconfig("main")}, args...)...)
	out, err := cmd.CombinedOutput()
	require.NoError(b, err, string(out))
}
