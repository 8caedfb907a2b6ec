package flyte

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/internal/testcharts"
	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// chartsVariable names a folder with the published charts' archives.
const chartsVariable = "PLANEWRIGHT_CHARTS"

// forEachChart runs a test on the stand-in of flyte-binary, and on the
// published chart where it is to be had.
func forEachChart(t *testing.T, test func(t *testing.T, chart *kube.Chart)) {
	t.Run("stand-in", func(t *testing.T) { test(t, standIn(t)) })
	t.Run("published", func(t *testing.T) { test(t, published(t, "flyte-binary-v1.16.8.tgz")) })
}

// standIn loads the chart of our own.
func standIn(t *testing.T) *kube.Chart {
	t.Helper()
	var files []kube.ChartFile
	root, err := fs.Sub(testcharts.FS(), binaryChart)
	require.NoError(t, err)
	require.NoError(t, fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, name)
		files = append(files, kube.ChartFile{Name: name, Data: data})
		return err
	}))
	return newChart(t, "", files)
}

// published loads the archive of a published chart.
func published(t *testing.T, archive string) *kube.Chart {
	t.Helper()
	folder := os.Getenv(chartsVariable)
	if folder == "" {
		t.Skipf("%s is not set, so the published chart %s is not tried", chartsVariable, archive)
	}
	data, err := os.ReadFile(filepath.Join(folder, archive))
	require.NoError(t, err)
	buffered, err := loader.LoadArchiveFiles(bytes.NewReader(data))
	require.NoError(t, err)
	var files []kube.ChartFile
	for _, f := range buffered {
		files = append(files, kube.ChartFile{Name: f.Name, Data: f.Data})
	}
	sum := sha256.Sum256(data)
	return newChart(t, "sha256:"+hex.EncodeToString(sum[:]), files)
}

func newChart(t *testing.T, digest string, files []kube.ChartFile) *kube.Chart {
	t.Helper()
	meta := helmChart(t, files).Metadata
	return kube.NewChart(meta.Name, meta.Version, meta.AppVersion, digest, files)
}

func helmChart(t *testing.T, files []kube.ChartFile) *chart.Chart {
	t.Helper()
	var buffered []*loader.BufferedFile
	for _, f := range files {
		buffered = append(buffered, &loader.BufferedFile{Name: f.Name, Data: f.Data})
	}
	loaded, err := loader.LoadFiles(buffered)
	require.NoError(t, err)
	return loaded
}

// renderValues renders a chart by Helm's own engine.
func renderValues(t *testing.T, c *kube.Chart, d Deployment, values kube.Values) ([]*unstructured.Unstructured, error) {
	t.Helper()
	loaded := helmChart(t, c.Files())
	require.NoError(t, chartutil.ProcessDependencies(loaded, chartutil.Values(values)))
	all, err := chartutil.ToRenderValues(loaded, chartutil.Values(values),
		chartutil.ReleaseOptions{Name: d.release, Namespace: d.namespace, Revision: 1, IsInstall: true}, chartutil.DefaultCapabilities)
	require.NoError(t, err)
	rendered, err := engine.Engine{}.Render(loaded, all)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	names := make([]string, 0, len(rendered))
	for name := range rendered {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if strings.HasSuffix(name, "NOTES.txt") {
			continue
		}
		decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(rendered[name]), 4096)
		for {
			obj := &unstructured.Unstructured{}
			err := decoder.Decode(&obj.Object)
			if err == io.EOF {
				break
			}
			require.NoError(t, err, "%s is no YAML:\n%s", name, rendered[name])
			if len(obj.Object) > 0 {
				objects = append(objects, obj)
			}
		}
	}
	return objects, nil
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
	var r revisions
	if d.database.owned() {
		r.database = firstRevision
	}
	if d.storage.keyed() {
		r.storage = firstRevision
	}
	l, err := d.layer(c, facts, r)
	require.NoError(t, err)
	objects, err := renderValues(t, c, d, l.merged)
	require.NoError(t, err)
	return rendered{t, l, objects}
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
	values, err := parseValues([]byte(text))
	require.NoError(r.t, err, text)
	return values
}

// at returns the value at a path in an object; "0" steps into a list.
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

// chartSource gives out one chart, whatever is asked for.
type chartSource struct{ chart *kube.Chart }

func (s chartSource) Chart(_ context.Context, ref kube.ChartRef) (*kube.Chart, error) {
	if s.chart == nil {
		return nil, fmt.Errorf("chart %s: %w", ref.Name, planewright.ErrNotFound)
	}
	return s.chart, nil
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
