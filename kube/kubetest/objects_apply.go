package kubetest

import (
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func (s *suite) applies(t *testing.T) {
	s.test(t, "an apply creates, and does nothing the second time", testApplyTwice)
	s.test(t, "an apply owns what it sets: what it drops goes, what others set stays", testApplyOwnership)
	s.test(t, "an apply of somebody else's field is a conflict that names manager and field", testApplyConflict)
	s.test(t, "a forced apply takes the field over", testApplyForce)
	s.test(t, "an apply with an old resourceVersion is a conflict", testApplyPrecondition)
	s.test(t, "an apply of a Secret's stringData ends up in its data", testApplyStringData)
	s.test(t, "an apply does not change the object that it is given", testApplyLeavesInput)
}

func testApplyTwice(s *scene) {
	t := s.t
	obj := s.object(deployment("app", "registry.example/app:1"))
	first := s.apply(t, obj)
	assert.NotEmpty(t, first.GetUID())
	assert.EqualValues(t, 1, first.GetGeneration())
	require.NoError(t, s.wait(kube.WaitRequest{Refs: []kube.Ref{kube.RefOf(obj)}}), "its controllers have written what they have to")

	before := s.get(t, "apps/v1", "Deployment", "app")
	second := s.apply(t, obj)
	assert.Equal(t, before.GetResourceVersion(), second.GetResourceVersion(), "an apply that changes nothing is not stored")
	assert.EqualValues(t, 1, second.GetGeneration())

	scaled := s.object(deployment("app", "registry.example/app:2"))
	assert.EqualValues(t, 2, s.apply(t, scaled).GetGeneration())
}

func testApplyOwnership(s *scene) {
	t := s.t
	s.create(t, s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: shared, labels: {theirs: "1"}}, data: {theirs: "1"}}`))
	other := kube.ApplyOptions{FieldManager: "kubetest-other"}
	_, err := s.cluster.Objects.Apply(s.ctx, s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: shared}, data: {other: "1"}}`), other)
	require.NoError(t, err)
	s.apply(t, s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: shared, annotations: {ours: "1"}}, data: {ours: "1", more: "1"}}`))
	s.apply(t, s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: shared}, data: {ours: "2"}}`))
	read := s.get(t, "v1", "ConfigMap", "shared")
	assert.Equal(t, map[string]any{"theirs": "1", "other": "1", "ours": "2"}, field(read, "data"))
	assert.Equal(t, map[string]string{"theirs": "1"}, read.GetLabels())
	assert.Empty(t, read.GetAnnotations())
}

func testApplyConflict(s *scene) {
	t := s.t
	_, err := s.cluster.Objects.Apply(s.ctx, s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: shared}, data: {size: "1", color: red}}`), kube.ApplyOptions{FieldManager: "kubetest-other"})
	require.NoError(t, err)
	ours := s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: shared}, data: {size: "2", color: blue, free: "1"}}`)
	_, err = s.cluster.Objects.Apply(s.ctx, ours, kube.ApplyOptions{})
	require.ErrorIs(t, err, planewright.ErrConflict)
	var conflict *kube.ConflictError
	require.ErrorAs(t, err, &conflict)
	assert.Equal(t, []kube.ManagerFields{{Manager: "kubetest-other", Fields: []string{".data.color", ".data.size"}}}, conflict.Managers)
	assert.Equal(t, kube.RefOf(ours).In(s.cluster.Name), conflict.Object)
	assert.False(t, retryable(err))

	_, err = s.cluster.Objects.Diff(s.ctx, ours, kube.ApplyOptions{})
	require.ErrorAs(t, err, &conflict, "a dry run meets the same conflict")
	assert.Equal(t, "1", field(s.get(t, "v1", "ConfigMap", "shared"), "data", "size"))

	agreed := s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: shared}, data: {size: "1"}}`)
	s.apply(t, agreed)
}

func testApplyForce(s *scene) {
	t := s.t
	obj := func(size string) *unstructured.Unstructured {
		return s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: shared}, data: {size: "` + size + `"}}`)
	}
	_, err := s.cluster.Objects.Apply(s.ctx, obj("1"), kube.ApplyOptions{FieldManager: "kubetest-other"})
	require.NoError(t, err)
	_, err = s.cluster.Objects.Apply(s.ctx, obj("2"), kube.ApplyOptions{Force: true})
	require.NoError(t, err)
	assert.Equal(t, "2", field(s.get(t, "v1", "ConfigMap", "shared"), "data", "size"))
	_, err = s.cluster.Objects.Apply(s.ctx, obj("3"), kube.ApplyOptions{FieldManager: "kubetest-other"})
	var conflict *kube.ConflictError
	require.ErrorAs(t, err, &conflict)
	assert.Equal(t, kube.FieldManager, conflict.Managers[0].Manager)
}

func testApplyPrecondition(s *scene) {
	t := s.t
	first := s.apply(t, s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: "1"}}`))
	second := s.apply(t, s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: "2"}}`))
	late := s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: "3"}}`)
	late.SetResourceVersion(first.GetResourceVersion())
	_, err := s.cluster.Objects.Apply(s.ctx, late, kube.ApplyOptions{})
	require.ErrorIs(t, err, planewright.ErrConflict)
	var conflict *kube.ConflictError
	assert.NotErrorAs(t, err, &conflict, "it is about the version, not about a manager")
	late.SetResourceVersion(second.GetResourceVersion())
	s.apply(t, late)
}

func testApplyStringData(s *scene) {
	t := s.t
	obj := s.object(`{apiVersion: v1, kind: Secret, metadata: {name: db}, stringData: {password: kubetest}}`)
	applied := s.apply(t, obj)
	assert.Equal(t, map[string]any{"password": "a3ViZXRlc3Q="}, field(applied, "data"))
	assert.Nil(t, field(applied, "stringData"))
	assert.Equal(t, "Opaque", field(applied, "type"))
	assert.Equal(t, applied.GetResourceVersion(), s.apply(t, obj).GetResourceVersion())
}

func testApplyLeavesInput(s *scene) {
	t := s.t
	obj := s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: "1"}}`)
	before := obj.DeepCopy()
	s.apply(t, obj)
	_, err := s.cluster.Objects.Diff(s.ctx, obj, kube.ApplyOptions{})
	require.NoError(t, err)
	assert.Equal(t, before.Object, obj.Object)
}
