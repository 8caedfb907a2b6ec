package kubefake_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

func TestADeploymentBecomesAvailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		fleet := kubefake.NewFleet("dp-1")
		c := kubernetes.NewForConfigOrDie(fleet.Config("dp-1"))
		two := int32(2)
		labels := map[string]string{"app": "admin"}
		_, err := c.AppsV1().Deployments("default").Create(ctx, &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: "admin"},
			Spec: appsv1.DeploymentSpec{Replicas: &two, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "admin", Image: "admin:1"}}},
			}},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		time.Sleep(time.Second)
		d, err := c.AppsV1().Deployments("default").Get(ctx, "admin", metav1.GetOptions{})
		require.NoError(t, err)
		assert.EqualValues(t, 2, d.Status.AvailableReplicas)
		t.Logf("%+v", d.Status)
		pods, err := c.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		for _, p := range pods.Items {
			t.Log(p.Name, p.Spec.NodeName, p.Status.Phase)
		}
		require.NoError(t, c.AppsV1().Deployments("default").Delete(ctx, "admin", metav1.DeleteOptions{}))
		time.Sleep(time.Second)
		pods, err = c.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		assert.Empty(t, pods.Items)
	})
}
