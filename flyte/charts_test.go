package flyte

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/internal/testcharts"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kube/live"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// chartsVariable names a folder with the published charts' archives.
const chartsVariable = "PLANEWRIGHT_CHARTS"

// forEachChart runs a test on the stand-in of flyte-binary, and on the
// published chart where it is to be had.
func forEachChart(t *testing.T, test func(t *testing.T, chart *kube.Chart)) {
	t.Helper()
	t.Run("stand-in", func(t *testing.T) { test(t, standIn(t)) })
	t.Run("published", func(t *testing.T) { test(t, published(t)) })
}

// standIn loads the chart of our own.
func standIn(t *testing.T) *kube.Chart {
	t.Helper()
	return load(t, binaryChart, live.ChartFS(testcharts.FS(), "."))
}

// published loads the archive of the published chart.
func published(t *testing.T) *kube.Chart {
	t.Helper()
	return publishedChart(t, binaryChart)
}

// publishedChart loads the archive of a published chart.
func publishedChart(t *testing.T, name string) *kube.Chart {
	t.Helper()
	folder := os.Getenv(chartsVariable)
	if folder == "" {
		t.Skipf("%s is not set, so the published chart is not tried", chartsVariable)
	}
	return load(t, name, live.ChartArchive(filepath.Join(folder, name+"-v1.16.8.tgz")))
}

func load(t *testing.T, name string, source kube.ChartSource) *kube.Chart {
	t.Helper()
	chart, err := source.Chart(t.Context(), kube.ChartRef{Name: name, Version: "v1.16.8"})
	require.NoError(t, err)
	return chart
}

// renderChart renders a chart with values, as Helm does.
func renderChart(t *testing.T, release kube.Release) []*unstructured.Unstructured {
	t.Helper()
	fleet := kubefake.NewFleet("main")
	defer fleet.Close()
	objects, err := fleet.Cluster("main").Releases.Render(t.Context(), release)
	require.NoError(t, err)
	return objects
}

// rendered is what a deployment comes out as.
type rendered struct {
	t       *testing.T
	layers  layers
	objects []*unstructured.Unstructured
}

// render renders a deployment with a chart, its Secrets at revision 1.
func render(t *testing.T, c *kube.Chart, d Deployment) rendered {
	t.Helper()
	require.NoError(t, d.Validate())
	facts, _ := d.version.Chart(binaryChart)
	var in inputs
	if d.database.owned() {
		in.database = firstRevision
	}
	if d.storage.keyed() {
		in.storage = firstRevision
	}
	if !d.auth.IsZero() {
		in.auth = firstRevision
	}
	l, err := d.layer(binary{d}, c, facts, in)
	require.NoError(t, err)
	return rendered{t, l, renderChart(t, kube.Release{Name: d.release, Namespace: d.namespace, Chart: c, Values: l.merged})}
}

// object returns the one object of the kind whose name ends so.
func (r rendered) object(kind, suffix string) map[string]any {
	r.t.Helper()
	for _, obj := range r.objects {
		if obj.GetKind() == kind && strings.HasSuffix(obj.GetName(), suffix) {
			return obj.Object
		}
	}
	require.Failf(r.t, "not rendered", "%s …%s", kind, suffix)
	return nil
}

// config returns a file of Flyte's configuration, parsed.
func (r rendered) config(file string) map[string]any {
	r.t.Helper()
	data, _ := asMap(r.object("ConfigMap", "-config")["data"])
	text, ok := data[file].(string)
	require.True(r.t, ok, "the configuration has no file %s", file)
	values, err := kube.ParseValues([]byte(text))
	require.NoError(r.t, err, text)
	return values
}

// at returns the value at a path in an object; a number steps into a list.
func at(t *testing.T, value any, path ...any) any {
	t.Helper()
	for i, step := range path {
		switch s := step.(type) {
		case string:
			m, ok := asMap(value)
			require.True(t, ok, "%v is no map", path[:i])
			value = m[s]
		case int:
			list, ok := value.([]any)
			require.True(t, ok && s < len(list), "%v is no list of more than %d", path[:i], s)
			value = list[s]
		}
	}
	return value
}

// production is a deployment with everything that matters said.
func production() Deployment {
	return NewSingleCluster("ml", V1_16_8, "main").
		WithStorage(S3("acme-flyte", "us-east-1").WithUserDataBucket("acme-flyte-data")).
		WithDatabase(Postgres("db.acme.internal", "flyteadmin").WithUser("flyte").WithPassword(planewright.SecretValue("hunter2"))).
		WithIdentity(AWSRole("arn:aws:iam::123456789012:role/flyte-backend")).
		WithUserIdentity(AWSRole("arn:aws:iam::123456789012:role/flyte-user"))
}

// minimal is a deployment with nothing said that need not be.
func minimal() Deployment {
	return NewSingleCluster("ml", V1_16_8, "main").
		WithStorage(S3("acme-flyte", "us-east-1")).
		WithDatabase(Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("hunter2")))
}
