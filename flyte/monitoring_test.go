package flyte_test

import (
	"testing"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var serviceMonitor = schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"}

// serviceMonitors is the definition that the Prometheus operator brings.
func serviceMonitors() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "servicemonitors.monitoring.coreos.com"},
		"spec": map[string]any{
			"group": "monitoring.coreos.com", "scope": "Namespaced",
			"names": map[string]any{"kind": "ServiceMonitor", "listKind": "ServiceMonitorList", "plural": "servicemonitors", "singular": "servicemonitor"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}},
		},
	}}
}

func TestMetricsOfEveryPlaneAreCollected(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	d := two().WithMonitoring(flyte.ServiceMonitors(map[string]string{"release": "prometheus"}).WithInterval(30 * time.Second))
	plan := w.plan(t, d)
	missing := 0
	for _, f := range plan.Findings() {
		if f.Code == flyte.CodeMonitoring {
			missing++
			assert.Equal(t, planewright.SeverityError, f.Severity)
		}
	}
	assert.Equal(t, 3, missing, "one in each cluster, before anything is written")
	require.Error(t, plan.Err())

	for _, name := range w.fleet.Names() {
		w.fleet.Configure(name, kubefake.WithObjects(serviceMonitors()))
		require.Eventually(t, func() bool { // A definition is served a little later.
			served, err := w.fleet.Cluster(name).Facts.Serves(t.Context(), serviceMonitor)
			return err == nil && served[serviceMonitor]
		}, 10*time.Second, 5*time.Millisecond)
	}
	w.install(t, d)
	for cluster, names := range map[string][]string{"control": {"flyteadmin", "flytescheduler", "datacatalog"}, "one": {"flytepropeller"}, "two": {"flytepropeller"}} {
		for _, name := range names {
			monitor := w.object(t, cluster, "monitoring.coreos.com/v1", "ServiceMonitor", "flyte", name)
			assert.Equal(t, "prometheus", monitor.GetLabels()["release"])
			endpoints, _, _ := unstructured.NestedSlice(monitor.Object, "spec", "endpoints")
			require.Len(t, endpoints, 1)
			endpoint, _ := endpoints[0].(map[string]any)
			assert.Equal(t, "30s", endpoint["interval"])
			assert.Equal(t, "15s", endpoint["scrapeTimeout"])
		}
	}
	planewright.AssertNoChanges(t, w.plan(t, d))
}

func TestMonitoringThatCannotBeIsRefused(t *testing.T) {
	err := production().WithMonitoring(flyte.ServiceMonitors(map[string]string{"a b": "c"}).WithInterval(time.Millisecond)).Validate()
	require.ErrorIs(t, err, planewright.ErrInvalid)
	for _, text := range []string{"the chart flyte-binary has no ServiceMonitors", `monitoring.interval "1ms": an interval is whole seconds`, `monitoring.labels "a b=c"`} {
		require.ErrorContains(t, err, text)
	}
}
