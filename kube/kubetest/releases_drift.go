package kubetest

import (
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func (s *suite) drifts(t *testing.T) {
	s.test(t, "a live field that was changed is drift, and is put right", testDriftField)
	s.test(t, "a live object that was deleted is drift, and comes back", testDriftDeleted)
	s.test(t, "what others add to an object is no drift", testDriftForeign)
	s.test(t, "a Secret that was changed is drift that does not show it", testDriftSecret)
}

// edit changes a live object the way somebody with an editor would.
func (s *scene) edit(t *testing.T, apiVersion, kind, name string, change func(*unstructured.Unstructured)) {
	t.Helper()
	obj := s.get(t, apiVersion, kind, name)
	change(obj)
	_, err := s.cluster.Objects.Update(s.ctx, obj)
	require.NoError(t, err)
}

func set(t *testing.T, obj *unstructured.Unstructured, value any, path ...string) {
	t.Helper()
	require.NoError(t, unstructured.SetNestedField(obj.Object, value, path...))
}

func testDriftField(s *scene) {
	t := s.t
	r := s.release(nil)
	s.install(t, r)
	s.settled(t)
	s.edit(t, "v1", "ConfigMap", "app-settings", func(obj *unstructured.Unstructured) { set(t, obj, "huge", "data", "size") })
	s.edit(t, "apps/v1", "Deployment", "app", func(obj *unstructured.Unstructured) { set(t, obj, int64(2), "spec", "replicas") })
	p := s.plan(t, r)
	assert.Equal(t, planewright.ActionUpdate, p.Action)
	assert.True(t, p.Drift)
	assert.Contains(t, paths(p.Diff), "data.size")
	assert.Contains(t, paths(p.Diff), "spec.replicas")
	for _, d := range p.Diff {
		assert.Contains(t, d.Path, "(drift)")
	}
	s.install(t, r)
	assert.Equal(t, "small", field(s.get(t, "v1", "ConfigMap", "app-settings"), "data", "size"))
	assert.EqualValues(t, 1, field(s.get(t, "apps/v1", "Deployment", "app"), "spec", "replicas"))
	s.settled(t)
	s.nothingToDo(t, r)
}

func testDriftDeleted(s *scene) {
	t := s.t
	r := s.release(nil)
	s.install(t, r)
	require.NoError(t, s.cluster.Objects.Delete(s.ctx, s.ref("v1", "ConfigMap", "app-settings"), kube.DeleteOptions{}))
	p := s.plan(t, r)
	assert.Equal(t, planewright.ActionUpdate, p.Action)
	assert.True(t, p.Drift)
	assert.Contains(t, paths(p.Diff), "app-settings")
	s.install(t, r)
	assert.Equal(t, "small", field(s.get(t, "v1", "ConfigMap", "app-settings"), "data", "size"))
	s.nothingToDo(t, r)
}

func testDriftForeign(s *scene) {
	t := s.t
	r := s.release(nil)
	s.install(t, r)
	s.settled(t)
	s.edit(t, "v1", "ServiceAccount", "app", func(obj *unstructured.Unstructured) {
		obj.SetLabels(map[string]string{"team": "ml", "app.kubernetes.io/managed-by": "Helm"})
	})
	s.edit(t, "v1", "ConfigMap", "app-settings", func(obj *unstructured.Unstructured) { set(t, obj, "1", "data", "theirs") })
	s.nothingToDo(t, r)
	assert.Equal(t, "1", field(s.get(t, "v1", "ConfigMap", "app-settings"), "data", "theirs"))
	s.install(t, s.release(kube.Values{"size": "large"}))
	assert.Equal(t, "1", field(s.get(t, "v1", "ConfigMap", "app-settings"), "data", "theirs"), "an upgrade leaves it alone")
}

func testDriftSecret(s *scene) {
	t := s.t
	r := s.release(kube.Values{"password": "kubetest-right"})
	s.install(t, r)
	s.edit(t, "v1", "Secret", "app-secret", func(obj *unstructured.Unstructured) {
		set(t, obj, "a3ViZXRlc3Qtd3Jvbmc=", "data", "password") // kubetest-wrong
	})
	p := s.plan(t, r)
	assert.True(t, p.Drift)
	require.Len(t, p.Diff, 1)
	assert.True(t, p.Diff[0].Secret)
	assert.Empty(t, p.Diff[0].Before+p.Diff[0].After)
	s.install(t, r)
	assert.Equal(t, "a3ViZXRlc3QtcmlnaHQ=", field(s.get(t, "v1", "Secret", "app-secret"), "data", "password"))
	s.nothingToDo(t, r)
}
