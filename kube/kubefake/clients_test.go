package kubefake_test

import (
	"testing"

	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestATypedClientCreatesReadsUpdatesAndDeletes(t *testing.T) {
	ctx := t.Context()
	fleet := kubefake.NewFleet("dp-1")
	defer fleet.Close()
	c, err := kubernetes.NewForConfig(fleet.Config("dp-1"))
	require.NoError(t, err)
	secrets := c.CoreV1().Secrets("default")

	made, err := secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "db"}, StringData: map[string]string{"password": "hunter2"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, map[string][]byte{"password": []byte("hunter2")}, made.Data)
	assert.NotEmpty(t, made.UID)

	_, err = secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "db"}}, metav1.CreateOptions{})
	assert.True(t, apierrors.IsAlreadyExists(err), "%v", err)

	read, err := secrets.Get(ctx, "db", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, made.ResourceVersion, read.ResourceVersion)

	again, err := secrets.Update(ctx, read, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, made.ResourceVersion, again.ResourceVersion, "an update that changes nothing is not stored")

	read.Data["user"] = []byte("flyte")
	changed, err := secrets.Update(ctx, read, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.NotEqual(t, made.ResourceVersion, changed.ResourceVersion)

	_, err = secrets.Update(ctx, read, metav1.UpdateOptions{})
	assert.True(t, apierrors.IsConflict(err), "%v", err)

	require.NoError(t, secrets.Delete(ctx, "db", metav1.DeleteOptions{}))
	_, err = secrets.Get(ctx, "db", metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), "%v", err)
	for _, c := range fleet.Calls() {
		t.Log(c)
	}
}

func TestControllerRuntimeAppliesFields(t *testing.T) {
	ctx := t.Context()
	fleet := kubefake.NewFleet("dp-1")
	defer fleet.Close()
	c, err := client.New(fleet.Config("dp-1"), client.Options{})
	require.NoError(t, err)

	apply := func(manager string, data map[string]string, opts ...client.ApplyOption) error {
		return c.Apply(ctx, applycorev1.ConfigMap("settings", "default").WithData(data), append(opts, client.FieldOwner(manager))...)
	}
	require.NoError(t, apply("one", map[string]string{"a": "1"}))
	err = apply("two", map[string]string{"a": "2"})
	require.True(t, apierrors.IsConflict(err), "%v", err)
	t.Log(err)
	require.NoError(t, apply("two", map[string]string{"a": "2"}, client.ForceOwnership))
	cm := &corev1.ConfigMap{}
	require.NoError(t, c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "settings"}, cm))
	assert.Equal(t, map[string]string{"a": "2"}, cm.Data)
	for _, c := range fleet.Calls() {
		t.Log(c)
	}
}
