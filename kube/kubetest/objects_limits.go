package kubetest

import (
	"strings"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (s *suite) limits(t *testing.T) {
	s.test(t, "a malformed object is invalid, and nothing of it is stored", testInvalid)
	s.test(t, "what cannot change is invalid to change", testImmutable)
	s.test(t, "the error about an invalid Secret does not show it", testInvalidSecret)
	s.test(t, "a custom resource is checked against its schema", testCustomResource)
}

func testInvalid(s *scene) {
	t := s.t
	invalid := func(text string, names ...string) {
		t.Helper()
		obj := s.object(text)
		for op, call := range map[string]func() error{
			"apply":  func() error { _, err := s.cluster.Objects.Apply(s.ctx, obj, kube.ApplyOptions{}); return err },
			"create": func() error { _, err := s.cluster.Objects.Create(s.ctx, obj); return err },
			"diff":   func() error { _, err := s.cluster.Objects.Diff(s.ctx, obj, kube.ApplyOptions{}); return err },
		} {
			err := call()
			require.ErrorIs(t, err, planewright.ErrInvalid, op)
			assert.False(t, retryable(err), op)
			for _, name := range names {
				assert.ErrorContains(t, err, name, op)
			}
		}
	}
	invalid(`{apiVersion: v1, kind: ConfigMap, metadata: {name: Upper_Case}}`, "metadata.name", "Upper_Case")
	invalid(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {digest: `+strings.Repeat("f", 64)+`}}}`, "labels", "63")
	invalid(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {long: `+strings.Repeat("f", 256<<10)+`}}}`, "annotations", "262144")
	invalid(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {big: `+strings.Repeat("f", 1<<20+1)+`}}`, "1048576")
	invalid(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {"a/b": c}}`, "a/b")
	invalid(`{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 0}]}}`, "spec.ports[0].port")
	invalid(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: c}}, spec: {containers: [{name: main, image: x}]}}}}`, "selector")
	_, err := s.cluster.Objects.Get(s.ctx, s.ref("v1", "ConfigMap", "a"))
	require.ErrorIs(t, err, planewright.ErrNotFound)

	_, err = s.cluster.Objects.Update(s.ctx, s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}`))
	assert.ErrorIs(t, err, planewright.ErrInvalid, "an update needs a resourceVersion")
}

func testImmutable(s *scene) {
	t := s.t
	s.apply(t, s.object(deployment("app", "registry.example/app:1")))
	other := s.object(strings.ReplaceAll(deployment("app", "registry.example/app:1"), "{app: app}", "{app: other}"))
	_, err := s.cluster.Objects.Apply(s.ctx, other, kube.ApplyOptions{})
	require.ErrorIs(t, err, planewright.ErrInvalid)
	require.ErrorContains(t, err, "spec.selector")
	assert.False(t, retryable(err))

	binding := func(role string) string {
		return `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: users}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ` + role + `}, subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: ana}]}`
	}
	s.apply(t, s.object(binding("edit")))
	_, err = s.cluster.Objects.Apply(s.ctx, s.object(binding("admin")), kube.ApplyOptions{})
	require.ErrorIs(t, err, planewright.ErrInvalid)
	require.ErrorContains(t, err, "roleRef")

	s.apply(t, s.object(`{apiVersion: v1, kind: Service, metadata: {name: app}, spec: {selector: {app: app}, ports: [{port: 80}]}}`))
	_, err = s.cluster.Objects.Apply(s.ctx, s.object(`{apiVersion: v1, kind: Service, metadata: {name: app}, spec: {clusterIP: None, selector: {app: app}, ports: [{port: 80}]}}`), kube.ApplyOptions{})
	require.ErrorIs(t, err, planewright.ErrInvalid)
	assert.ErrorContains(t, err, "clusterIP")
}

func testInvalidSecret(s *scene) {
	t := s.t
	s.apply(t, s.object(`{apiVersion: v1, kind: Secret, metadata: {name: db}, stringData: {password: kubetest-one}}`))
	_, err := s.cluster.Objects.Apply(s.ctx, s.object(`{apiVersion: v1, kind: Secret, metadata: {name: db}, type: example.com/other, stringData: {password: kubetest-two}}`), kube.ApplyOptions{})
	require.ErrorIs(t, err, planewright.ErrInvalid)
	require.ErrorContains(t, err, "type")
	for _, text := range []string{
		`{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {"a/b": kubetest-secret}}`,
		`{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {a: kubetest-secret!}}`,
		`{apiVersion: v1, kind: Secret, metadata: {name: a}, data: [kubetest-secret]}`,
	} {
		_, err := s.cluster.Objects.Apply(s.ctx, s.object(text), kube.ApplyOptions{})
		require.Error(t, err, text)
		assert.NotContains(t, err.Error(), "kubetest-secret")
		_, err = s.cluster.Objects.Create(s.ctx, s.object(text))
		require.Error(t, err, text)
		assert.NotContains(t, err.Error(), "kubetest-secret")
	}
}

func testCustomResource(s *scene) {
	t := s.t
	group := "k" + s.suffix + ".kubetest.example"
	crd := s.object(definition(group, "Widget", "widgets"))
	s.cleanup(t, kube.RefOf(crd))
	widget := func(name, size string) string {
		return `{apiVersion: ` + group + `/v1, kind: Widget, metadata: {name: ` + name + `}, spec: {size: ` + size + `}}`
	}
	_, err := s.cluster.Objects.Create(s.ctx, s.object(widget("early", "1")))
	require.ErrorIs(t, err, planewright.ErrNotFound, "its kind is not served yet")

	s.apply(t, crd)
	require.NoError(t, s.wait(kube.WaitRequest{Refs: []kube.Ref{kube.RefOf(crd)}}))
	made := s.applySoon(t, widget("one", "1"))
	assert.EqualValues(t, 1, made.GetGeneration())
	assert.EqualValues(t, 1, field(made, "spec", "size"))
	_, err = s.cluster.Objects.Apply(s.ctx, s.object(widget("two", "0")), kube.ApplyOptions{})
	require.ErrorIs(t, err, planewright.ErrInvalid)
	require.ErrorContains(t, err, "spec.size")
	assert.Equal(t, made.GetResourceVersion(), s.apply(t, s.object(widget("one", "1"))).GetResourceVersion())
	assert.EqualValues(t, 2, s.apply(t, s.object(widget("one", "2"))).GetGeneration())

	require.NoError(t, s.cluster.Objects.Delete(s.ctx, kube.RefOf(crd), kube.DeleteOptions{}))
	s.waitGone(t, kube.RefOf(crd))
	_, err = s.cluster.Objects.Get(s.ctx, s.ref(group+"/v1", "Widget", "one"))
	assert.ErrorIs(t, err, planewright.ErrNotFound, "deleting the definition deletes its objects")
}
