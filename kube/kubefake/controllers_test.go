package kubefake_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

func deployment(t *testing.T, replicas int, extra string) *appsv1.Deployment {
	t.Helper()
	return parse[appsv1.Deployment](t, fmt.Sprintf(`
metadata: {name: app}
spec:
  replicas: %d
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      containers: [{name: main, image: "registry.example/app:1"}]
      %s
`, replicas, extra))
}

func createDeployment(t *testing.T, c *kubernetes.Clientset, d *appsv1.Deployment) {
	t.Helper()
	_, err := c.AppsV1().Deployments("default").Create(t.Context(), d, metav1.CreateOptions{})
	require.NoError(t, err)
	settle()
}

func getDeployment(t *testing.T, c *kubernetes.Clientset) *appsv1.Deployment {
	t.Helper()
	d, err := c.AppsV1().Deployments("default").Get(t.Context(), "app", metav1.GetOptions{})
	require.NoError(t, err)
	return d
}

// pods tells where the pods are and what they run: "node-1 registry.example/app:1 Running".
func pods(t *testing.T, c *kubernetes.Clientset) []string {
	t.Helper()
	list, err := c.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	var where []string
	for _, p := range list.Items {
		where = append(where, strings.TrimSpace(p.Spec.NodeName+" "+p.Spec.Containers[0].Image+" "+string(p.Status.Phase)))
	}
	return where
}

func events(t *testing.T, c *kubernetes.Clientset) string {
	t.Helper()
	list, err := c.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{FieldSelector: "type=Warning"})
	require.NoError(t, err)
	var lines []string
	for _, e := range list.Items {
		lines = append(lines, e.InvolvedObject.Kind+" "+e.Reason+": "+e.Message)
	}
	return strings.Join(lines, "\n")
}

const image2 = `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"registry.example/app:2"}]}}}}`

func upgrade(t *testing.T, c *kubernetes.Clientset) {
	t.Helper()
	_, err := c.AppsV1().Deployments("default").Patch(t.Context(), "app", types.StrategicMergePatchType, []byte(image2), metav1.PatchOptions{})
	require.NoError(t, err)
	settle()
}

func condition(d *appsv1.Deployment, kind appsv1.DeploymentConditionType) string {
	for _, c := range d.Status.Conditions {
		if c.Type == kind {
			return string(c.Status) + " " + c.Reason
		}
	}
	return ""
}

func TestADeploymentRollsOut(t *testing.T) {
	bubble(t, func(t *testing.T, _ *kubefake.Fleet, c *kubernetes.Clientset) {
		createDeployment(t, c, deployment(t, 3, ""))
		d := getDeployment(t, c)
		assert.EqualValues(t, 1, d.Status.ObservedGeneration)
		assert.EqualValues(t, 3, d.Status.AvailableReplicas)
		assert.Equal(t, "True MinimumReplicasAvailable", condition(d, appsv1.DeploymentAvailable))
		assert.Equal(t, "True NewReplicaSetAvailable", condition(d, appsv1.DeploymentProgressing))
		assert.Equal(t, "1", d.Annotations["deployment.kubernetes.io/revision"])
		assert.ElementsMatch(t, []string{"node-1 registry.example/app:1 Running", "node-2 registry.example/app:1 Running", "node-3 registry.example/app:1 Running"}, pods(t, c))

		upgrade(t, c)
		d = getDeployment(t, c)
		assert.EqualValues(t, 2, d.Status.ObservedGeneration)
		assert.EqualValues(t, 3, d.Status.UpdatedReplicas)
		assert.Equal(t, "2", d.Annotations["deployment.kubernetes.io/revision"])
		for _, p := range pods(t, c) {
			assert.Contains(t, p, "app:2")
		}

		_, err := c.AppsV1().Deployments("default").Patch(t.Context(), "app", types.MergePatchType, []byte(`{"spec":{"replicas":1}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		settle()
		assert.Len(t, pods(t, c), 1)

		require.NoError(t, c.AppsV1().Deployments("default").Delete(t.Context(), "app", metav1.DeleteOptions{}))
		settle()
		assert.Empty(t, pods(t, c), "they belonged to it")
		sets, err := c.AppsV1().ReplicaSets("default").List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.Empty(t, sets.Items)
	})
}

func TestAnUpgradeOfSpreadReplicasHangsWithoutASpareNode(t *testing.T) {
	const apart = `affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: app}}}]}}`
	bubble(t, func(t *testing.T, fleet *kubefake.Fleet, c *kubernetes.Clientset) {
		fleet.Configure("dp-1", kubefake.WithNodes(kubefake.Nodes(2, "amd64")...))
		createDeployment(t, c, deployment(t, 2, apart))
		assert.EqualValues(t, 2, getDeployment(t, c).Status.AvailableReplicas)

		upgrade(t, c)
		<-time.After(time.Hour)
		d := getDeployment(t, c)
		assert.EqualValues(t, 1, d.Status.UpdatedReplicas)
		assert.EqualValues(t, 2, d.Status.AvailableReplicas, "the old ones go on")
		assert.Equal(t, "False ProgressDeadlineExceeded", condition(d, appsv1.DeploymentProgressing))
		assert.Contains(t, events(t, c), "Pod FailedScheduling: 0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules.")

		fleet.Configure("dp-1", kubefake.WithNodes(kubefake.Nodes(3, "amd64")...))
		settle()
		d = getDeployment(t, c)
		assert.EqualValues(t, 2, d.Status.UpdatedReplicas, "a third node lets it finish")
		assert.Equal(t, "True NewReplicaSetAvailable", condition(d, appsv1.DeploymentProgressing))
	})
}

func TestPodsWaitForANodeThatSuitsThem(t *testing.T) {
	for name, tc := range map[string]struct {
		nodes []kube.Node
		extra string
		event string
	}{
		"no nodes":       {nil, "", "no nodes available to schedule pods"},
		"cordoned":       {[]kube.Node{{Name: "a", Ready: true}}, "", "0/1 nodes are available: 1 node(s) were unschedulable."},
		"not ready":      {[]kube.Node{{Name: "a", Schedulable: true}}, "", "0/1 nodes are available: 1 node(s) had untolerated taint(s)."},
		"other selector": {kubefake.Nodes(2, "arm64"), "nodeSelector: {kubernetes.io/arch: amd64}", "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector."},
		"claim missing":  {kubefake.Nodes(1, "amd64"), "volumes: [{name: data, persistentVolumeClaim: {claimName: nothing}}]", `persistentvolumeclaim "nothing" not found`},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, fleet *kubefake.Fleet, c *kubernetes.Clientset) {
				fleet.Configure("dp-1", kubefake.WithNodes(tc.nodes...))
				createDeployment(t, c, deployment(t, 1, tc.extra))
				assert.Equal(t, []string{"registry.example/app:1 Pending"}, pods(t, c))
				assert.Contains(t, events(t, c), tc.event)
			})
		})
	}
}

func TestPodsNeedRoom(t *testing.T) {
	bubble(t, func(t *testing.T, fleet *kubefake.Fleet, c *kubernetes.Clientset) {
		fleet.Configure("dp-1", kubefake.WithNodes(kubefake.Nodes(1, "amd64")...))
		d := deployment(t, 2, "")
		d.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: *parseQuantity("5")}
		createDeployment(t, c, d)
		assert.ElementsMatch(t, []string{"node-1 registry.example/app:1 Running", "registry.example/app:1 Pending"}, pods(t, c))
		assert.Contains(t, events(t, c), "0/1 nodes are available: 1 Insufficient cpu.")
	})
}

func TestAnImageThatCannotBePulled(t *testing.T) {
	bubble(t, func(t *testing.T, fleet *kubefake.Fleet, c *kubernetes.Clientset) {
		fleet.Configure("dp-1", kubefake.WithPullFailure("registry.example/*"))
		createDeployment(t, c, deployment(t, 1, ""))
		list, err := c.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.Len(t, list.Items, 1)
		assert.Equal(t, corev1.PodPending, list.Items[0].Status.Phase)
		assert.Equal(t, "ImagePullBackOff", list.Items[0].Status.ContainerStatuses[0].State.Waiting.Reason)
		assert.Contains(t, events(t, c), `Pod Failed: Failed to pull image "registry.example/app:1"`)
		assert.EqualValues(t, 0, getDeployment(t, c).Status.AvailableReplicas)

		fleet.Configure("dp-1", kubefake.WithPullFailure())
		require.NoError(t, c.CoreV1().Pods("default").Delete(t.Context(), list.Items[0].Name, metav1.DeleteOptions{}))
		settle()
		assert.EqualValues(t, 1, getDeployment(t, c).Status.AvailableReplicas, "a new pod can pull it")
	})
}

func TestPodsNeedTheirServiceAccount(t *testing.T) {
	bubble(t, func(t *testing.T, _ *kubefake.Fleet, c *kubernetes.Clientset) {
		createDeployment(t, c, deployment(t, 1, "serviceAccountName: robot"))
		d := getDeployment(t, c)
		assert.Empty(t, pods(t, c))
		assert.Equal(t, "True FailedCreate", condition(d, appsv1.DeploymentReplicaFailure))
		assert.Contains(t, events(t, c), `ReplicaSet FailedCreate: Error creating: pods "app-`)
		assert.Contains(t, events(t, c), `is forbidden: error looking up service account default/robot: serviceaccount "robot" not found`)

		_, err := c.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		settle()
		assert.EqualValues(t, 1, getDeployment(t, c).Status.AvailableReplicas)
		assert.Empty(t, condition(getDeployment(t, c), appsv1.DeploymentReplicaFailure))
	})
}

func TestRecreateStopsTheOldPodsFirst(t *testing.T) {
	bubble(t, func(t *testing.T, fleet *kubefake.Fleet, c *kubernetes.Clientset) {
		d := deployment(t, 2, "")
		d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
		createDeployment(t, c, d)
		fleet.Configure("dp-1", kubefake.WithReadyDelay(time.Minute))
		upgrade(t, c)
		assert.EqualValues(t, 0, getDeployment(t, c).Status.AvailableReplicas)
		<-time.After(time.Minute)
		assert.EqualValues(t, 2, getDeployment(t, c).Status.AvailableReplicas)
	})
}

func TestReadinessTakesAsLongAsIsSaid(t *testing.T) {
	bubble(t, func(t *testing.T, fleet *kubefake.Fleet, c *kubernetes.Clientset) {
		fleet.Configure("dp-1", kubefake.WithReadyDelay(30*time.Second))
		createDeployment(t, c, deployment(t, 1, ""))
		assert.Equal(t, []string{"node-1 registry.example/app:1 Pending"}, pods(t, c))
		<-time.After(30 * time.Second)
		assert.Equal(t, []string{"node-1 registry.example/app:1 Running"}, pods(t, c))
	})
}

func TestStatefulSetsStartInOrderAndKeepTheirClaims(t *testing.T) {
	bubble(t, func(t *testing.T, fleet *kubefake.Fleet, c *kubernetes.Clientset) {
		fleet.Configure("dp-1", kubefake.WithReadyDelay(10*time.Second))
		sets := c.AppsV1().StatefulSets("default")
		_, err := sets.Create(t.Context(), parse[appsv1.StatefulSet](t, `
metadata: {name: db}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: main, image: "registry.example/db:1"}]}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]
`), metav1.CreateOptions{})
		require.NoError(t, err)
		<-time.After(5 * time.Second)
		assert.Len(t, pods(t, c), 1, "the second waits for the first")
		<-time.After(20 * time.Second)
		set, err := sets.Get(t.Context(), "db", metav1.GetOptions{})
		require.NoError(t, err)
		assert.EqualValues(t, 2, set.Status.ReadyReplicas)
		assert.Equal(t, set.Status.CurrentRevision, set.Status.UpdateRevision)

		_, err = sets.Patch(t.Context(), "db", types.StrategicMergePatchType, []byte(image2), metav1.PatchOptions{})
		require.NoError(t, err)
		<-time.After(time.Minute)
		set, err = sets.Get(t.Context(), "db", metav1.GetOptions{})
		require.NoError(t, err)
		assert.EqualValues(t, 2, set.Status.UpdatedReplicas)
		assert.EqualValues(t, 2, set.Status.ReadyReplicas)

		require.NoError(t, sets.Delete(t.Context(), "db", metav1.DeleteOptions{}))
		settle()
		assert.Empty(t, pods(t, c))
		claims, err := c.CoreV1().PersistentVolumeClaims("default").List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.Len(t, claims.Items, 2, "data outlives the set")
		assert.Equal(t, corev1.ClaimBound, claims.Items[0].Status.Phase)
	})
}

func TestClaimsAreBoundByTheirClassAndHeldWhileInUse(t *testing.T) {
	bubble(t, func(t *testing.T, fleet *kubefake.Fleet, c *kubernetes.Clientset) {
		claims := c.CoreV1().PersistentVolumeClaims("default")
		claim := parse[corev1.PersistentVolumeClaim](t, `{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`)
		made, err := claims.Create(t.Context(), claim, metav1.CreateOptions{})
		require.NoError(t, err)
		assert.Equal(t, "standard", *made.Spec.StorageClassName, "the default class")
		createDeployment(t, c, deployment(t, 1, "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]"))
		assert.EqualValues(t, 1, getDeployment(t, c).Status.AvailableReplicas)

		require.NoError(t, claims.Delete(t.Context(), "data", metav1.DeleteOptions{}))
		settle()
		held, err := claims.Get(t.Context(), "data", metav1.GetOptions{})
		require.NoError(t, err, "a pod uses it")
		assert.NotNil(t, held.DeletionTimestamp)
		require.NoError(t, c.AppsV1().Deployments("default").Delete(t.Context(), "app", metav1.DeleteOptions{}))
		settle()
		_, err = claims.Get(t.Context(), "data", metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err), "%v", err)
		volumes, err := c.CoreV1().PersistentVolumes().List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.Empty(t, volumes.Items, "its class deletes volumes")

		fleet.Configure("dp-1", kubefake.WithStorageClasses())
		_, err = claims.Create(t.Context(), claim, metav1.CreateOptions{})
		require.NoError(t, err)
		settle()
		pending, err := claims.Get(t.Context(), "data", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, corev1.ClaimPending, pending.Status.Phase)
		assert.Contains(t, events(t, c), "no storage class is set")
	})
}

func TestDaemonsRunOnEveryNode(t *testing.T) {
	bubble(t, func(t *testing.T, fleet *kubefake.Fleet, c *kubernetes.Clientset) {
		_, err := c.AppsV1().DaemonSets("default").Create(t.Context(), parse[appsv1.DaemonSet](t, `
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: main, image: "registry.example/agent:1"}]}
`), metav1.CreateOptions{})
		require.NoError(t, err)
		settle()
		assert.Len(t, pods(t, c), 3)
		fleet.Configure("dp-1", kubefake.WithNodes(kubefake.Nodes(4, "amd64")...))
		settle()
		assert.Len(t, pods(t, c), 4)
		ds, err := c.AppsV1().DaemonSets("default").Get(t.Context(), "agent", metav1.GetOptions{})
		require.NoError(t, err)
		assert.EqualValues(t, 4, ds.Status.NumberReady)
		assert.EqualValues(t, 4, ds.Status.DesiredNumberScheduled)
	})
}

func TestJobsComeToTheirEnd(t *testing.T) {
	bubble(t, func(t *testing.T, _ *kubefake.Fleet, c *kubernetes.Clientset) {
		_, err := c.BatchV1().Jobs("default").Create(t.Context(), parse[batchv1.Job](t, `
metadata: {name: migrate}
spec:
  completions: 3
  parallelism: 2
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: "registry.example/migrate:1"}]}}
`), metav1.CreateOptions{})
		require.NoError(t, err)
		settle()
		j, err := c.BatchV1().Jobs("default").Get(t.Context(), "migrate", metav1.GetOptions{})
		require.NoError(t, err)
		assert.EqualValues(t, 3, j.Status.Succeeded)
		assert.NotNil(t, j.Status.CompletionTime)
		assert.Equal(t, batchv1.JobComplete, j.Status.Conditions[len(j.Status.Conditions)-1].Type)
	})
}

func TestANamespaceComesFurnishedAndGoesWithItsContent(t *testing.T) {
	bubble(t, func(t *testing.T, _ *kubefake.Fleet, c *kubernetes.Clientset) {
		ctx := t.Context()
		namespaces := c.CoreV1().Namespaces()
		_, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "flyte"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = c.CoreV1().ServiceAccounts("flyte").Get(ctx, "default", metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err), "not at once: %v", err)
		settle()
		_, err = c.CoreV1().ServiceAccounts("flyte").Get(ctx, "default", metav1.GetOptions{})
		require.NoError(t, err)
		_, err = c.CoreV1().ConfigMaps("flyte").Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		require.NoError(t, err)

		held := secret("held")
		held.Namespace, held.Finalizers = "flyte", []string{"example.com/hold"}
		_, err = c.CoreV1().Secrets("flyte").Create(ctx, held, metav1.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, namespaces.Delete(ctx, "flyte", metav1.DeleteOptions{}))
		ns, err := namespaces.Get(ctx, "flyte", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, corev1.NamespaceTerminating, ns.Status.Phase)
		late := secret("late")
		late.Namespace = "flyte"
		_, err = c.CoreV1().Secrets("flyte").Create(ctx, late, metav1.CreateOptions{})
		require.True(t, apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause), "%v", err)
		settle()
		ns, err = namespaces.Get(ctx, "flyte", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Contains(t, fmt.Sprint(ns.Status.Conditions), "example.com/hold in 1 resource instances")

		_, err = c.CoreV1().Secrets("flyte").Patch(ctx, "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		settle()
		_, err = namespaces.Get(ctx, "flyte", metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err), "%v", err)
		assert.True(t, apierrors.IsForbidden(namespaces.Delete(ctx, "kube-system", metav1.DeleteOptions{})))
	})
}

func TestForegroundDeletionWaitsForDependents(t *testing.T) {
	bubble(t, func(t *testing.T, _ *kubefake.Fleet, c *kubernetes.Clientset) {
		createDeployment(t, c, deployment(t, 2, ""))
		foreground := metav1.DeletePropagationForeground
		require.NoError(t, c.AppsV1().Deployments("default").Delete(t.Context(), "app", metav1.DeleteOptions{PropagationPolicy: &foreground}))
		d := getDeployment(t, c)
		assert.Equal(t, []string{metav1.FinalizerDeleteDependents}, d.Finalizers)
		settle()
		_, err := c.AppsV1().Deployments("default").Get(t.Context(), "app", metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err), "%v", err)
		assert.Empty(t, pods(t, c))
	})
}
