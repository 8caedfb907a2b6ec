package flyte_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/internal/testcharts"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/live"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// everyVersion gives out the charts of our own as those of any version.
type everyVersion struct{}

func (everyVersion) Chart(ctx context.Context, ref kube.ChartRef) (*kube.Chart, error) {
	return live.ChartFS(testcharts.At(ref.Version), ".").Chart(ctx, ref)
}

// forEachVersionedSource runs a test with charts of our own, and with the
// published ones where they are to be had.
func forEachVersionedSource(t *testing.T, test func(t *testing.T, charts kube.ChartSource)) {
	t.Helper()
	t.Run("stand-in", func(t *testing.T) { test(t, everyVersion{}) })
	t.Run("published", func(t *testing.T) {
		folder := os.Getenv("PLANEWRIGHT_CHARTS")
		if folder == "" {
			t.Skip("PLANEWRIGHT_CHARTS is not set, so the published charts are not tried")
		}
		test(t, live.ChartFolder(folder))
	})
}

// valuesOf are those that a release's newest record holds.
func valuesOf(t *testing.T, cluster kube.Cluster, release string) map[string]any {
	t.Helper()
	list, err := cluster.Objects.List(t.Context(), kube.ListRequest{APIVersion: "v1", Kind: "Secret", Namespace: "flyte", Labels: "owner=helm,name=" + release + ",status=deployed"})
	require.NoError(t, err)
	require.Len(t, list, 1)
	data, _, _ := unstructured.NestedString(list[0].Object, "data", "release")
	var record struct {
		Config map[string]any `json:"config"`
	}
	require.NoError(t, json.Unmarshal([]byte(unpack(t, data)), &record))
	return record.Config
}

// An upgrade of a minor release keeps the definition of executions and every
// execution; the way back is an install of the version before.
func TestAnUpgradeFromV1_15_3AndBack(t *testing.T) {
	forEachVersionedSource(t, func(t *testing.T, charts kube.ChartSource) {
		t.Helper()
		w := newPlanesWorld(t, "one", "two")
		w.env = w.env.WithCharts(charts)
		older, newer := two().WithVersion(flyte.V1_15_3), two()
		w.install(t, older)
		w.run(t, "one", "f1a2b3c4d5", "")
		definition := w.object(t, "one", "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "flyteworkflows.flyte.lyft.com").GetUID()
		execution := w.object(t, "one", "flyte.lyft.com/v1alpha1", "FlyteWorkflow", "flyte", "f1a2b3c4d5").GetUID()
		before := map[string]map[string]any{"control": valuesOf(t, w.fleet.Cluster("control"), "flyte-core"), "one": valuesOf(t, w.fleet.Cluster("one"), "flyte-core-data")}

		plan := w.plan(t, newer)
		require.NoError(t, plan.Err())
		assert.Equal(t, map[string]planewright.Action{
			"flyte/ml/controlplane/release":    planewright.ActionUpdate,
			"flyte/ml/dataplanes/dp-1/release": planewright.ActionUpdate,
			"flyte/ml/dataplanes/dp-2/release": planewright.ActionUpdate,
		}, actions(plan))
		assert.Contains(t, plan.String(), "chart: flyte-core v1.15.3 → flyte-core v1.16.8")
		assert.Len(t, about(plan.Findings(), flyte.CodeBackup), 1, "there is one database")
		assert.Contains(t, about(plan.Findings(), flyte.CodeBackup)[0], "pg_dump --host=db.acme.internal --port=5432 --username=flyteadmin --format=custom --file=flyteadmin-v1.15.3.dump flyteadmin")
		assert.Contains(t, about(plan.Findings(), flyte.CodeVersionChange), "info [version-change] Release flyte/flyte-core in cluster control: since v1.16.0 the Service datacatalog has no port 88 (http) any more; gRPC stays at port 89; fix: point whoever asks for its metrics to the port http-metrics (10254)")
		assert.Len(t, about(plan.Findings(), flyte.CodeVersionChange), 2, "data planes have neither Service")
		assert.NotContains(t, codes(plan.Findings()), flyte.CodeFixedField)
		assert.NotContains(t, codes(plan.Findings()), flyte.CodeDeletes)

		w.install(t, newer)
		assert.Empty(t, actions(w.plan(t, newer)))
		kept := func() {
			t.Helper()
			assert.Equal(t, definition, w.object(t, "one", "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "flyteworkflows.flyte.lyft.com").GetUID())
			assert.Equal(t, execution, w.object(t, "one", "flyte.lyft.com/v1alpha1", "FlyteWorkflow", "flyte", "f1a2b3c4d5").GetUID())
		}
		kept()

		back := w.plan(t, older)
		require.NoError(t, back.Err())
		assert.Contains(t, codes(back.Findings()), flyte.CodeDowngrade)
		assert.NotContains(t, codes(back.Findings()), flyte.CodeBackup)
		w.install(t, older)
		kept()
		assert.Equal(t, before["control"], valuesOf(t, w.fleet.Cluster("control"), "flyte-core"))
		assert.Equal(t, before["one"], valuesOf(t, w.fleet.Cluster("one"), "flyte-core-data"))
	})
}

func TestASingleClusterIsUpgradedFromV1_15_3(t *testing.T) {
	forEachVersionedSource(t, func(t *testing.T, charts kube.ChartSource) {
		t.Helper()
		w := newWorld(t)
		w.env = w.env.WithCharts(charts)
		w.install(t, production().WithVersion(flyte.V1_15_3))
		before := valuesOf(t, w.cluster, "flyte-backend")
		plan, err := production().Plan(t.Context(), w.env)
		require.NoError(t, err)
		planewright.AssertTouchesOnly(t, plan, "flyte/ml/release")
		assert.Len(t, about(plan.Findings(), flyte.CodeBackup), 1)
		w.install(t, production())
		assert.NotEqual(t, before, valuesOf(t, w.cluster, "flyte-backend"))
		w.install(t, production().WithVersion(flyte.V1_15_3))
		assert.Equal(t, before, valuesOf(t, w.cluster, "flyte-backend"))
	})
}

// What a user's raw values say in the words of the version before is told with
// the words of the one that is to come.
func TestRawValuesThatAnUpgradeLeavesBehind(t *testing.T) {
	w := newWorld(t)
	w.env = w.env.WithCharts(everyVersion{})
	old := production().WithValuesYAML(`
flyteagent: {enabled: false}
configuration:
  agentService: {defaultAgent: {insecure: true}}
  inline: {tasks: {task-plugins: {enabled-plugins: [container, agent-service]}}}
`)
	plan, err := old.WithVersion(flyte.V1_15_3).Plan(t.Context(), w.env)
	require.NoError(t, err)
	assert.Empty(t, about(plan.Findings(), flyte.CodeTrap, flyte.CodeUnreadValue, flyte.CodeVersionChange), "they are right for it")
	w.install(t, old.WithVersion(flyte.V1_15_3))
	plan, err = old.Plan(t.Context(), w.env)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"warning [value-trap] the raw value flyteagent: no template reads it since v1.16.0; agents are called connectors; fix: use flyteconnector",
		"warning [value-trap] the raw value configuration.agentService: no template reads it since v1.16.0; agents are called connectors; fix: use configuration.connectorService, with defaultConnector for defaultAgent",
		"warning [version-change] Release flyte/flyte-backend in cluster main: the raw value configuration.inline.tasks: since v1.16.0 the plugin agent-service is called connector-service, and flytepropeller knows the old name no longer; fix: write connector-service, among the enabled plugins and in default-for-task-types",
	}, about(plan.Findings(), flyte.CodeTrap, flyte.CodeUnreadValue, flyte.CodeVersionChange))

	plan, err = production().WithVersion(flyte.V1_15_3).WithValuesYAML("flyteconnector: {enabled: false}").Plan(t.Context(), newWorldOf(t, everyVersion{}).env)
	require.NoError(t, err)
	assert.Contains(t, about(plan.Findings(), flyte.CodeTrap), "warning [value-trap] the raw value flyteconnector: it has this name since v1.16.0; before, it is called flyteagent; fix: use flyteagent")
}

// A removed value is right for the version before, and refused for the one that
// fails on it, in its own words, before a cluster is touched.
func TestARemovedValueIsRefusedByTheVersionThatRemovedIt(t *testing.T) {
	raw := "flyteadmin: {serviceAccount: {createClusterRole: true}}"
	require.NoError(t, two().WithVersion(flyte.V1_15_3).WithControlPlane(controlPlane().WithValuesYAML(raw)).Validate())
	got := problems(t, two().WithControlPlane(controlPlane().WithValuesYAML(raw)))
	require.Len(t, got, 1)
	assert.Equal(t, "controlplane.values.flyteadmin.serviceAccount.createClusterRole", got[0].Path)
	assert.Equal(t, "use flyteadmin.serviceAccount.rbac", got[0].Fix)
}

func newWorldOf(t *testing.T, charts kube.ChartSource) world {
	t.Helper()
	w := newWorld(t)
	w.env = w.env.WithCharts(charts)
	return w
}

// A field that the API server lets nobody change is named before anything is
// written: Helm would find out half-way.
func TestAFixedFieldIsNamedBeforeTheWrite(t *testing.T) {
	w := newWorld(t)
	w.install(t, production())
	plain, err := standIns().Chart(t.Context(), kube.ChartRef{Name: "flyte-binary", Version: "v1.16.8"})
	require.NoError(t, err)
	files := plain.Files()
	for i, f := range files {
		files[i].Data = bytes.ReplaceAll(f.Data, []byte("app.kubernetes.io/component: flyte-binary"), []byte("app.kubernetes.io/component: flyte"))
	}
	changed := kube.NewChart("flyte-binary", "v1.16.8", "1.16.0", "", files)
	w.env = w.env.WithCharts(chartOf{changed})
	before := w.fleet.Writes("main")
	_, err = production().Install(t.Context(), w.env)
	require.ErrorIs(t, err, planewright.ErrBlocked)
	require.ErrorContains(t, err, "the API server lets nobody change spec.selector.matchLabels")
	require.ErrorContains(t, err, "kubectl -n flyte delete deployment flyte-backend-flyte-binary")
	assert.Equal(t, before, w.fleet.Writes("main"), "nothing is written")
}
