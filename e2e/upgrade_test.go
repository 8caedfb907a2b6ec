package e2e_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/internal/testcharts"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/live"
)

// everyVersion gives out the charts of our own as those of any version.
type everyVersion struct{}

func (everyVersion) Chart(ctx context.Context, ref kube.ChartRef) (*kube.Chart, error) {
	return live.ChartFS(testcharts.At(ref.Version), ".").Chart(ctx, ref)
}

// versionedCharts are sources that have several versions of a chart.
func versionedCharts(t *testing.T) map[string]kube.ChartSource {
	t.Helper()
	sources := map[string]kube.ChartSource{"own charts": everyVersion{}}
	if folder := os.Getenv("PLANEWRIGHT_CHARTS"); folder != "" {
		sources["published charts"] = live.ChartFolder(folder)
	} else {
		t.Log("PLANEWRIGHT_CHARTS is not set: the published charts are not upgraded, only our own")
	}
	return sources
}

// helmValues are the values of a release, as the helm command has them.
func helmValues(t *testing.T, cluster, release string, args ...string) map[string]any {
	t.Helper()
	var values map[string]any
	require.NoError(t, json.Unmarshal([]byte(helm(t, cluster, append([]string{"get", "values", release, "-n", "flyte", "-o", "json"}, args...)...)), &values))
	return values
}

// executions is the client of the custom resource that Flyte keeps executions in.
func executions(t *testing.T, cluster string) dynamic.ResourceInterface {
	t.Helper()
	config, err := world.stack.RESTConfig(cluster)
	require.NoError(t, err)
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	return client.Resource(schema.GroupVersionResource{Group: "flyte.lyft.com", Version: "v1alpha1", Resource: "flyteworkflows"}).Namespace("flyte")
}

// definition is the uid of the executions' CustomResourceDefinition: another
// one would have taken every execution with it.
func definition(t *testing.T, cluster string) string {
	t.Helper()
	config, err := world.stack.RESTConfig(cluster)
	require.NoError(t, err)
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	crd, err := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}).
		Get(t.Context(), "flyteworkflows.flyte.lyft.com", metav1.GetOptions{})
	require.NoError(t, err)
	return string(crd.GetUID())
}

// An upgrade over a minor release keeps the definition of executions and the
// executions; a rollback, by the version before or by the helm command, brings
// the old values back.
func TestAnUpgradeKeepsExecutionsAndIsRolledBackOnRealClusters(t *testing.T) {
	for name, charts := range versionedCharts(t) {
		t.Run(name, func(t *testing.T) {
			env := flyte.NewEnv().WithCharts(charts).WithoutAdmin()
			for _, cluster := range []string{"control", "dp-1"} {
				handle, err := live.FromKubeconfig(world.stack.Kubeconfig(cluster), cluster)
				require.NoError(t, err)
				env = env.WithClusters(handle)
			}
			newer := flyte.NewDeployment("rises", flyte.V1_16_8).
				WithStorage(flyte.S3("acme-flyte", "us-east-1")).
				WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("correct-horse-battery"))).
				WithControlPlane(flyte.NewControlPlane("control").WithHost("flyte.acme.example").WithIngress(flyte.NGINX("flyte-tls"))).
				WithDataplanes(flyte.NewDataplane("dp-1", "dp-1"))
			older := newer.WithVersion(flyte.V1_15_3)

			_, err := older.Install(t.Context(), env)
			require.NoError(t, err)
			_, err = executions(t, "dp-1").Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "flyte.lyft.com/v1alpha1", "kind": "FlyteWorkflow",
				"metadata": map[string]any{"name": "f1a2b3c4d5", "labels": map[string]any{"execution-id": "f1a2b3c4d5"}},
			}}, metav1.CreateOptions{})
			require.NoError(t, err)
			crd := definition(t, "dp-1")
			control, data := helmValues(t, "control", "flyte-core"), helmValues(t, "dp-1", "flyte-core-data")

			plan, err := newer.Plan(t.Context(), env)
			require.NoError(t, err)
			require.NoError(t, plan.Err())
			assert.Contains(t, plan.String(), "chart: flyte-core v1.15.3 → flyte-core v1.16.8")
			assert.Contains(t, plan.String(), "pg_dump")
			_, err = newer.Install(t.Context(), env)
			require.NoError(t, err)
			kept := func(when string) {
				t.Helper()
				assert.Equal(t, crd, definition(t, "dp-1"), when)
				_, err := executions(t, "dp-1").Get(t.Context(), "f1a2b3c4d5", metav1.GetOptions{})
				assert.NoError(t, err, when)
			}
			kept("after the upgrade")
			plan, err = newer.Plan(t.Context(), env)
			require.NoError(t, err)
			planewright.AssertNoChanges(t, plan)

			_, err = older.Install(t.Context(), env)
			require.NoError(t, err)
			kept("after the version before")
			assert.Equal(t, control, helmValues(t, "control", "flyte-core"))
			assert.Equal(t, data, helmValues(t, "dp-1", "flyte-core-data"))

			_, err = newer.Install(t.Context(), env)
			require.NoError(t, err)
			helm(t, "dp-1", "rollback", "flyte-core-data", "1", "-n", "flyte")
			kept("after helm's own rollback")
			assert.Equal(t, data, helmValues(t, "dp-1", "flyte-core-data"))
			plan, err = older.Plan(t.Context(), env)
			require.NoError(t, err)
			step, _ := plan.Step("flyte/rises/dataplanes/dp-1/release")
			assert.Equal(t, planewright.ActionNone, step.Change.Action, "what helm rolled back is what the version before wants: %v", step.Change.Diff)

			require.NoError(t, executions(t, "dp-1").Delete(t.Context(), "f1a2b3c4d5", metav1.DeleteOptions{}))
			_, err = older.Uninstall(t.Context(), env)
			require.NoError(t, err)
		})
	}
}
