package kubetest

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func (s *suite) waits(t *testing.T) {
	s.test(t, "waits until workloads run, claims are bound and jobs are done", testWaitReady)
	s.test(t, "waits for the roll-out of a change", testWaitRollout)
	s.test(t, "waits for a condition of the caller's, and tells what it waits for", testWaitUntil)
	s.test(t, "waits for a service account's token", testWaitToken)
	s.test(t, "names what does not exist when the time is up", testWaitMissing)
	s.test(t, "tells why a pod finds no node", testWaitUnschedulable)
	s.test(t, "tells why a workload gets no pods", testWaitForbiddenPods)
	s.test(t, "tells what holds an object that is being deleted", testWaitFinalizer)
	s.test(t, "ends when it is cancelled", testWaitCancelled)
	if s.unpullable != "" {
		s.test(t, "tells which image cannot be pulled", testWaitUnpullable)
	}
}

// deleting is the condition that an object is on its way out.
func deleting(obj *unstructured.Unstructured) (bool, string) {
	return obj != nil && obj.GetDeletionTimestamp() != nil, "is not being deleted"
}

func testWaitReady(s *scene) {
	t := s.t
	var refs []kube.Ref
	for _, text := range []string{
		deployment("app", "registry.example/app:1"),
		`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {serviceName: db, replicas: 2, selector: {matchLabels: {a: db}}, template: {metadata: {labels: {a: db}}, spec: {containers: [{name: main, image: "registry.example/db:1"}]}}}}`,
		`{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent}, spec: {selector: {matchLabels: {a: agent}}, template: {metadata: {labels: {a: agent}}, spec: {containers: [{name: main, image: "registry.example/agent:1"}]}}}}`,
		`{apiVersion: batch/v1, kind: Job, metadata: {name: migrate}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: "registry.example/migrate:1"}]}}}}`,
		`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`,
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}`,
		`{apiVersion: v1, kind: Service, metadata: {name: app}, spec: {selector: {app: app}, ports: [{port: 80}]}}`,
	} {
		obj := s.object(text)
		s.apply(t, obj)
		refs = append(refs, kube.RefOf(obj))
	}
	require.NoError(t, s.wait(kube.WaitRequest{Refs: refs}))
	assert.EqualValues(t, 1, field(s.get(t, "apps/v1", "Deployment", "app"), "status", "availableReplicas"))
	assert.EqualValues(t, 2, field(s.get(t, "apps/v1", "StatefulSet", "db"), "status", "readyReplicas"))
	assert.EqualValues(t, 1, field(s.get(t, "batch/v1", "Job", "migrate"), "status", "succeeded"))
	assert.Equal(t, "Bound", field(s.get(t, "v1", "PersistentVolumeClaim", "data"), "status", "phase"))
}

func testWaitRollout(s *scene) {
	t := s.t
	obj := s.object(deployment("app", "registry.example/app:1"))
	s.apply(t, obj)
	require.NoError(t, s.wait(kube.WaitRequest{Refs: []kube.Ref{kube.RefOf(obj)}}))
	s.apply(t, s.object(deployment("app", "registry.example/app:2")))
	require.NoError(t, s.wait(kube.WaitRequest{Refs: []kube.Ref{kube.RefOf(obj)}}))
	pods, err := s.cluster.Objects.List(s.ctx, kube.ListRequest{APIVersion: "v1", Kind: "Pod", Namespace: s.namespace, Labels: "app=app"})
	require.NoError(t, err)
	running := 0
	for _, pod := range pods {
		if pod.GetDeletionTimestamp() == nil {
			containers, _, _ := unstructured.NestedSlice(pod.Object, "spec", "containers")
			assert.Equal(t, "registry.example/app:2", containers[0].(map[string]any)["image"])
			running++
		}
	}
	assert.Equal(t, 1, running)
}

func testWaitUntil(s *scene) {
	t := s.t
	var mu sync.Mutex
	var told []string
	ref := s.ref("v1", "ConfigMap", "later")
	finished := make(chan error, 1)
	asked := make(chan struct{}, 1)
	go func() {
		finished <- s.wait(kube.WaitRequest{
			Refs: []kube.Ref{ref},
			Until: func(obj *unstructured.Unstructured) (bool, string) {
				return obj != nil && field(obj, "data", "ready") == "yes", "is not ready, says the test"
			},
			Progress: func(text string) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, text)
				select {
				case asked <- struct{}{}:
				default:
				}
			},
		})
	}()
	select {
	case <-asked:
	case <-s.ctx.Done():
		require.FailNow(t, "no progress was told")
	}
	s.create(t, s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: later}, data: {ready: "no"}}`))
	s.apply(t, s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: unrelated}}`))
	_, err := s.cluster.Objects.Apply(s.ctx, s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: later}, data: {ready: "yes"}}`), kube.ApplyOptions{Force: true})
	require.NoError(t, err)
	require.NoError(t, <-finished)
	mu.Lock()
	defer mu.Unlock()
	assert.Contains(t, strings.Join(told, "\n"), "is not ready, says the test")
}

func testWaitToken(s *scene) {
	t := s.t
	s.create(t, s.object(`{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot}}`))
	s.apply(t, s.object(`{apiVersion: v1, kind: Secret, metadata: {name: robot-token, annotations: {kubernetes.io/service-account.name: robot}}, type: kubernetes.io/service-account-token}`))
	require.NoError(t, s.wait(kube.WaitRequest{
		Refs: []kube.Ref{s.ref("v1", "Secret", "robot-token")},
		Until: func(obj *unstructured.Unstructured) (bool, string) {
			return obj != nil && field(obj, "data", "token") != nil, "has no token"
		},
	}))
	secret := s.get(t, "v1", "Secret", "robot-token")
	assert.NotEmpty(t, field(secret, "data", "ca.crt"))
	assert.NotEmpty(t, field(secret, "data", "namespace"))
	assert.Equal(t, string(s.get(t, "v1", "ServiceAccount", "robot").GetUID()), secret.GetAnnotations()["kubernetes.io/service-account.uid"])

	s.create(t, s.object(`{apiVersion: v1, kind: Secret, metadata: {name: stray, annotations: {kubernetes.io/service-account.name: nobody}}, type: kubernetes.io/service-account-token}`))
	s.waitGone(t, s.ref("v1", "Secret", "stray"))
}

func testWaitMissing(s *scene) {
	t := s.t
	err := s.cluster.Objects.Wait(s.inVain(t), kube.WaitRequest{Refs: []kube.Ref{s.ref("apps/v1", "Deployment", "nobody")}})
	require.ErrorIs(t, err, planewright.ErrTimeout)
	require.ErrorContains(t, err, "nobody")
	assert.ErrorContains(t, err, s.cluster.Name)
}

func testWaitUnschedulable(s *scene) {
	t := s.t
	obj := s.object(deployment("app", "registry.example/app:1"))
	require.NoError(t, unstructured.SetNestedField(obj.Object, map[string]any{"kubetest.example/planet": "mars"}, "spec", "template", "spec", "nodeSelector"))
	s.apply(t, obj)
	err := s.cluster.Objects.Wait(s.inVain(t), kube.WaitRequest{Refs: []kube.Ref{kube.RefOf(obj)}})
	require.ErrorIs(t, err, planewright.ErrTimeout)
	require.ErrorContains(t, err, "Unschedulable")
	assert.ErrorContains(t, err, "nodes are available")
}

func testWaitForbiddenPods(s *scene) {
	t := s.t
	obj := s.object(deployment("app", "registry.example/app:1"))
	require.NoError(t, unstructured.SetNestedField(obj.Object, "nobody", "spec", "template", "spec", "serviceAccountName"))
	s.apply(t, obj)
	err := s.cluster.Objects.Wait(s.inVain(t), kube.WaitRequest{Refs: []kube.Ref{kube.RefOf(obj)}})
	require.ErrorIs(t, err, planewright.ErrTimeout)
	require.ErrorContains(t, err, `"nobody" not found`)

	s.create(t, s.object(`{apiVersion: v1, kind: ServiceAccount, metadata: {name: nobody}}`))
	require.NoError(t, s.wait(kube.WaitRequest{Refs: []kube.Ref{kube.RefOf(obj)}}), "once the account exists the pods come")
}

func testWaitFinalizer(s *scene) {
	t := s.t
	held := s.create(t, s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [kubetest.example/hold]}}`))
	require.NoError(t, s.cluster.Objects.Delete(s.ctx, kube.RefOf(held), kube.DeleteOptions{}))
	err := s.cluster.Objects.Wait(s.inVain(t), kube.WaitRequest{Refs: []kube.Ref{kube.RefOf(held)}, Until: kube.Gone})
	require.ErrorIs(t, err, planewright.ErrTimeout)
	require.ErrorContains(t, err, "kubetest.example/hold")
	marked := s.get(t, "v1", "ConfigMap", "held")
	marked.SetFinalizers(nil)
	_, err = s.cluster.Objects.Update(s.ctx, marked)
	require.NoError(t, err)
	s.waitGone(t, kube.RefOf(held))
}

func testWaitCancelled(s *scene) {
	t := s.t
	ctx, cancel := context.WithCancel(s.ctx)
	err := s.cluster.Objects.Wait(ctx, kube.WaitRequest{
		Refs:     []kube.Ref{s.ref("v1", "ConfigMap", "never")},
		Until:    exists,
		Progress: func(string) { cancel() },
	})
	cancel()
	require.ErrorIs(t, err, context.Canceled)
	assert.NotErrorIs(t, err, planewright.ErrTimeout)
}

func testWaitUnpullable(s *scene) {
	t := s.t
	obj := s.object(deployment("app", s.suite.unpullable))
	s.apply(t, obj)
	err := s.cluster.Objects.Wait(s.inVain(t), kube.WaitRequest{Refs: []kube.Ref{kube.RefOf(obj)}})
	require.ErrorIs(t, err, planewright.ErrTimeout)
	require.ErrorContains(t, err, "ImagePullBackOff")
	assert.ErrorContains(t, err, "main")
}
