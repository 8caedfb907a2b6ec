package e2e_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// build builds examples beside those that all tests share.
func build(t *testing.T, examples ...string) {
	t.Helper()
	args := []string{"build", "-o", world.dir}
	for _, name := range examples {
		args = append(args, "./examples/"+name)
	}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = ".."
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

// What a real API server makes of the Ingress of each kind: it validates
// classes, paths and names, where a controller is not asked.
func TestEachIngressIsTakenByRealAPIServers(t *testing.T) {
	build(t, "production")
	for _, source := range chartSources(t) {
		for name, c := range map[string]struct {
			cluster   string
			args      []string
			ingresses []string
		}{
			"nginx":            {singleCluster, nil, []string{"flyte-backend-flyte-binary-grpc", "flyte-backend-flyte-binary-http"}},
			"alb":              {singleCluster, []string{"-ingress", "alb"}, []string{"flyte-backend-flyte-binary-grpc", "flyte-backend-flyte-binary-http"}},
			"traefik":          {singleCluster, []string{"-ingress", "traefik"}, []string{"flyte-backend-flyte-binary-grpc", "flyte-backend-flyte-binary-http"}},
			"core and nginx":   {"control", []string{"-core"}, []string{"flyte-core", "flyte-core-grpc"}},
			"core and alb":     {"control", []string{"-core", "-ingress", "alb"}, []string{"flyte-core", "flyte-core-grpc", "flyte-core-root"}},
			"core and traefik": {"control", []string{"-core", "-ingress", "traefik"}, []string{"flyte-core", "flyte-core-grpc", "flyte-core-h2c"}},
		} {
			t.Run(source.name+"/"+name, func(t *testing.T) {
				args := append(append([]string{}, source.args...), c.args...)
				out := runExample(t, "production", c.cluster, args...)
				assert.Contains(t, out, "verify: working")
				assert.Contains(t, out, "[ingress-class]", "no controller runs here, and that is said")
				assert.True(t, strings.HasSuffix(out, "second install: no changes\n"), out)
				list, err := clientOf(t, c.cluster, "").NetworkingV1().Ingresses("flyte").List(t.Context(), metav1.ListOptions{})
				require.NoError(t, err)
				var names []string
				for _, ingress := range list.Items {
					names = append(names, ingress.Name)
				}
				assert.Equal(t, c.ingresses, names)
				runExample(t, "production", c.cluster, append(args, "-uninstall")...)
			})
		}
	}
}

func TestTheExampleOfAnUpgradeRunsOnRealClusters(t *testing.T) {
	folder := os.Getenv("PLANEWRIGHT_CHARTS")
	if folder == "" {
		t.Skip("PLANEWRIGHT_CHARTS is not set, and the charts of our own are of one version")
	}
	build(t, "upgrade")
	for _, args := range [][]string{nil, {"-rollback"}} {
		args = append([]string{"-charts", folder}, args...)
		out := runExample(t, "upgrade", "control,dp-1", append(args, "-from-scratch")...)
		assert.Contains(t, out, "plan: 2 to update, 5 unchanged")
		assert.Contains(t, out, "verify: working")
		assert.True(t, strings.HasSuffix(out, "second install: no changes\n"), out)
		runExample(t, "upgrade", "control,dp-1", append(args, "-uninstall")...)
	}
}
