package flyte

import (
	"strings"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/internal/testcharts"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/live"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// forEachCoreChart runs a test on the stand-in of flyte-core, and on the
// published chart where it is to be had.
func forEachCoreChart(t *testing.T, test func(t *testing.T, chart *kube.Chart)) {
	t.Helper()
	t.Run("stand-in", func(t *testing.T) { test(t, load(t, coreChart, live.ChartFS(testcharts.FS(), "."))) })
	t.Run("published", func(t *testing.T) { test(t, publishedChart(t, coreChart)) })
}

const (
	controlRole = "arn:aws:iam::123456789012:role/flyte-controlplane"
	dataRole    = "arn:aws:iam::123456789012:role/flyte-dataplane"
)

// planes is a control plane with two data planes on AWS.
func planes() Deployment {
	return NewDeployment("ml", V1_16_8).
		WithStorage(S3("acme-flyte", "us-east-1")).
		WithDatabase(Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("hunter2"))).
		WithProjects(NewProject("team1"), NewProject("team2")).
		WithUserIdentity(AWSRole(dataRole)).
		WithControlPlane(NewControlPlane("control").
			WithHost("flyte.acme.example").
			WithIngress(ALB("arn:aws:acm:us-east-1:123456789012:certificate/abc")).
			WithIdentity(AWSRole(controlRole)).
			WithCatalog(CatalogAt("datacatalog.acme.internal:89"))).
		WithDataplanes(
			NewDataplane("dp-1", "one").WithIdentity(AWSRole(dataRole)),
			NewDataplane("dp-2", "two").WithIdentity(AWSRole(dataRole))).
		WithLabelMap(NewLabelMap().
			WithLabel("cpu", Weight("dp-1", 1)).
			WithLabel("gpu", Weight("dp-1", 30), Weight("dp-2", 70)).
			WithDefault("cpu").
			WithProject("team1", "development", "cpu").
			WithWorkflow("team1", "production", "train.main", "gpu"))
}

// renderedPlane is what one release comes out as.
type renderedPlane struct {
	t       *testing.T
	layers  layers
	objects []*unstructured.Unstructured
}

// renderPlane renders the i-th release of a deployment, the control plane's first.
func renderPlane(t *testing.T, c *kube.Chart, d Deployment, i int) renderedPlane {
	t.Helper()
	require.NoError(t, d.Validate())
	facts, _ := d.version.Chart(coreChart)
	in := inputs{database: "1", credentials: "1", endpoints: map[string]string{}}
	if d.storage.keyed() {
		in.storage = "1"
	}
	if !d.auth.IsZero() {
		in.auth = firstRevision
	}
	if d.control.catalog.balanced {
		in.catalog = "internal-lb.example:89"
	}
	for _, p := range d.dataplanes {
		in.endpoints[p.name] = "https://" + p.name + ".example"
	}
	v := d.views()[i]
	l, err := v.layer(v.recipe, c, facts, in)
	require.NoError(t, err)
	return renderedPlane{t, l, renderChart(t, kube.Release{Name: v.release, Namespace: v.namespace, Chart: c, Values: l.merged})}
}

// find returns the object of the kind and name, nil if there is none.
func (r renderedPlane) find(kind, name string) map[string]any {
	for _, obj := range r.objects {
		if obj.GetKind() == kind && obj.GetName() == name {
			return obj.Object
		}
	}
	return nil
}

func (r renderedPlane) get(kind, name string) map[string]any {
	r.t.Helper()
	obj := r.find(kind, name)
	require.NotNil(r.t, obj, "%s %s is not rendered", kind, name)
	return obj
}

// file returns a file of a ConfigMap, parsed.
func (r renderedPlane) file(configMap, name string) map[string]any {
	r.t.Helper()
	text, ok := at(r.t, r.get("ConfigMap", configMap), "data", name).(string)
	require.True(r.t, ok, "ConfigMap %s has no file %s", configMap, name)
	values, err := kube.ParseValues([]byte(text))
	require.NoError(r.t, err, text)
	return values
}

// kinds lists what is rendered, as "Kind name".
func (r renderedPlane) kinds() []string {
	var list []string
	for _, obj := range r.objects {
		list = append(list, obj.GetKind()+" "+obj.GetName())
	}
	return list
}

// text is everything that is rendered.
func (r renderedPlane) text() string {
	var b strings.Builder
	for _, obj := range r.objects {
		for _, leaf := range leaves(obj.Object) {
			if s, ok := leaf.value.(string); ok {
				b.WriteString(s + "\n")
			}
		}
	}
	return b.String()
}
