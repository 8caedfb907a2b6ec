package kubetest

import (
	"testing"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (s *suite) owners(t *testing.T) {
	s.test(t, "an install of ours that was cut off is recovered", testPendingInstall)
	s.test(t, "an upgrade of ours that was cut off is recovered", testPendingUpgrade)
	s.test(t, "a pending release of somebody else's is left alone, unless it may be recovered", testPendingForeign)
	s.test(t, "a release of another stack is left alone, unless it may be adopted", testForeignRelease)
	s.test(t, "a failed revision is repaired by the next", testFailedRevision)
	s.test(t, "objects that belong to nobody or others are all listed, and adopted only on request", testForeignObjects)
}

func testPendingInstall(s *scene) {
	t := s.t
	r := s.release(nil)
	s.install(t, r)
	require.NoError(t, s.cluster.Objects.Delete(s.ctx, s.ref("v1", "ConfigMap", "app-settings"), kube.DeleteOptions{}), "it had not come that far")
	s.cutOff(t, 1, "pending-install", time.Minute)
	state, err := s.cluster.Releases.State(s.ctx, s.namespace, "app")
	require.NoError(t, err)
	assert.True(t, state.Pending())

	p := s.plan(t, r)
	assert.NotEqual(t, planewright.ActionNone, p.Action)
	assert.Contains(t, p.Reason, "pending")
	assert.Equal(t, "deployed", s.install(t, r).Status)
	s.get(t, "v1", "ConfigMap", "app-settings")
	s.settled(t)
	s.nothingToDo(t, r)
}

func testPendingUpgrade(s *scene) {
	t := s.t
	s.install(t, s.release(nil))
	s.install(t, s.release(kube.Values{"size": "medium"}))
	s.cutOff(t, 2, "pending-upgrade", time.Minute)
	r := s.release(kube.Values{"size": "large"})
	assert.Equal(t, planewright.ActionUpdate, s.plan(t, r).Action)
	assert.Equal(t, "deployed", s.install(t, r).Status)
	assert.Equal(t, "large", field(s.get(t, "v1", "ConfigMap", "app-settings"), "data", "size"))
	s.settled(t)
	s.nothingToDo(t, r)
}

func testPendingForeign(s *scene) {
	t := s.t
	theirs := s.release(nil)
	theirs.Owner = "kubetest/other"
	s.install(t, theirs)
	s.cutOff(t, 1, "pending-upgrade", time.Hour)
	ours := s.release(kube.Values{"size": "large"})
	ours.Adopt = true
	before := s.versions(t)
	for op, call := range map[string]func(kube.Release) error{
		"plan":  func(r kube.Release) error { _, err := s.cluster.Releases.Plan(s.ctx, r); return err },
		"apply": func(r kube.Release) error { _, err := s.cluster.Releases.Apply(s.ctx, r); return err },
	} {
		err := call(ours)
		require.ErrorIs(t, err, kube.ErrReleasePending, op)
		var pending *kube.PendingError
		require.ErrorAs(t, err, &pending, op)
		assert.Equal(t, "app 1 pending-upgrade", summary(pending.State), op)
		assert.InDelta(t, time.Hour, pending.Age, float64(10*time.Minute), op)
		assert.False(t, retryable(err), op)

		impatient := ours
		impatient.RecoverPending, impatient.PendingAge = true, 2*time.Hour
		require.ErrorIs(t, call(impatient), kube.ErrReleasePending, op)
	}
	assert.Equal(t, before, s.versions(t), "nothing may be written")

	ours.RecoverPending = true
	state := s.install(t, ours)
	assert.Equal(t, "deployed", state.Status)
	assert.Equal(t, ours.Owner, state.Owner)
	s.settled(t)
	s.nothingToDo(t, ours)
}

func testForeignRelease(s *scene) {
	t := s.t
	theirs := s.release(nil)
	theirs.Owner = "kubetest/other"
	s.install(t, theirs)
	ours := s.release(kube.Values{"size": "large"})
	before := s.versions(t)
	_, err := s.cluster.Releases.Plan(s.ctx, ours)
	require.ErrorIs(t, err, planewright.ErrConflict)
	require.ErrorContains(t, err, "kubetest/other")
	_, err = s.cluster.Releases.Apply(s.ctx, ours)
	require.ErrorIs(t, err, planewright.ErrConflict)
	assert.False(t, retryable(err))
	assert.Equal(t, before, s.versions(t), "nothing may be written")

	ours.Adopt = true
	assert.Equal(t, planewright.ActionAdopt, s.plan(t, ours).Action)
	assert.Equal(t, ours.Owner, s.install(t, ours).Owner)
	ours.Adopt = false
	s.settled(t)
	s.nothingToDo(t, ours)
}

func testFailedRevision(s *scene) {
	t := s.t
	r := s.release(nil)
	s.install(t, r)
	s.cutOff(t, 1, "failed", time.Minute)
	p := s.plan(t, r)
	assert.Equal(t, planewright.ActionUpdate, p.Action)
	assert.Contains(t, p.Reason, "failed")
	assert.Equal(t, "app 2 deployed", summary(s.install(t, r)))
	s.settled(t)
	s.nothingToDo(t, r)
}

func testForeignObjects(s *scene) {
	t := s.t
	s.create(t, s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: app-settings}, data: {size: theirs, more: "1"}}`))
	s.create(t, s.object(`{apiVersion: v1, kind: ServiceAccount, metadata: {name: app, labels: {app.kubernetes.io/managed-by: Helm}, annotations: {meta.helm.sh/release-name: other, meta.helm.sh/release-namespace: elsewhere}}}`))
	r := s.release(nil)
	before := s.versions(t)
	_, err := s.cluster.Releases.Apply(s.ctx, r)
	require.ErrorIs(t, err, planewright.ErrConflict)
	require.ErrorContains(t, err, "ConfigMap "+s.namespace+"/app-settings")
	require.ErrorContains(t, err, "ServiceAccount "+s.namespace+"/app")
	require.ErrorContains(t, err, "elsewhere/other")
	assert.False(t, retryable(err))
	assert.Equal(t, before, s.versions(t), "nothing may be written")

	r.AdoptOrphans = []kube.Ref{{APIVersion: "v1", Kind: "ConfigMap", Namespace: s.namespace, Name: "app-settings"}, {APIVersion: "v1", Kind: "ServiceAccount", Namespace: s.namespace, Name: "app"}}
	_, err = s.cluster.Releases.Apply(s.ctx, r)
	var refused *kube.OwnershipError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, []kube.OwnedObject{{Ref: r.AdoptOrphans[1], Owner: "release elsewhere/other"}}, refused.Objects, "what belongs to a release is no orphan")
	assert.Equal(t, before, s.versions(t), "nothing may be written")

	r.Adopt = true
	p := s.plan(t, r)
	assert.Equal(t, planewright.ActionAdopt, p.Action)
	assert.Equal(t, "deployed", s.install(t, r).Status)
	settings := s.get(t, "v1", "ConfigMap", "app-settings")
	assert.Equal(t, "small", field(settings, "data", "size"))
	assert.Equal(t, "app", settings.GetAnnotations()["meta.helm.sh/release-name"])
	s.settled(t)
	r.Adopt = false
	s.nothingToDo(t, r)
}
