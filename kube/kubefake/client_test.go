package kubefake_test

import (
	"testing"

	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"
)

func TestTypedClientsWorkInJSONAndProtobuf(t *testing.T) {
	for name, contentType := range map[string]string{
		"as client-go chooses": "", "JSON": "application/json", "protobuf": "application/vnd.kubernetes.protobuf",
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			fleet := kubefake.NewFleet("dp-1")
			t.Cleanup(fleet.Close)
			config := fleet.Config("dp-1")
			config.ContentType = contentType
			c, err := kubernetes.NewForConfig(config)
			require.NoError(t, err)
			secrets := c.CoreV1().Secrets("default")

			obj := secret("db")
			obj.StringData = map[string]string{"password": "hunter2"}
			made, err := secrets.Create(ctx, obj, metav1.CreateOptions{})
			require.NoError(t, err)
			assert.Equal(t, map[string][]byte{"password": []byte("hunter2")}, made.Data)
			assert.Empty(t, made.StringData)
			assert.NotEmpty(t, made.UID)
			assert.False(t, made.CreationTimestamp.IsZero())

			_, err = secrets.Create(ctx, secret("db"), metav1.CreateOptions{})
			assert.True(t, apierrors.IsAlreadyExists(err), "%v", err)

			same, err := secrets.Update(ctx, made, metav1.UpdateOptions{})
			require.NoError(t, err)
			assert.Equal(t, made.ResourceVersion, same.ResourceVersion, "an update that changes nothing is not stored")

			same.Data["user"] = []byte("flyte")
			changed, err := secrets.Update(ctx, same, metav1.UpdateOptions{})
			require.NoError(t, err)
			assert.NotEqual(t, made.ResourceVersion, changed.ResourceVersion)
			_, err = secrets.Update(ctx, same, metav1.UpdateOptions{})
			assert.True(t, apierrors.IsConflict(err), "%v", err)

			patched, err := secrets.Patch(ctx, "db", types.StrategicMergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
			require.NoError(t, err)
			assert.Equal(t, map[string]string{"a": "b"}, patched.Labels)

			list, err := secrets.List(ctx, metav1.ListOptions{LabelSelector: "a=b", FieldSelector: "type=Opaque"})
			require.NoError(t, err)
			require.Len(t, list.Items, 1)
			assert.Empty(t, list.Items[0].Kind, "like the real server, a list does not repeat the type in each item")
			assert.NotEmpty(t, list.ResourceVersion)

			require.NoError(t, secrets.Delete(ctx, "db", metav1.DeleteOptions{}))
			_, err = secrets.Get(ctx, "db", metav1.GetOptions{})
			assert.True(t, apierrors.IsNotFound(err), "%v", err)
		})
	}
}

func TestControllerRuntimeApplies(t *testing.T) {
	ctx := t.Context()
	fleet := kubefake.NewFleet("dp-1")
	t.Cleanup(fleet.Close)
	c, err := ctrlclient.New(fleet.Config("dp-1"), ctrlclient.Options{})
	require.NoError(t, err)
	apply := func(manager, value string, opts ...ctrlclient.ApplyOption) error {
		cm := applycorev1.ConfigMap("settings", "default").WithData(map[string]string{"a": value})
		return c.Apply(ctx, cm, append(opts, ctrlclient.FieldOwner(manager))...)
	}
	require.NoError(t, apply("one", "1"))
	err = apply("two", "2")
	require.True(t, apierrors.IsConflict(err), "%v", err)
	require.EqualError(t, err, `Apply failed with 1 conflict: conflict with "one": .data.a`)

	fleet.ForgetCalls()
	require.NoError(t, apply("two", "2", ctrlclient.ForceOwnership, ctrlclient.DryRunAll))
	require.NoError(t, apply("one", "1"))
	assert.Zero(t, fleet.Writes("dp-1"), "neither a dry run nor an apply that changes nothing is stored")

	require.NoError(t, apply("two", "2", ctrlclient.ForceOwnership))
	cm := &corev1.ConfigMap{}
	require.NoError(t, c.Get(ctx, ctrlclient.ObjectKey{Namespace: "default", Name: "settings"}, cm))
	assert.Equal(t, map[string]string{"a": "2"}, cm.Data)
}

func TestDynamicAndMetadataClientsWork(t *testing.T) {
	ctx := t.Context()
	fleet := kubefake.NewFleet("dp-1")
	t.Cleanup(fleet.Close)
	configmaps := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	d, err := dynamic.NewForConfig(fleet.Config("dp-1"))
	require.NoError(t, err)
	made, err := d.Resource(configmaps).Namespace("default").Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "labels": map[string]any{"x": "y"}}, "data": map[string]any{"big": "content"},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)

	m, err := metadata.NewForConfig(fleet.Config("dp-1"))
	require.NoError(t, err)
	partial, err := m.Resource(configmaps).Namespace("default").Get(ctx, "a", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, made.GetUID(), partial.UID)
	list, err := m.Resource(configmaps).Namespace("default").List(ctx, metav1.ListOptions{LabelSelector: "x"})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	assert.Equal(t, "a", list.Items[0].Name)
}

func TestWarningsReachTheClient(t *testing.T) {
	fleet := kubefake.NewFleet("dp-1")
	t.Cleanup(fleet.Close)
	warned := &warnings{}
	config := fleet.Config("dp-1")
	config.WarningHandler = warned
	c, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	err = c.CoreV1().RESTClient().Post().Namespace("default").Resource("configmaps").SetHeader("Content-Type", "application/json").
		Body([]byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"daat":{"a":"b"}}`)).Do(t.Context()).Error()
	require.NoError(t, err)
	assert.Equal(t, []string{`unknown field "daat"`}, warned.texts)
}

type warnings struct{ texts []string }

func (w *warnings) HandleWarningHeader(_ int, _, text string) { w.texts = append(w.texts, text) }

var _ rest.WarningHandler = (*warnings)(nil)
