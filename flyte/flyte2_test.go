package flyte_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/internal/testcharts"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/live"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// forEachSource2 is forEachSource for the charts of Flyte 2.
func forEachSource2(t *testing.T, test func(t *testing.T, w world)) {
	t.Run("stand-in", func(t *testing.T) {
		w := newWorld(t)
		w.env = w.env.WithCharts(live.ChartFS(testcharts.Flyte2(), "."))
		test(t, w)
	})
	t.Run("published", func(t *testing.T) {
		folder := os.Getenv("PLANEWRIGHT_CHARTS")
		if folder == "" {
			t.Skip("PLANEWRIGHT_CHARTS is not set, so the published chart is not tried")
		}
		w := newWorld(t)
		w.env = w.env.WithCharts(live.ChartArchive(filepath.Join(folder, "flyte-binary-v2.0.42.tgz")))
		test(t, w)
	})
}

// second is a deployment of Flyte 2 that pins what its chart leaves open.
func second() flyte.Deployment {
	return flyte.NewSingleCluster("ml2", flyte.V2_0_42, "main").
		WithStorage(flyte.S3Compatible("acme-flyte2", "https://minio.acme.internal").WithUserDataBucket("acme-data2").WithKeys("flyte", planewright.SecretValue("s3cr3t"))).
		WithDatabase(flyte.Postgres("db.acme.internal", "flyte2").WithPassword(planewright.SecretValue("hunter2"))).
		WithIdentity(flyte.AWSRole("arn:aws:iam::123456789012:role/flyte2")).
		WithValuesYAML("console: {image: {tag: v2.0.0}}")
}

// onMinIO is a deployment of Flyte 1 that starts from no overlay of the chart.
func onMinIO() flyte.Deployment {
	return production().WithStorage(flyte.S3Compatible("acme-flyte", "https://minio.acme.internal").WithKeys("flyte", planewright.SecretValue("s3cr3t")))
}

// field reads an object's field.
func (w world) field(tb testing.TB, kind, name string, path ...string) any {
	tb.Helper()
	version := "v1"
	if kind == "Deployment" {
		version = "apps/v1"
	}
	live, err := w.cluster.Objects.Get(tb.Context(), kube.Ref{APIVersion: version, Kind: kind, Namespace: "flyte", Name: name})
	require.NoError(tb, err)
	value, _, err := unstructured.NestedFieldCopy(live.Object, path...)
	require.NoError(tb, err)
	return value
}

// yamlOf reads a text of an object as YAML.
func yamlOf(tb testing.TB, text any) map[string]any {
	tb.Helper()
	s, _ := text.(string)
	values := map[string]any{}
	require.NoError(tb, yaml.Unmarshal([]byte(s), &values), s)
	return values
}

func TestFlyte2IsInstalledWithValuesInItsShape(t *testing.T) {
	forEachSource2(t, func(t *testing.T, w world) {
		t.Helper()
		report := w.install(t, second())
		assert.Equal(t, []string{"flyte/ml2/namespace", "flyte/ml2/database-secret", "flyte/ml2/storage-secret", "flyte/ml2/release"}, report.Changed())

		const name = "flyte-backend-flyte-binary"
		database := yamlOf(t, w.field(t, "ConfigMap", name+"-config", "data", "002-database.yaml"))
		postgres, _, _ := unstructured.NestedMap(database, "runs", "database", "postgres")
		assert.Equal(t, "db.acme.internal", postgres["host"])
		assert.Equal(t, "flyte2", postgres["dbname"])
		assert.Equal(t, "/etc/flyte/database/password", postgres["passwordPath"])
		assert.Equal(t, "sslmode=require", postgres["options"])

		storage := yamlOf(t, w.field(t, "ConfigMap", name+"-config", "data", "003-storage.yaml"))
		container, _, _ := unstructured.NestedString(storage, "storage", "container")
		assert.Equal(t, "acme-flyte2", container)
		core := yamlOf(t, w.field(t, "ConfigMap", name+"-config", "data", "000-core.yaml"))
		prefix, _, _ := unstructured.NestedString(core, "runs", "storagePrefix")
		assert.Equal(t, "s3://acme-data2", prefix, "what user code writes is told by a URL")
		tasks, _, _ := unstructured.NestedString(core, "actions", "kubernetes", "namespace")
		assert.Equal(t, "flyte", tasks, "tasks run in a namespace that is there")
		plugins := yamlOf(t, w.field(t, "ConfigMap", name+"-config", "data", "001-plugins.yaml"))
		copilot, _, _ := unstructured.NestedString(plugins, "plugins", "k8s", "co-pilot", "storage-config-secret-name")
		assert.Equal(t, "flyte-backend-storage", copilot)

		data, _ := w.field(t, "Secret", "flyte-backend-storage", "data").(map[string]any)
		require.Len(t, data, 1, "co-pilot reads every file in it")
		encoded, _ := data["110-storage-keys.yaml"].(string)
		text, err := base64.StdEncoding.DecodeString(encoded)
		require.NoError(t, err)
		config, _, _ := unstructured.NestedMap(yamlOf(t, string(text)), "storage", "stow", "config")
		assert.Equal(t, map[string]any{"auth_type": "accesskey", "region": "us-east-1", "endpoint": "https://minio.acme.internal", "disable_ssl": false,
			"access_key_id": "flyte", "secret_key": "s3cr3t"}, config, "the whole configuration, for co-pilot takes no half")

		for _, record := range records(t, w) {
			assert.NotContains(t, record, "hunter2")
			assert.NotContains(t, record, "s3cr3t")
		}
		assert.NotNil(t, w.field(t, "Deployment", name+"-console", "spec"))

		plan, err := second().Plan(t.Context(), w.env)
		require.NoError(t, err)
		planewright.AssertNoChanges(t, plan)
		found, err := second().Verify(t.Context(), w.env)
		require.NoError(t, err)
		assert.True(t, found.OK(), found)
		assert.Contains(t, codes(found.Findings), flyte.CodeNoLogin, "Flyte 2 checks no login")
	})
}

func TestFlyte2IsTakenAway(t *testing.T) {
	forEachSource2(t, func(t *testing.T, w world) {
		t.Helper()
		w.install(t, second())
		_, err := second().Uninstall(t.Context(), w.env)
		require.NoError(t, err)
		_, err = w.cluster.Releases.State(t.Context(), "flyte", "flyte-backend")
		require.ErrorIs(t, err, planewright.ErrNotFound)
		_, err = w.cluster.Objects.Get(t.Context(), kube.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "taskactions.flyte.org"})
		require.NoError(t, err, "the definition stays, with every task action")
	})
}

func TestWhatFlyte2LeavesOpenIsTold(t *testing.T) {
	w := newWorld(t)
	w.env = w.env.WithCharts(live.ChartFS(testcharts.Flyte2(), "."))
	open := second().WithValuesYAML("console: {image: {tag: latest}}\ningress: {create: true, host: flyte.acme.example, ingressClassName: nginx}")
	plan, err := open.Plan(t.Context(), w.env)
	require.NoError(t, err)
	severities := map[string]planewright.Severity{}
	for _, f := range plan.Findings() {
		severities[f.Code] = f.Severity
	}
	assert.Equal(t, planewright.SeverityWarning, severities[flyte.CodeNoLogin], "an ingress without a login")
	assert.Equal(t, planewright.SeverityWarning, severities[flyte.CodeImageUnpinned])
}

func TestFlyte2RefusesWhatItHasNoPlaceForWithTheReason(t *testing.T) {
	const planes = "Flyte 2 runs on one cluster: its chart has no planes, and nothing in its configuration names another cluster"
	err := planes2().Validate()
	var invalid *planewright.ValidationError
	require.ErrorAs(t, err, &invalid)
	paths := map[string]string{}
	for _, p := range invalid.Problems {
		paths[p.Path] = p.Rule
		assert.NotEmpty(t, p.Fix)
	}
	assert.Equal(t, planes, paths["controlplane"])
	assert.Equal(t, planes, paths["dataplanes"])
	assert.Equal(t, "Flyte 2 has no execution cluster labels, as there is one cluster", paths["labelMap"])

	for path, d := range map[string]flyte.Deployment{
		"controlplane":                           second().WithControlPlane(flyte.NewControlPlane("main")),
		"plugins":                                second().WithPlugins(flyte.Spark()),
		"auth":                                   second().WithAuth(flyte.OIDC("https://login.acme.example", "flyte", planewright.SecretValue("a"), planewright.SecretValue("b"))),
		"userIdentity":                           second().WithUserIdentity(flyte.AWSRole("arn:aws:iam::123456789012:role/user")),
		"domains":                                second().WithDomains("production"),
		"projects":                               second().WithProjects(flyte.NewProject("team1")),
		"namespaceMapping":                       second().WithNamespaceMapping("{{ project }}"),
		"templateVariables":                      second().WithTemplateVariable("cpu", "1"),
		"host":                                   second().WithHost("flyte.acme.example"),
		"ingress":                                second().WithIngress(flyte.NGINX("tls")),
		"values.configuration.database.host":     second().WithValuesYAML("configuration: {database: {host: db}}"),
		"values.configuration.database.password": second().WithValuesYAML("configuration: {database: {password: x}}"),
		"values.configuration.storage.userDataContainer": second().WithValuesYAML("configuration: {storage: {userDataContainer: b}}"),
		"values.configuration.auth":                      second().WithValuesYAML("configuration: {auth: {enabled: true}}"),
		"values.configmap":                               second().WithValuesYAML("configmap: {admin: {}}"),
		"values.clusterResourceTemplates":                second().WithValuesYAML("clusterResourceTemplates: {inline: {}}"),
	} {
		err := d.Validate()
		require.ErrorAs(t, err, &invalid, path)
		assert.Contains(t, err.Error(), "\n  "+path, "%s", path)
	}
}

// planes2 is a deployment in planes of Flyte 2, which there is none of.
func planes2() flyte.Deployment {
	return flyte.NewDeployment("ml", flyte.V2_0_42).
		WithControlPlane(flyte.NewControlPlane("control")).
		WithDataplanes(flyte.NewDataplane("dp-1", "one")).
		WithLabelMap(flyte.NewLabelMap().WithLabel("cpu", flyte.Weight("dp-1", 1)).WithDefault("cpu"))
}

func TestAChartOfTheOtherFlyteIsRefused(t *testing.T) {
	chart := func(version, values string) kube.ChartSource {
		return chartOf{kube.NewChart("flyte-binary", version, "", "", []kube.ChartFile{{Name: "values.yaml", Data: []byte(values)}})}
	}
	const shape1, shape2 = "configuration: {database: {host: x}}", "configuration: {database: {postgres: {host: x}}}"
	for _, tt := range []struct {
		deployment      flyte.Deployment
		version, values string
		refused         string
	}{
		{second(), "v1.16.8", shape1, "is v1.16.8, of Flyte 1, which is another product under the same name"},
		{second(), "v2.0.42", shape1, "is of Flyte 1, which is another product under the same name"},
		{onMinIO(), "v2.0.42", shape2, "is v2.0.42, of Flyte 2, which is another product under the same name"},
		{onMinIO(), "v1.16.8", shape2, "is of Flyte 2, which is another product under the same name"},
	} {
		w := newWorld(t)
		_, err := tt.deployment.Install(t.Context(), w.env.WithCharts(chart(tt.version, tt.values)))
		require.ErrorIs(t, err, planewright.ErrInvalid)
		require.ErrorContains(t, err, tt.refused)
		assert.Zero(t, w.fleet.Writes("main"))
	}
}

func TestFlyte1IsNotUpgradedToFlyte2(t *testing.T) {
	w := newWorld(t)
	w.install(t, production())
	moved := flyte.NewSingleCluster("ml", flyte.V2_0_42, "main").
		WithStorage(flyte.S3("acme-flyte2", "us-east-1")).
		WithDatabase(flyte.Postgres("db.acme.internal", "flyte2").WithPassword(planewright.SecretValue("hunter2")))
	_, err := moved.Install(t.Context(), w.env.WithCharts(live.ChartFS(testcharts.Flyte2(), ".")))
	require.Error(t, err)
	assert.ErrorContains(t, err, "another product")
}

func ExampleDeployment_Moving() {
	deployment := flyte.NewSingleCluster("ml", flyte.V1_16_8, "main").
		WithStorage(flyte.S3("acme-flyte", "us-east-1")).
		WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretFromEnv("FLYTE_DB"))).
		WithProjects(flyte.NewProject("team1"))
	for _, need := range deployment.Moving(flyte.V2_0_42) {
		fmt.Println(need.Severity, need.Cause)
	}
	// Output:
	// error projects: Flyte 2 has its projects behind its own API, not in the chart's values
	// warning Flyte 1 and Flyte 2 do not read each other's database: projects, executions and schedules stay where they are
	// warning a Helm release cannot be upgraded from one to the other
	// warning workflows are written with another SDK and have to be registered again
}
