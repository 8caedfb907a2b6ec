package kubetest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (s *suite) releases(t *testing.T) {
	s.test(t, "a plan of a new release shows it and does nothing", testReleaseFresh)
	s.test(t, "an applied release is deployed, and looks as Helm's do", testReleaseInstall)
	s.test(t, "the second install finds nothing to do and writes nothing", testReleaseTwice)
	s.test(t, "changed values are an upgrade that the plan shows", testReleaseUpgrade)
	s.test(t, "an object that the chart drops is deleted", testReleaseDrop)
	s.test(t, "a release renders for files in install order, without a cluster", testReleaseRender)
	s.test(t, "secrets do not show in plans", testReleaseSecret)
	s.test(t, "objects go where their manifest says, else into the release's namespace", testReleaseNamespaces)
	s.test(t, "the latest records are listed", testReleaseList)
	s.test(t, "an earlier revision comes back by a rollback", testReleaseRollback)
	s.test(t, "an uninstall leaves nothing", testReleaseUninstall)
	s.test(t, "an uninstall keeps definitions, unless they are to be dropped", testReleaseCRDs)
	s.test(t, "a release that is not there is not found", testReleaseNotFound)
	s.test(t, "a message that the chart fails with is an invalid release", testReleaseChartFails)
	s.test(t, "a release of bad objects is refused, and can be mended", testReleaseBadObject)
	s.test(t, "a release that is too big for its record is refused before anything is written", testReleaseTooBig)
	s.test(t, "a release into a namespace that is missing is not found", testReleaseNamespaceMissing)
	s.test(t, "a hook runs before the rest", testReleaseHook)
	s.test(t, "a cancelled install does not begin", testReleaseCancelled)
	s.test(t, "installs side by side do not disturb each other", testReleaseParallel)
	s.drifts(t)
	s.owners(t)
}

func (s *scene) release(values kube.Values) kube.Release {
	return kube.Release{Name: "app", Namespace: s.namespace, Chart: appChart(), Values: values, Owner: "kubetest/" + s.suffix}
}

func (s *scene) plan(t *testing.T, r kube.Release) kube.ReleasePlan {
	t.Helper()
	p, err := s.cluster.Releases.Plan(s.ctx, r)
	require.NoError(t, err)
	return p
}

func (s *scene) install(t *testing.T, r kube.Release) kube.ReleaseState {
	t.Helper()
	state, err := s.cluster.Releases.Apply(s.ctx, r)
	require.NoError(t, err)
	return state
}

// settled waits until the controllers have written what they write into the
// workload of [appChart].
func (s *scene) settled(t *testing.T) {
	t.Helper()
	require.NoError(t, s.wait(kube.WaitRequest{Refs: []kube.Ref{s.ref("apps/v1", "Deployment", "app")}}))
}

// nothingToDo checks that a plan is empty and that carrying it out writes nothing.
func (s *scene) nothingToDo(t *testing.T, r kube.Release) {
	t.Helper()
	before := s.versions(t)
	state, err := s.cluster.Releases.State(s.ctx, r.Namespace, r.Name)
	require.NoError(t, err)
	p := s.plan(t, r)
	assert.Equal(t, planewright.ActionNone, p.Action, "%s %v", p.Reason, p.Diff)
	assert.Empty(t, p.Diff)
	assert.Empty(t, p.Deletes)
	assert.False(t, p.Drift)
	assert.Equal(t, state, s.install(t, r))
	assert.Equal(t, before, s.versions(t), "nothing may be written")
}

func names(refs []kube.Ref) []string {
	list := make([]string, len(refs))
	for i, r := range refs {
		list[i] = r.Kind + " " + r.Name
	}
	return list
}

func paths(diff []planewright.FieldDiff) string {
	list := make([]string, len(diff))
	for i, d := range diff {
		list[i] = d.Path
	}
	return strings.Join(list, "\n")
}

func testReleaseFresh(s *scene) {
	t := s.t
	before := s.versions(t)
	p := s.plan(t, s.release(nil))
	assert.Equal(t, planewright.ActionCreate, p.Action)
	assert.Nil(t, p.State)
	assert.NotEmpty(t, p.Diff)
	var kinds []string
	for _, obj := range p.Objects {
		kinds = append(kinds, obj.GetKind())
		assert.Equal(t, s.namespace, obj.GetNamespace())
	}
	assert.Equal(t, []string{"ServiceAccount", "Secret", "ConfigMap", "Service", "Deployment"}, kinds)
	assert.Equal(t, before, s.versions(t), "a plan persists nothing")
	_, err := s.cluster.Releases.State(s.ctx, s.namespace, "app")
	assert.ErrorIs(t, err, planewright.ErrNotFound)
}

func testReleaseInstall(s *scene) {
	t := s.t
	state := s.install(t, s.release(kube.Values{"size": "large"}))
	assert.Equal(t, "app", state.Name)
	assert.Equal(t, s.namespace, state.Namespace)
	assert.Equal(t, 1, state.Revision)
	assert.Equal(t, "deployed", state.Status)
	assert.Equal(t, []string{"app", "1.2.3", "4.5"}, []string{state.Chart, state.ChartVersion, state.AppVersion})
	assert.Equal(t, "kubetest/"+s.suffix, state.Owner)
	assert.False(t, state.Pending())
	assert.Equal(t, []string{"ServiceAccount app", "Secret app-secret", "ConfigMap app-settings", "Service app", "Deployment app"}, names(state.Objects))

	read, err := s.cluster.Releases.State(s.ctx, s.namespace, "app")
	require.NoError(t, err)
	assert.Equal(t, state, read)

	settings := s.get(t, "v1", "ConfigMap", "app-settings")
	assert.Equal(t, "large", field(settings, "data", "size"))
	assert.Equal(t, "Helm", settings.GetLabels()["app.kubernetes.io/managed-by"])
	assert.Equal(t, "app", settings.GetAnnotations()["meta.helm.sh/release-name"])
	assert.Equal(t, s.namespace, settings.GetAnnotations()["meta.helm.sh/release-namespace"])
	record := s.get(t, "v1", "Secret", "sh.helm.release.v1.app.v1")
	assert.Equal(t, "helm.sh/release.v1", field(record, "type"))
	assert.Equal(t, "deployed", record.GetLabels()["status"])
	s.settled(t)
}

func testReleaseTwice(s *scene) {
	t := s.t
	r := s.release(kube.Values{"size": "large", "password": "kubetest"})
	s.install(t, r)
	s.nothingToDo(t, r)
	s.settled(t)
	s.nothingToDo(t, r)
}

func testReleaseUpgrade(s *scene) {
	t := s.t
	s.install(t, s.release(nil))
	s.settled(t)
	r := s.release(kube.Values{"size": "large"})
	before := s.versions(t)
	p := s.plan(t, r)
	assert.Equal(t, planewright.ActionUpdate, p.Action)
	assert.False(t, p.Drift)
	assert.Equal(t, 1, p.State.Revision)
	assert.Contains(t, paths(p.Diff), "app-settings: data.size")
	assert.Contains(t, paths(p.Diff), "Deployment")
	assert.NotContains(t, paths(p.Diff), "Service ")
	assert.NotContains(t, paths(p.Diff), "(drift)")
	assert.Equal(t, before, s.versions(t))

	state := s.install(t, r)
	assert.Equal(t, 2, state.Revision)
	assert.Equal(t, "large", field(s.get(t, "v1", "ConfigMap", "app-settings"), "data", "size"))
	history, err := s.cluster.Releases.History(s.ctx, s.namespace, "app")
	require.NoError(t, err)
	require.Len(t, history, 2)
	assert.Equal(t, []string{"superseded", "deployed"}, []string{history[0].Status, history[1].Status})
	assert.Equal(t, state, history[1])
	s.settled(t)
	s.nothingToDo(t, r)
}

func testReleaseDrop(s *scene) {
	t := s.t
	s.install(t, s.release(kube.Values{"extra": true}))
	s.get(t, "v1", "ConfigMap", "app-extra")
	p := s.plan(t, s.release(nil))
	assert.Equal(t, planewright.ActionUpdate, p.Action)
	assert.Equal(t, []kube.Ref{s.ref("v1", "ConfigMap", "app-extra")}, p.Deletes)
	s.install(t, s.release(nil))
	s.waitGone(t, s.ref("v1", "ConfigMap", "app-extra"))
	s.nothingToDo(t, s.release(nil))
}

func testReleaseRender(s *scene) {
	t := s.t
	objects, err := s.cluster.Releases.Render(s.ctx, s.release(kube.Values{"extra": true}))
	require.NoError(t, err)
	var rendered []string
	for _, obj := range objects {
		rendered = append(rendered, obj.GetKind()+" "+obj.GetName())
		assert.Equal(t, s.namespace, obj.GetNamespace())
	}
	assert.Equal(t, []string{"ServiceAccount app", "Secret app-secret", "ConfigMap app-extra", "ConfigMap app-settings", "Service app", "Deployment app"}, rendered)
}

func testReleaseSecret(s *scene) {
	t := s.t
	one, two := s.release(kube.Values{"password": "kubetest-one"}), s.release(kube.Values{"password": "kubetest-two"})
	for _, step := range []struct {
		plan    kube.Release
		install bool
	}{{one, true}, {two, true}, {one, false}} {
		p := s.plan(t, step.plan)
		assert.NotEqual(t, planewright.ActionNone, p.Action)
		hidden := p.Action == planewright.ActionCreate // a whole object has no fields to hide
		for _, d := range p.Diff {
			assert.NotContains(t, d.Before+d.After, "kubetest-one")
			assert.NotContains(t, d.Before+d.After, "kubetest-two")
			hidden = hidden || d.Secret && d.Before == "" && d.After == ""
		}
		assert.True(t, hidden, "the plan says that a secret changes: %v", p.Diff)
		assert.NotContains(t, p.Fingerprint+p.Reason, "kubetest-")
		if step.install {
			s.install(t, step.plan)
		}
	}
}

func testReleaseNamespaces(s *scene) {
	t := s.t
	other := s.namespace + "-other"
	s.cleanup(t, s.ref("v1", "Namespace", other))
	s.create(t, manifest(`{apiVersion: v1, kind: Namespace, metadata: {name: `+other+`}}`))
	s.cleanup(t, s.ref("rbac.authorization.k8s.io/v1", "ClusterRole", "kubetest-"+s.suffix))
	templates := appTemplates()
	templates["elsewhere.yaml"] = `
apiVersion: v1
kind: ConfigMap
metadata: {name: elsewhere, namespace: {{ .Release.Namespace }}-other}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: kubetest-` + s.suffix + `}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
`
	r := s.release(nil)
	r.Chart = newChart(templates)
	s.install(t, r)
	_, err := s.cluster.Objects.Get(s.ctx, kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: other, Name: "elsewhere"})
	require.NoError(t, err)
	s.get(t, "rbac.authorization.k8s.io/v1", "ClusterRole", "kubetest-"+s.suffix)
	s.get(t, "v1", "ConfigMap", "app-settings")
	_, err = s.cluster.Objects.Get(s.ctx, kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "default", Name: "app-settings"})
	require.ErrorIs(t, err, planewright.ErrNotFound)
	s.nothingToDo(t, r)
	kept, err := s.cluster.Releases.Uninstall(s.ctx, s.namespace, "app")
	require.NoError(t, err)
	assert.Empty(t, kept)
	_, err = s.cluster.Objects.Get(s.ctx, kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: other, Name: "elsewhere"})
	assert.ErrorIs(t, err, planewright.ErrNotFound)
}

func testReleaseList(s *scene) {
	t := s.t
	a, b := s.release(nil), s.release(nil)
	a.Name, b.Name = "a", "b"
	s.install(t, a)
	s.install(t, b)
	b.Values = kube.Values{"size": "large"}
	s.install(t, b)
	list, err := s.cluster.Releases.List(s.ctx, s.namespace)
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, []string{"a 1 deployed", "b 2 deployed"}, []string{summary(list[0]), summary(list[1])})
	all, err := s.cluster.Releases.List(s.ctx, "")
	require.NoError(t, err)
	for _, state := range list {
		assert.Contains(t, all, state)
	}
}

func summary(s kube.ReleaseState) string {
	return fmt.Sprintf("%s %d %s", s.Name, s.Revision, s.Status)
}

func testReleaseRollback(s *scene) {
	t := s.t
	s.install(t, s.release(kube.Values{"size": "small"}))
	s.install(t, s.release(kube.Values{"size": "large", "extra": true}))
	state, err := s.cluster.Releases.Rollback(s.ctx, s.namespace, "app", 0)
	require.NoError(t, err)
	assert.Equal(t, "app 3 deployed", summary(state))
	assert.Equal(t, "small", field(s.get(t, "v1", "ConfigMap", "app-settings"), "data", "size"))
	s.waitGone(t, s.ref("v1", "ConfigMap", "app-extra"))
	state, err = s.cluster.Releases.Rollback(s.ctx, s.namespace, "app", 2)
	require.NoError(t, err)
	assert.Equal(t, "app 4 deployed", summary(state))
	assert.Equal(t, "large", field(s.get(t, "v1", "ConfigMap", "app-settings"), "data", "size"))
	_, err = s.cluster.Releases.Rollback(s.ctx, s.namespace, "app", 9)
	require.ErrorIs(t, err, planewright.ErrNotFound)
	p := s.plan(t, s.release(kube.Values{"size": "small"}))
	assert.Equal(t, planewright.ActionUpdate, p.Action, "the release is not as it should be")
	s.install(t, s.release(kube.Values{"size": "small"}))
	s.nothingToDo(t, s.release(kube.Values{"size": "small"}))
}

func testReleaseUninstall(s *scene) {
	t := s.t
	before := s.versions(t)
	s.install(t, s.release(nil))
	s.install(t, s.release(kube.Values{"size": "large"}))
	s.settled(t)
	kept, err := s.cluster.Releases.Uninstall(s.ctx, s.namespace, "app")
	require.NoError(t, err)
	assert.Empty(t, kept)
	assert.Equal(t, before, s.versions(t), "objects and records are gone")
	_, err = s.cluster.Objects.Get(s.ctx, s.ref("apps/v1", "Deployment", "app"))
	require.ErrorIs(t, err, planewright.ErrNotFound)
	_, err = s.cluster.Releases.State(s.ctx, s.namespace, "app")
	require.ErrorIs(t, err, planewright.ErrNotFound)
	assert.Equal(t, 1, s.install(t, s.release(nil)).Revision, "it can be installed again")
}

func testReleaseCRDs(s *scene) {
	t := s.t
	group := "k" + s.suffix + ".kubetest.example"
	crd := kube.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "widgets." + group}
	s.cleanup(t, crd)
	templates := appTemplates()
	templates["definition.yaml"] = definition(group, "Widget", "widgets")
	r := s.release(nil)
	r.Chart = newChart(templates)
	s.install(t, r)
	require.NoError(t, s.wait(kube.WaitRequest{Refs: []kube.Ref{crd}}))
	s.nothingToDo(t, r)
	s.applySoon(t, `{apiVersion: `+group+`/v1, kind: Widget, metadata: {name: precious}, spec: {size: 1}}`)

	s.install(t, s.release(nil)) // a revision without the definition
	_, err := s.cluster.Objects.Get(s.ctx, crd)
	require.NoError(t, err, "a definition that a revision drops is kept")
	s.install(t, r)
	kept, err := s.cluster.Releases.Uninstall(s.ctx, s.namespace, "app")
	require.NoError(t, err)
	assert.Equal(t, []kube.Ref{crd}, kept)
	s.get(t, group+"/v1", "Widget", "precious")

	r.DropCRDs = true
	r.Adopt = true // it still carries the marks of the release that is gone
	s.install(t, r)
	kept, err = s.cluster.Releases.Uninstall(s.ctx, s.namespace, "app")
	require.NoError(t, err)
	assert.Empty(t, kept)
	s.waitGone(t, crd)
}

func testReleaseNotFound(s *scene) {
	t := s.t
	_, err := s.cluster.Releases.State(s.ctx, s.namespace, "nobody")
	require.ErrorIs(t, err, planewright.ErrNotFound)
	require.ErrorContains(t, err, "nobody")
	require.ErrorContains(t, err, s.cluster.Name)
	_, err = s.cluster.Releases.Uninstall(s.ctx, s.namespace, "nobody")
	require.ErrorIs(t, err, planewright.ErrNotFound)
	_, err = s.cluster.Releases.Rollback(s.ctx, s.namespace, "nobody", 0)
	require.ErrorIs(t, err, planewright.ErrNotFound)
	list, err := s.cluster.Releases.List(s.ctx, s.namespace)
	require.NoError(t, err)
	assert.Empty(t, list)
}

func testReleaseChartFails(s *scene) {
	t := s.t
	templates := appTemplates()
	templates["check.yaml"] = `{{ fail (printf "size %s is not supported" .Values.size) }}`
	r := s.release(kube.Values{"size": "huge"})
	r.Chart = newChart(templates)
	before := s.versions(t)
	for op, call := range map[string]func() error{
		"render": func() error { _, err := s.cluster.Releases.Render(s.ctx, r); return err },
		"plan":   func() error { _, err := s.cluster.Releases.Plan(s.ctx, r); return err },
		"apply":  func() error { _, err := s.cluster.Releases.Apply(s.ctx, r); return err },
	} {
		err := call()
		require.ErrorIs(t, err, planewright.ErrInvalid, op)
		require.ErrorContains(t, err, "size huge is not supported", op)
		assert.False(t, retryable(err), op)
	}
	assert.Equal(t, before, s.versions(t), "nothing may be written")
}

func testReleaseBadObject(s *scene) {
	t := s.t
	templates := appTemplates()
	templates["bad.yaml"] = `{apiVersion: v1, kind: Service, metadata: {name: bad}, spec: {ports: [{port: 99999}]}}`
	r := s.release(nil)
	r.Chart = newChart(templates)
	_, err := s.cluster.Releases.Apply(s.ctx, r)
	require.ErrorIs(t, err, planewright.ErrInvalid)
	require.ErrorContains(t, err, "bad")
	require.ErrorContains(t, err, "99999")
	p := s.plan(t, s.release(nil))
	assert.NotEqual(t, planewright.ActionNone, p.Action)
	state := s.install(t, s.release(nil))
	assert.Equal(t, "deployed", state.Status)
	s.nothingToDo(t, s.release(nil))
}

func testReleaseTooBig(s *scene) {
	t := s.t
	r := s.release(nil)
	r.Chart = newChart(appTemplates(), kube.ChartFile{Name: "files/stray.tgz", Data: incompressible(1 << 20)})
	before := s.versions(t)
	_, err := s.cluster.Releases.Apply(s.ctx, r)
	require.ErrorIs(t, err, planewright.ErrInvalid)
	assert.False(t, retryable(err))
	assert.Equal(t, before, s.versions(t), "nothing may be written")
}

// incompressible makes bytes that cannot be made fewer.
func incompressible(n int) []byte {
	var data []byte
	for sum := sha256.Sum256(nil); len(data) < n; sum = sha256.Sum256(sum[:]) {
		data = append(data, sum[:]...)
	}
	return data[:n]
}

func testReleaseNamespaceMissing(s *scene) {
	t := s.t
	r := s.release(nil)
	r.Namespace = "kubetest-nowhere"
	p, err := s.cluster.Releases.Plan(s.ctx, r)
	require.NoError(t, err, "a plan may be made before the namespace is")
	assert.Equal(t, planewright.ActionCreate, p.Action)
	_, err = s.cluster.Releases.Apply(s.ctx, r)
	require.ErrorIs(t, err, planewright.ErrNotFound)
	assert.ErrorContains(t, err, "kubetest-nowhere")
}

func testReleaseHook(s *scene) {
	t := s.t
	templates := appTemplates()
	templates["hook.yaml"] = `
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-migrate
  annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-delete-policy: before-hook-creation}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "registry.example/migrate:1"}]
`
	r := s.release(nil)
	r.Chart = newChart(templates)
	s.install(t, r)
	assert.EqualValues(t, 1, field(s.get(t, "batch/v1", "Job", "app-migrate"), "status", "succeeded"))
	s.nothingToDo(t, r)
}

func testReleaseCancelled(s *scene) {
	t := s.t
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	before := s.versions(t)
	_, err := s.cluster.Releases.Apply(ctx, s.release(nil))
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, before, s.versions(t))
}

func testReleaseParallel(s *scene) {
	t := s.t
	shared := appChart()
	var installs sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		installs.Go(func() {
			_, errs[i] = s.cluster.Releases.Apply(s.ctx, kube.Release{
				Name: fmt.Sprintf("app-%d", i), Namespace: s.namespace, Chart: shared, Values: kube.Values{"size": fmt.Sprint(i)},
			})
		})
	}
	installs.Wait()
	for i, err := range errs {
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprint(i), field(s.get(t, "v1", "ConfigMap", fmt.Sprintf("app-%d-settings", i)), "data", "size"))
	}
}
