package flyte_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
func newWorld(tb testing.TB, opts ...kubefake.ClusterOption) world {
	tb.Helper()
	fleet := kubefake.NewFleet().Add("main", opts...)
	tb.Cleanup(fleet.Close)
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
func (w world) install(tb testing.TB, d flyte.Deployment) *planewright.Report {
	tb.Helper()
	report, err := d.Install(tb.Context(), w.env)
	require.NoError(tb, err)
	return report
}

// chartOf gives out one chart, whatever is asked for.
type chartOf struct{ chart *kube.Chart }

func (c chartOf) Chart(context.Context, kube.ChartRef) (*kube.Chart, error) { return c.chart, nil }

// memory takes rendered files.
type memory map[string]string

func (m memory) WriteFile(name string, data []byte) error {
	m[name] = string(data)
	return nil
}

func jsonOf(tb testing.TB, value any) string {
	tb.Helper()
	data, err := json.Marshal(value)
	require.NoError(tb, err)
	return string(data)
}

// records returns what Helm has kept of its releases, unpacked.
func records(tb testing.TB, w world) []string {
	tb.Helper()
	list, err := w.cluster.Objects.List(tb.Context(), kube.ListRequest{APIVersion: "v1", Kind: "Secret", Labels: "owner=helm"})
	require.NoError(tb, err)
	require.NotEmpty(tb, list)
	var texts []string
	for _, secret := range list {
		data, _, _ := unstructured.NestedString(secret.Object, "data", "release")
		texts = append(texts, unpack(tb, data))
	}
	return texts
}

// unpack reads the content of a record of Helm's.
func unpack(tb testing.TB, data string) string {
	tb.Helper()
	outer, err := base64.StdEncoding.DecodeString(data)
	require.NoError(tb, err)
	inner, err := base64.StdEncoding.DecodeString(string(outer))
	require.NoError(tb, err)
	unpacked, err := gzip.NewReader(bytes.NewReader(inner))
	require.NoError(tb, err)
	text, err := io.ReadAll(unpacked)
	require.NoError(tb, err)
	return string(text)
}

// codes returns the codes of findings.
func codes(findings []planewright.Finding) []string {
	var list []string
	for _, f := range findings {
		list = append(list, f.Code)
	}
	return list
}
