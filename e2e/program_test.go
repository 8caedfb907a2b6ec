package e2e_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/planewright/planewright/internal/kubestack"
)

// chartSource is one place that the examples take charts from.
type chartSource struct {
	name string
	args []string
}

// chartSources are the embedded charts, and the published archives where they are at hand.
func chartSources(t *testing.T) []chartSource {
	t.Helper()
	embedded, err := filepath.Abs("../internal/testcharts/charts")
	require.NoError(t, err)
	sources := []chartSource{{"own charts", []string{"-charts", embedded}}}
	folder := os.Getenv("PLANEWRIGHT_CHARTS")
	if folder == "" {
		t.Log("PLANEWRIGHT_CHARTS is not set: the published charts are not installed, only our own")
		return sources
	}
	return append(sources, chartSource{"published charts", []string{"-charts", folder}})
}

// example prepares a run of an example on a cluster, or on several, separated by commas.
func example(ctx context.Context, name, cluster string, args ...string) *exec.Cmd {
	args = append([]string{"-kubeconfig", world.stack.KubeconfigAll(), "-contexts", cluster}, args...)
	cmd := exec.CommandContext(ctx, filepath.Join(world.dir, name), args...)
	cmd.Env = append(os.Environ(), "FLYTE_DB=correct-horse-battery")
	return cmd
}

// runExample runs an example to its end and returns what it printed.
func runExample(t *testing.T, name, cluster string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := example(ctx, name, cluster, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	require.NoError(t, err, "%s\n%s", stdout.String(), stderr.String())
	require.Empty(t, stderr.String(), "nothing is printed on the error stream")
	require.NotContains(t, stdout.String(), "correct-horse-battery")
	return stdout.String()
}

// helm runs the helm command, built from the module that the library uses.
func helm(t *testing.T, cluster string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), world.bin.Path(kubestack.Helm), append([]string{"--kubeconfig", world.stack.Kubeconfig(cluster)}, args...)...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}
