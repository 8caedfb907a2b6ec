package kube_test

import (
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kube/live"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var inventoryRef = kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "flyte", Name: "planewright-flyte-ml"}

func newInventory(t *testing.T) (*kubefake.Fleet, kube.Cluster, planewright.Inventory) {
	t.Helper()
	fleet := kubefake.NewFleet("main")
	t.Cleanup(fleet.Close)
	cluster, err := live.FromConfig("main", fleet.Config("main"))
	require.NoError(t, err)
	_, err = cluster.Objects.Create(t.Context(), namespace("flyte"))
	require.NoError(t, err)
	return fleet, cluster, kube.NewInventory(cluster, "flyte", inventoryRef.Name)
}

// entries are what an install of a namespace and a Secret would remember.
func entries() []planewright.InventoryEntry {
	return []planewright.InventoryEntry{
		{Step: "flyte/ml/namespace", Objects: []planewright.Object{{Cluster: "main", APIVersion: "v1", Kind: "Namespace", Name: "flyte"}}},
		{Step: "flyte/ml/release", Objects: []planewright.Object{{Cluster: "main", APIVersion: planewright.ReleaseAPIVersion, Kind: planewright.ReleaseKind, Namespace: "flyte", Name: "flyte-backend"}}},
	}
}

func TestAnInventoryIsAConfigMap(t *testing.T) {
	fleet, cluster, inventory := newInventory(t)
	loaded, err := inventory.Load(t.Context())
	require.NoError(t, err)
	assert.Empty(t, loaded, "what does not exist has no entries")

	require.NoError(t, inventory.Save(t.Context(), entries()))
	live, err := cluster.Objects.Get(t.Context(), inventoryRef)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"app.kubernetes.io/managed-by": "planewright"}, live.GetLabels())
	text, _, _ := unstructured.NestedString(live.Object, "data", "inventory.json")
	assert.JSONEq(t, `{"version": 1, "entries": [
		{"step": "flyte/ml/namespace", "objects": [{"cluster": "main", "apiVersion": "v1", "kind": "Namespace", "name": "flyte"}]},
		{"step": "flyte/ml/release", "objects": [{"cluster": "main", "apiVersion": "helm.sh/v3", "kind": "Release", "namespace": "flyte", "name": "flyte-backend"}]}]}`, text)

	loaded, err = inventory.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, entries(), loaded)

	require.NoError(t, inventory.Save(t.Context(), entries()[:1]))
	loaded, err = inventory.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, entries()[:1], loaded)

	require.NoError(t, inventory.Save(t.Context(), nil))
	_, err = cluster.Objects.Get(t.Context(), inventoryRef)
	require.ErrorIs(t, err, planewright.ErrNotFound)
	fleet.ForgetCalls()
	require.NoError(t, inventory.Save(t.Context(), nil))
	assert.Zero(t, fleet.Writes("main"), "where there is none, nothing is deleted")
}

func TestAnInventoryThatCannotBeReadIsAnError(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		is   error
	}{
		"no JSON":         {"entries: []", planewright.ErrInvalid},
		"empty":           {"", planewright.ErrInvalid},
		"a newer version": {`{"version": 2, "entries": []}`, planewright.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			_, cluster, inventory := newInventory(t)
			require.NoError(t, inventory.Save(t.Context(), entries()))
			live, err := cluster.Objects.Get(t.Context(), inventoryRef)
			require.NoError(t, err)
			require.NoError(t, unstructured.SetNestedField(live.Object, c.text, "data", "inventory.json"))
			_, err = cluster.Objects.Update(t.Context(), live)
			require.NoError(t, err)

			_, err = inventory.Load(t.Context())
			require.ErrorIs(t, err, c.is)
			assert.ErrorContains(t, err, "ConfigMap flyte/planewright-flyte-ml in cluster main")
		})
	}
}

func TestAConfigMapOfSomebodyElseIsLeftAlone(t *testing.T) {
	fleet, cluster, inventory := newInventory(t)
	_, err := cluster.Objects.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": inventoryRef.Name, "namespace": "flyte"}}})
	require.NoError(t, err)
	fleet.ForgetCalls()
	_, err = inventory.Load(t.Context())
	require.ErrorIs(t, err, planewright.ErrConflict)
	require.ErrorIs(t, inventory.Save(t.Context(), entries()), planewright.ErrConflict)
	require.ErrorIs(t, inventory.Save(t.Context(), nil), planewright.ErrConflict)
	assert.Zero(t, fleet.Writes("main"))
}

func TestAnInventoryOverrulesWhoWroteItInBetween(t *testing.T) {
	_, cluster, inventory := newInventory(t)
	require.NoError(t, inventory.Save(t.Context(), entries()[:1]))
	live, err := cluster.Objects.Get(t.Context(), inventoryRef)
	require.NoError(t, err)
	require.NoError(t, unstructured.SetNestedField(live.Object, `{"version": 1, "entries": []}`, "data", "inventory.json"))
	_, err = cluster.Objects.Update(t.Context(), live)
	require.NoError(t, err)
	require.NoError(t, inventory.Save(t.Context(), entries()))
	loaded, err := inventory.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, entries(), loaded)
}
