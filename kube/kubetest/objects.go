package kubetest

import (
	"errors"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (s *suite) objects(t *testing.T) {
	s.test(t, "what was created can be read, listed, updated and deleted", testLifecycle)
	s.test(t, "a list is sorted and heeds namespace and labels", testList)
	s.test(t, "what does not exist is not found, whatever is missing about it", testNotFound)
	s.test(t, "creating what exists is refused", testAlreadyExists)
	s.test(t, "an update of an old state is refused, and may be tried again", testStaleUpdate)
	s.test(t, "a patch changes single fields, or nothing if the object is not as it expects", testPatch)
	s.test(t, "deleting what is gone is no error", testDeleteGone)
	s.test(t, "a delete with the uid of another object is refused for good", testDeleteOtherUID)
	s.test(t, "deleting an owner deletes what it owns, unless that is to be orphaned", testDependents)
	s.test(t, "deleting a namespace deletes what is in it", testNamespaceDelete)
	s.test(t, "a namespace that is being deleted takes nothing in", testTerminatingNamespace)
	s.applies(t)
	s.diffs(t)
	s.limits(t)
}

func retryable(err error) bool {
	var r planewright.Retryable
	return errors.As(err, &r) && r.Retryable()
}

func testLifecycle(s *scene) {
	t := s.t
	made := s.create(t, s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {size: "1"}}`))
	assert.NotEmpty(t, made.GetUID())
	assert.NotEmpty(t, made.GetResourceVersion())
	assert.NotZero(t, made.GetCreationTimestamp())

	read := s.get(t, "v1", "ConfigMap", "settings")
	assert.Equal(t, made.Object, read.Object)

	read.Object["data"] = map[string]any{"size": "2"}
	updated, err := s.cluster.Objects.Update(s.ctx, read)
	require.NoError(t, err)
	assert.Equal(t, made.GetUID(), updated.GetUID())
	assert.NotEqual(t, made.GetResourceVersion(), updated.GetResourceVersion())
	assert.Equal(t, "2", field(s.get(t, "v1", "ConfigMap", "settings"), "data", "size"))

	same, err := s.cluster.Objects.Update(s.ctx, updated)
	require.NoError(t, err)
	assert.Equal(t, updated.GetResourceVersion(), same.GetResourceVersion(), "an update that changes nothing is not stored")

	require.NoError(t, s.cluster.Objects.Delete(s.ctx, kube.RefOf(made), kube.DeleteOptions{}))
	_, err = s.cluster.Objects.Get(s.ctx, kube.RefOf(made))
	assert.ErrorIs(t, err, planewright.ErrNotFound)
}

func testList(s *scene) {
	t := s.t
	for _, name := range []string{"b", "c", "a"} {
		s.create(t, s.object(`{apiVersion: v1, kind: Secret, metadata: {name: `+name+`, labels: {kubetest: `+s.suffix+`, letter: `+name+`}}}`))
	}
	names := func(list kube.ListRequest) []string {
		t.Helper()
		items, err := s.cluster.Objects.List(s.ctx, list)
		require.NoError(t, err)
		var names []string
		for _, item := range items {
			assert.Equal(t, "Secret", item.GetKind())
			assert.Equal(t, "v1", item.GetAPIVersion())
			names = append(names, item.GetName())
		}
		return names
	}
	secrets := kube.ListRequest{APIVersion: "v1", Kind: "Secret", Namespace: s.namespace}
	assert.Equal(t, []string{"a", "b", "c"}, names(secrets))
	secrets.Labels = "letter in (a, c)"
	assert.Equal(t, []string{"a", "c"}, names(secrets))
	secrets.Namespace, secrets.Labels = "", "kubetest="+s.suffix
	assert.Equal(t, []string{"a", "b", "c"}, names(secrets), "in all namespaces")
	secrets.Labels = "letter in ("
	_, err := s.cluster.Objects.List(s.ctx, secrets)
	assert.ErrorIs(t, err, planewright.ErrInvalid)
}

func testNotFound(s *scene) {
	t := s.t
	notFound := func(err error, names ...string) {
		t.Helper()
		require.ErrorIs(t, err, planewright.ErrNotFound)
		assert.False(t, retryable(err))
		for _, name := range append(names, s.cluster.Name) {
			assert.ErrorContains(t, err, name)
		}
	}
	_, err := s.cluster.Objects.Get(s.ctx, s.ref("v1", "Secret", "nobody"))
	notFound(err, "Secret", "nobody")
	_, err = s.cluster.Objects.Get(s.ctx, kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "kubetest-nowhere", Name: "nobody"})
	notFound(err, "kubetest-nowhere")
	_, err = s.cluster.Objects.Get(s.ctx, s.ref("kubetest.example/v1", "Nothing", "nobody"))
	notFound(err, "Nothing")
	_, err = s.cluster.Objects.List(s.ctx, kube.ListRequest{APIVersion: "kubetest.example/v1", Kind: "Nothing"})
	notFound(err, "Nothing")
	homeless := manifest(`{apiVersion: v1, kind: Secret, metadata: {name: homeless, namespace: kubetest-nowhere}}`)
	_, err = s.cluster.Objects.Create(s.ctx, homeless)
	notFound(err, "homeless", "kubetest-nowhere")
	_, err = s.cluster.Objects.Apply(s.ctx, homeless, kube.ApplyOptions{})
	notFound(err, "homeless", "kubetest-nowhere")
	_, err = s.cluster.Objects.Apply(s.ctx, s.object(`{apiVersion: kubetest.example/v1, kind: Nothing, metadata: {name: x}}`), kube.ApplyOptions{})
	notFound(err, "Nothing")
	gone := s.create(t, s.object(`{apiVersion: v1, kind: Secret, metadata: {name: gone}}`))
	require.NoError(t, s.cluster.Objects.Delete(s.ctx, kube.RefOf(gone), kube.DeleteOptions{}))
	_, err = s.cluster.Objects.Update(s.ctx, gone)
	notFound(err, "gone")
}

func testAlreadyExists(s *scene) {
	t := s.t
	obj := s.object(`{apiVersion: v1, kind: Secret, metadata: {name: twice}}`)
	s.create(t, obj)
	_, err := s.cluster.Objects.Create(s.ctx, obj)
	require.ErrorIs(t, err, planewright.ErrAlreadyExists)
	assert.False(t, retryable(err))
}

func testStaleUpdate(s *scene) {
	t := s.t
	old := s.create(t, s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: shared}, data: {a: "1"}}`))
	s.apply(t, s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: shared}, data: {b: "2"}}`))
	old.Object["data"] = map[string]any{"a": "3"}
	_, err := s.cluster.Objects.Update(s.ctx, old)
	require.ErrorIs(t, err, planewright.ErrConflict)
	assert.True(t, retryable(err), "whoever reads again can write: %v", err)

	lease := s.create(t, s.object(`{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: lock}, spec: {holderIdentity: one, leaseDurationSeconds: 15}}`))
	winner := lease.DeepCopy()
	winner.Object["spec"] = map[string]any{"holderIdentity": "two", "leaseDurationSeconds": int64(15)}
	_, err = s.cluster.Objects.Update(s.ctx, winner)
	require.NoError(t, err)
	_, err = s.cluster.Objects.Update(s.ctx, lease)
	assert.ErrorIs(t, err, planewright.ErrConflict)
}

func testDeleteGone(s *scene) {
	t := s.t
	assert.NoError(t, s.cluster.Objects.Delete(s.ctx, s.ref("v1", "Secret", "nobody"), kube.DeleteOptions{}))
	assert.NoError(t, s.cluster.Objects.Delete(s.ctx, s.ref("kubetest.example/v1", "Nothing", "nobody"), kube.DeleteOptions{}), "what is not served does not exist")
	assert.NoError(t, s.cluster.Objects.Delete(s.ctx, kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "kubetest-nowhere", Name: "x"}, kube.DeleteOptions{}))
}

func testDeleteOtherUID(s *scene) {
	t := s.t
	made := s.create(t, s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: mine}}`))
	err := s.cluster.Objects.Delete(s.ctx, kube.RefOf(made), kube.DeleteOptions{UID: "00000000-0000-4000-8000-000000000000"})
	require.ErrorIs(t, err, planewright.ErrConflict)
	assert.False(t, retryable(err), "the uid will not change: %v", err)
	s.get(t, "v1", "ConfigMap", "mine")
	require.NoError(t, s.cluster.Objects.Delete(s.ctx, kube.RefOf(made), kube.DeleteOptions{UID: string(made.GetUID())}))
	s.waitGone(t, kube.RefOf(made))
}

func testDependents(s *scene) {
	t := s.t
	own := func(owner, name string) {
		uid := string(s.get(t, "v1", "ConfigMap", owner).GetUID())
		s.create(t, s.object(`{apiVersion: v1, kind: Secret, metadata: {name: `+name+`, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: `+owner+`, uid: `+uid+`}]}}`))
	}
	s.create(t, s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: parent}}`))
	s.create(t, s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: stranger}}`))
	own("parent", "child")
	own("stranger", "orphan")

	require.NoError(t, s.cluster.Objects.Delete(s.ctx, s.ref("v1", "ConfigMap", "stranger"), kube.DeleteOptions{Orphan: true}))
	require.NoError(t, s.cluster.Objects.Delete(s.ctx, s.ref("v1", "ConfigMap", "parent"), kube.DeleteOptions{}))
	s.waitGone(t, s.ref("v1", "ConfigMap", "stranger"))
	s.waitGone(t, s.ref("v1", "Secret", "child"))
	assert.Empty(t, s.get(t, "v1", "Secret", "orphan").GetOwnerReferences())
}

func testNamespaceDelete(s *scene) {
	t := s.t
	s.create(t, s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: content}}`))
	s.apply(t, s.object(deployment("workload", "registry.example/app:1")))
	require.NoError(t, s.cluster.Objects.Delete(s.ctx, s.ref("v1", "Namespace", s.namespace), kube.DeleteOptions{}))
	s.waitGone(t, s.ref("v1", "Namespace", s.namespace))
	_, err := s.cluster.Objects.Get(s.ctx, s.ref("v1", "ConfigMap", "content"))
	assert.ErrorIs(t, err, planewright.ErrNotFound)
}

func testTerminatingNamespace(s *scene) {
	t := s.t
	s.create(t, s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [kubetest.example/hold]}}`))
	require.NoError(t, s.cluster.Objects.Delete(s.ctx, s.ref("v1", "Namespace", s.namespace), kube.DeleteOptions{}))

	_, err := s.cluster.Objects.Create(s.ctx, s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: late}}`))
	require.ErrorIs(t, err, planewright.ErrConflict)
	require.ErrorContains(t, err, s.namespace)
	require.ErrorContains(t, err, "being")

	err = s.cluster.Objects.Wait(s.inVain(t), kube.WaitRequest{Refs: []kube.Ref{s.ref("v1", "Namespace", s.namespace)}, Until: kube.Gone})
	require.ErrorIs(t, err, planewright.ErrTimeout)

	require.NoError(t, s.wait(kube.WaitRequest{Refs: []kube.Ref{s.ref("v1", "ConfigMap", "held")}, Until: deleting}))
	held := s.get(t, "v1", "ConfigMap", "held")
	held.SetFinalizers(nil)
	_, err = s.cluster.Objects.Update(s.ctx, held)
	require.NoError(t, err)
	s.waitGone(t, s.ref("v1", "Namespace", s.namespace))
}
