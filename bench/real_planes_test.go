package bench_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/planewright/planewright/internal/kubestack"
	"github.com/planewright/planewright/kube/live"
)

// byHand does on real API servers what the guide has a person do, by helm and
// kubectl one after the other.
type byHand struct {
	b     *testing.B
	bin   kubestack.Binaries
	stack *kubestack.Stack
	chart string
	// values are the values files that this library renders, by cluster.
	values map[string]string
}

func (h byHand) run(stdin string, tool kubestack.Program, args ...string) string {
	h.b.Helper()
	cmd := exec.CommandContext(h.b.Context(), h.bin.Path(tool), args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	require.NoError(h.b, err, "%s %v: %s", tool, args, out)
	return string(out)
}

func (h byHand) helm(cluster string, args ...string) {
	h.b.Helper()
	h.run("", kubestack.Helm, append([]string{"--kubeconfig", h.stack.Kubeconfig(cluster)}, args...)...)
}

func (h byHand) kubectl(cluster, stdin string, args ...string) string {
	h.b.Helper()
	return h.run(stdin, kubestack.Kubectl, append([]string{"--kubeconfig", h.stack.Kubeconfig(cluster)}, args...)...)
}

func (h byHand) install() {
	h.b.Helper()
	up := func(cluster, release string, more ...string) {
		h.helm(cluster, append([]string{"upgrade", "--install", release, h.chart, "--namespace", "flyte", "--create-namespace", "--wait", "-f", h.values[cluster]}, more...)...)
	}
	// The Secrets that the values refer to.
	h.kubectl("control", "apiVersion: v1\nkind: Namespace\nmetadata: {name: flyte}\n", "apply", "-f", "-")
	h.kubectl("control", "apiVersion: v1\nkind: Secret\nmetadata: {name: flyte-core-database, namespace: flyte}\nstringData: {pass.txt: p}\n", "apply", "-f", "-")
	// The control plane first, without data planes, as the guide has it.
	up("control", "flyte-core", "--set-json", `configmap.clusters={"labelClusterMap":{},"clusterConfigs":[]}`, "--set-json", "flyteadmin.additionalVolumes=[]", "--set-json", "flyteadmin.additionalVolumeMounts=[]")
	var data strings.Builder
	for _, plane := range []string{"dp-1", "dp-2"} {
		up(plane, "flyte-core-data")
		h.kubectl(plane, "apiVersion: v1\nkind: Secret\ntype: kubernetes.io/service-account-token\nmetadata:\n  name: token\n  namespace: flyte\n  annotations: {kubernetes.io/service-account.name: flyteadmin}\n", "apply", "-f", "-")
		h.kubectl(plane, "", "wait", "secret/token", "-n", "flyte", "--for=jsonpath={.data.token}", "--timeout=30s")
		fmt.Fprintf(&data, "  %s_token: %s\n  %s_cacert: %s\n",
			plane, h.kubectl(plane, "", "get", "secret", "token", "-n", "flyte", "-o", "jsonpath={.data.token}"),
			plane, h.kubectl(plane, "", "get", "secret", "token", "-n", "flyte", "-o", `jsonpath={.data.ca\.crt}`))
	}
	h.kubectl("control", "apiVersion: v1\nkind: Secret\nmetadata: {name: cluster-credentials, namespace: flyte}\ndata:\n"+data.String(), "apply", "-f", "-")
	up("control", "flyte-core")
}

func (h byHand) uninstall() {
	h.b.Helper()
	h.helm("control", "uninstall", "flyte-core", "--namespace", "flyte", "--wait")
	h.kubectl("control", "", "delete", "secret", "cluster-credentials", "flyte-core-database", "-n", "flyte")
	for _, plane := range []string{"dp-1", "dp-2"} {
		h.helm(plane, "uninstall", "flyte-core-data", "--namespace", "flyte", "--wait")
		h.kubectl(plane, "", "delete", "secret", "token", "-n", "flyte", "--ignore-not-found")
	}
}

// BenchmarkRealPlanes installs a control plane and two data planes on real API
// servers: by this library, and by helm and kubectl one after the other.
func BenchmarkRealPlanes(b *testing.B) {
	stack, err := kubestack.Start(b.Context(), kubestack.Config{Clusters: kubestack.Named("control", "dp-1", "dp-2"), Log: os.Stderr})
	require.NoError(b, err)
	b.Cleanup(func() { _ = stack.Stop() })
	bin, err := kubestack.Find(kubestack.Options{})
	require.NoError(b, err)
	server := httptest.NewServer(adminfake.New())
	b.Cleanup(server.Close)
	env := flyte.NewEnv().WithCharts(charts()).WithAdmin(func(context.Context) (*admin.Client, func(), error) {
		client, err := admin.New(server.URL)
		return client, nil, err
	})
	for _, name := range []string{"control", "dp-1", "dp-2"} {
		cluster, err := live.FromKubeconfig(stack.Kubeconfig(name), name)
		require.NoError(b, err)
		env = env.WithClusters(cluster)
	}
	d := flyte.NewDeployment("ml", flyte.V1_16_8).
		WithStorage(flyte.S3("acme-flyte", "us-east-1")).
		WithDatabase(flyte.Postgres("db.acme.example", "flyteadmin").WithPassword(planewright.SecretValue("p"))).
		WithProjects(flyte.NewProject("team1")).
		WithControlPlane(flyte.NewControlPlane("control").WithHost("flyte.acme.example").WithIngress(flyte.NGINX("flyte-tls"))).
		WithDataplanes(flyte.NewDataplane("dp-1", "dp-1"), flyte.NewDataplane("dp-2", "dp-2")).
		WithLabelMap(flyte.NewLabelMap().WithLabel("cpu", flyte.Weight("dp-1", 1)).WithDefault("cpu").WithProject("team1", "development", "cpu"))
	rendered := b.TempDir()
	require.NoError(b, d.On(env).Render(b.Context(), planewright.Directory(filepath.Join(rendered, "out"))))
	hand := byHand{b: b, bin: bin, stack: stack, chart: chartFile(b), values: map[string]string{
		"control": filepath.Join(rendered, "out", "controlplane", "release", "values.yaml"),
		"dp-1":    filepath.Join(rendered, "out", "dataplanes", "dp-1", "release", "values.yaml"),
		"dp-2":    filepath.Join(rendered, "out", "dataplanes", "dp-2", "release", "values.yaml"),
	}}
	var ours, hands time.Duration
	for b.Loop() {
		start := time.Now()
		_, err := planewright.Install(b.Context(), d.On(env))
		require.NoError(b, err)
		ours += time.Since(start)
		_, err = planewright.Uninstall(b.Context(), d.On(env))
		require.NoError(b, err)
		start = time.Now()
		hand.install()
		hands += time.Since(start)
		hand.uninstall()
	}
	b.ReportMetric(float64(ours.Milliseconds())/float64(b.N), "ours-ms")
	b.ReportMetric(float64(hands.Milliseconds())/float64(b.N), "by-hand-ms")
	b.ReportMetric(float64(ours)/float64(hands), "ours/by-hand")
}

// chartFile is the chart as the helm command takes it.
func chartFile(b *testing.B) string {
	b.Helper()
	if folder := os.Getenv("PLANEWRIGHT_CHARTS"); folder != "" {
		return filepath.Join(folder, "flyte-core-v1.16.8.tgz")
	}
	folder, err := filepath.Abs("../internal/testcharts/charts/flyte-core")
	require.NoError(b, err)
	return folder
}
