package flyte_test

import (
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// configOf reads a file of configuration out of a ConfigMap.
func configOf(tb testing.TB, cluster kube.Cluster, name, file string) kube.Values {
	tb.Helper()
	obj, err := cluster.Objects.Get(tb.Context(), kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "flyte", Name: name})
	require.NoError(tb, err)
	text, ok, _ := unstructured.NestedString(obj.Object, "data", file)
	require.True(tb, ok, file)
	values, err := kube.ParseValues([]byte(text))
	require.NoError(tb, err)
	return values
}

func got(tb testing.TB, values kube.Values, path string) any {
	tb.Helper()
	value, ok := values.Get(path)
	require.True(tb, ok, path)
	return value
}

// Plugins of the deployment are on every data plane, one's own on that one alone.
func TestPluginsOfPlanes(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	d := two().WithPlugins(flyte.Spark().WithConfig(kube.Values{"spark-config-default": []any{map[string]any{"spark.executor.memory": "2g"}}})).
		WithDataplanes(flyte.NewDataplane("dp-2", "two").WithPlugins(flyte.Ray(), flyte.Connector("bigquery_query_job_task").
			WithConfig(kube.Values{"defaultConnector": map[string]any{"endpoint": "k8s://flyteconnector.flyte:8000"}})))
	plan := w.plan(t, d)
	var missing []string
	for _, f := range plan.Findings() {
		if f.Code == flyte.CodePlugin {
			assert.Equal(t, planewright.SeverityWarning, f.Severity)
			missing = append(missing, f.Cause)
		}
	}
	assert.ElementsMatch(t, []string{
		"cluster one has no SparkApplication (sparkoperator.k8s.io/v1beta2), so tasks of type spark wait there for ever",
		"cluster two has no SparkApplication (sparkoperator.k8s.io/v1beta2), so tasks of type spark wait there for ever",
		"cluster two has no RayJob (ray.io/v1), so tasks of type ray wait there for ever",
	}, missing)
	w.install(t, d)

	one := configOf(t, w.fleet.Cluster("one"), "flyte-propeller-config", "enabled_plugins.yaml")
	assert.Equal(t, []any{"container", "sidecar", "k8s-array", "connector-service", "echo", "spark"}, got(t, one, "tasks.task-plugins.enabled-plugins"))
	assert.Equal(t, map[string]any{"container": "container", "sidecar": "sidecar", "container_array": "k8s-array", "spark": "spark"}, got(t, one, "tasks.task-plugins.default-for-task-types"))
	spark := configOf(t, w.fleet.Cluster("one"), "flyte-propeller-config", "spark.yaml")
	assert.Equal(t, []any{map[string]any{"spark.executor.memory": "2g"}}, got(t, spark, "plugins.spark.spark-config-default"))

	second := configOf(t, w.fleet.Cluster("two"), "flyte-propeller-config", "enabled_plugins.yaml")
	assert.Equal(t, []any{"container", "sidecar", "k8s-array", "connector-service", "echo", "spark", "ray"}, got(t, second, "tasks.task-plugins.enabled-plugins"))
	assert.Equal(t, "connector-service", got(t, second, "tasks.task-plugins.default-for-task-types.bigquery_query_job_task"))
	k8s := configOf(t, w.fleet.Cluster("two"), "flyte-propeller-config", "k8s.yaml")
	assert.Equal(t, "k8s://flyteconnector.flyte:8000", got(t, k8s, "plugins.connector-service.defaultConnector.endpoint"))
}

func TestPluginsOfASingleCluster(t *testing.T) {
	forEachSource(t, func(t *testing.T, w world) {
		t.Helper()
		d := production().WithPlugins(flyte.Dask())
		_, err := d.Install(t.Context(), w.env)
		require.NoError(t, err)
		config := configOf(t, w.cluster, d.Release()+"-flyte-binary-config", "001-plugins.yaml")
		assert.Contains(t, got(t, config, "tasks.task-plugins.enabled-plugins"), "dask")
		assert.Equal(t, "dask", got(t, config, "tasks.task-plugins.default-for-task-types.dask"))
	})
}

func TestPluginsThatContradictEachOtherAreRefused(t *testing.T) {
	err := two().WithPlugins(flyte.Ray(), flyte.Connector("ray", "no type"), flyte.Plugin{}).
		WithDataplanes(flyte.NewDataplane("dp-2", "two").WithPlugins(flyte.Connector())).Validate()
	require.ErrorIs(t, err, planewright.ErrInvalid)
	for _, text := range []string{
		`plugins[1].taskTypes "ray": one plugin runs the tasks of a type, and ray does`,
		`plugins[1].taskTypes "no type": a task type has`,
		"plugins[2]: a plugin has a name",
		"dataplanes[1].plugins[0].taskTypes: a connector is for one task type or more",
	} {
		require.ErrorContains(t, err, text)
	}
}
