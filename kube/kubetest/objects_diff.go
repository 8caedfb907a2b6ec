package kubetest

import (
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func (s *suite) diffs(t *testing.T) {
	s.test(t, "a diff tells what an apply would do, and does nothing", testDiff)
	s.test(t, "a diff says what must exist first", testDiffNotYet)
	s.test(t, "a diff shows no secret", testDiffSecret)
	s.test(t, "a diff sees no change in how values are written", testDiffNormalised)
}

func testDiff(s *scene) {
	t := s.t
	diff := func(text string) kube.Diff {
		t.Helper()
		d, err := s.cluster.Objects.Diff(s.ctx, s.object(text), kube.ApplyOptions{})
		require.NoError(t, err)
		return d
	}
	const one = `{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: "1", b: "1"}}`
	d := diff(one)
	assert.Equal(t, planewright.ActionCreate, d.Action)
	assert.Nil(t, d.Live)
	assert.Empty(t, d.NotYet)
	_, err := s.cluster.Objects.Get(s.ctx, s.ref("v1", "ConfigMap", "settings"))
	require.ErrorIs(t, err, planewright.ErrNotFound, "a diff persists nothing")

	applied := s.apply(t, s.object(one))
	d = diff(one)
	assert.Equal(t, planewright.ActionNone, d.Action)
	assert.Empty(t, d.Fields)
	assert.Equal(t, applied.GetUID(), d.Live.GetUID())

	d = diff(`{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: "2", c: "1"}}`)
	assert.Equal(t, planewright.ActionUpdate, d.Action)
	assert.Equal(t, []planewright.FieldDiff{
		{Path: "data.a", Before: "1", After: "2"},
		{Path: "data.b", Before: "1"},
		{Path: "data.c", After: "1"},
	}, unquoted(d.Fields))
	assert.Equal(t, applied.GetResourceVersion(), s.get(t, "v1", "ConfigMap", "settings").GetResourceVersion())
}

// unquoted takes the quotes off short text: adapters may print values either way.
func unquoted(fields []planewright.FieldDiff) []planewright.FieldDiff {
	plain := make([]planewright.FieldDiff, len(fields))
	for i, f := range fields {
		f.Before, f.After = unquote(f.Before), unquote(f.After)
		plain[i] = f
	}
	return plain
}

func unquote(text string) string {
	if n := len(text); n >= 2 && text[0] == '"' && text[n-1] == '"' {
		return text[1 : n-1]
	}
	return text
}

func testDiffNotYet(s *scene) {
	t := s.t
	d, err := s.cluster.Objects.Diff(s.ctx, manifest(`{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: kubetest-nowhere}, data: {a: "1"}}`), kube.ApplyOptions{})
	require.NoError(t, err)
	assert.Equal(t, planewright.ActionCreate, d.Action)
	assert.Equal(t, "namespace kubetest-nowhere", d.NotYet)
	d, err = s.cluster.Objects.Diff(s.ctx, s.object(`{apiVersion: kubetest.example/v1, kind: Nothing, metadata: {name: x}}`), kube.ApplyOptions{})
	require.NoError(t, err)
	assert.Equal(t, planewright.ActionCreate, d.Action)
	assert.Contains(t, d.NotYet, "Nothing")
}

func testDiffSecret(s *scene) {
	t := s.t
	s.apply(t, s.object(`{apiVersion: v1, kind: Secret, metadata: {name: db}, stringData: {password: before-kubetest, user: flyte}}`))
	d, err := s.cluster.Objects.Diff(s.ctx, s.object(`{apiVersion: v1, kind: Secret, metadata: {name: db, labels: {a: b}}, stringData: {password: after-kubetest, user: flyte}}`), kube.ApplyOptions{})
	require.NoError(t, err)
	assert.Equal(t, planewright.ActionUpdate, d.Action)
	require.Len(t, d.Fields, 2)
	assert.Equal(t, planewright.FieldDiff{Path: "data.password", Secret: true}, d.Fields[0])
	assert.Equal(t, "metadata.labels.a", d.Fields[1].Path)
}

func testDiffNormalised(s *scene) {
	t := s.t
	obj := s.object(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      containers: [{name: main, image: "registry.example/app:1", resources: {limits: {cpu: "1000m", memory: 1024Mi}}}]
`)
	s.apply(t, obj)
	none := func(obj *unstructured.Unstructured) {
		t.Helper()
		d, err := s.cluster.Objects.Diff(s.ctx, obj, kube.ApplyOptions{})
		require.NoError(t, err)
		assert.Equal(t, planewright.ActionNone, d.Action, "%v", d.Fields)
	}
	none(obj)
	require.NoError(t, s.wait(kube.WaitRequest{Refs: []kube.Ref{kube.RefOf(obj)}}))
	none(obj)
	secret := s.object(`{apiVersion: v1, kind: Secret, metadata: {name: db}, stringData: {a: b}}`)
	s.apply(t, secret)
	none(secret)
}
