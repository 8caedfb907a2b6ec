package live_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// maxSecondReads is what a plan of an unchanged release may cost in reads: the
// whole second install of a cluster has 20.
const maxSecondReads = 15

func TestInstallThenNothingToDo(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	cluster := fleet.Cluster("dp-1")

	plan, err := cluster.Releases.Plan(ctx, demo(nil))
	require.NoError(t, err)
	assert.Equal(t, planewright.ActionCreate, plan.Action)
	assert.Nil(t, plan.State)
	assert.Contains(t, paths(plan), "Deployment flyte/demo")
	assert.Zero(t, fleet.Writes("dp-1"), "a plan writes nothing")

	state, err := cluster.Releases.Apply(ctx, demo(nil))
	require.NoError(t, err)
	assert.Equal(t, "deployed", state.Status)
	assert.Equal(t, 1, state.Revision)
	assert.Equal(t, owner, state.Owner)
	assert.Equal(t, "demo", state.Chart)
	assert.Equal(t, "1.0.0", state.ChartVersion)
	assert.Equal(t, "7", state.AppVersion)
	assert.Equal(t, []kube.Ref{
		{APIVersion: "v1", Kind: "ServiceAccount", Namespace: "flyte", Name: "demo"},
		{APIVersion: "v1", Kind: "Secret", Namespace: "flyte", Name: "demo"},
		{APIVersion: "v1", Kind: "ConfigMap", Namespace: "flyte", Name: "demo"},
		{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "gadgets.demo.example.com"},
		{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: "flyte-demo"},
		{APIVersion: "v1", Kind: "Service", Namespace: "flyte", Name: "demo"},
		{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "flyte", Name: "demo"},
	}, state.Objects)
	require.NoError(t, cluster.Objects.Wait(ctx, kube.WaitRequest{Refs: state.Objects}))

	fleet.ForgetCalls()
	again := fleet.Cluster("dp-1") // as a new process would see it
	plan, err = again.Releases.Plan(ctx, demo(nil))
	require.NoError(t, err)
	assert.Equal(t, planewright.ActionNone, plan.Action, "%v", plan.Diff)
	assert.Empty(t, plan.Diff)
	assert.False(t, plan.Drift)
	assert.Len(t, plan.Objects, len(state.Objects))
	assert.LessOrEqual(t, fleet.Reads("dp-1"), maxSecondReads)

	same, err := again.Releases.Apply(ctx, demo(nil))
	require.NoError(t, err)
	assert.Equal(t, state.Revision, same.Revision)
	assert.Zero(t, fleet.Writes("dp-1"), "the second install persists nothing")
}

func TestUpgradeShowsWhatItChanges(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	cluster := fleet.Cluster("dp-1")
	_, err := cluster.Releases.Apply(ctx, demo(kube.Values{"extra": true}))
	require.NoError(t, err)

	changed := demo(kube.Values{"replicas": 3, "password": "s3cret"})
	plan, err := cluster.Releases.Plan(ctx, changed)
	require.NoError(t, err)
	assert.Equal(t, planewright.ActionUpdate, plan.Action)
	assert.Contains(t, plan.Diff, planewright.FieldDiff{Path: "Deployment flyte/demo: spec.replicas", Before: "1", After: "3"})
	assert.Contains(t, plan.Diff, planewright.FieldDiff{Path: "Secret flyte/demo: stringData.password", Secret: true})
	assert.NotContains(t, plan.Diff, planewright.FieldDiff{Path: "values.replicas", Secret: true}, "the objects show what values change")
	assert.Contains(t, plan.Diff, planewright.FieldDiff{Path: "ConfigMap flyte/demo-extra", Before: "(object)"})
	assert.Equal(t, []kube.Ref{{APIVersion: "v1", Kind: "ConfigMap", Namespace: "flyte", Name: "demo-extra"}}, plan.Deletes)
	assert.NotContains(t, fmt.Sprintf("%+v", plan.Diff), "s3cret")

	state, err := cluster.Releases.Apply(ctx, changed)
	require.NoError(t, err)
	assert.Equal(t, 2, state.Revision)
	_, err = cluster.Objects.Get(ctx, plan.Deletes[0])
	require.ErrorIs(t, err, planewright.ErrNotFound)
	plan, err = cluster.Releases.Plan(ctx, changed)
	require.NoError(t, err)
	assert.Equal(t, planewright.ActionNone, plan.Action, "%v", plan.Diff)

	t.Run("values that are taken back are not kept from the revision before", func(t *testing.T) {
		_, err := cluster.Releases.Apply(ctx, demo(nil))
		require.NoError(t, err)
		deployment, err := cluster.Objects.Get(ctx, kube.Ref{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "flyte", Name: "demo"})
		require.NoError(t, err)
		assert.Equal(t, int64(1), deployment.Object["spec"].(map[string]any)["replicas"])
	})
}

func TestDriftIsFoundAndRepaired(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	cluster := fleet.Cluster("dp-1")
	_, err := cluster.Releases.Apply(ctx, demo(nil))
	require.NoError(t, err)

	deployment := kube.Ref{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "flyte", Name: "demo"}
	edit(t, cluster, deployment, func(live *unstructured.Unstructured) {
		live.Object["spec"].(map[string]any)["replicas"] = int64(5)
		live.SetAnnotations(map[string]string{"note": "by hand", "meta.helm.sh/release-name": "demo", "meta.helm.sh/release-namespace": "flyte"})
	})
	require.NoError(t, cluster.Objects.Delete(ctx, kube.Ref{APIVersion: "v1", Kind: "Service", Namespace: "flyte", Name: "demo"}, kube.DeleteOptions{}))

	plan, err := cluster.Releases.Plan(ctx, demo(nil))
	require.NoError(t, err)
	assert.True(t, plan.Drift)
	assert.Equal(t, planewright.ActionUpdate, plan.Action)
	assert.Equal(t, []planewright.FieldDiff{
		{Path: "Service flyte/demo (drift)", After: "(object)"},
		{Path: "Deployment flyte/demo (drift): spec.replicas", Before: "5", After: "1"},
	}, plan.Diff)

	_, err = cluster.Releases.Apply(ctx, demo(nil))
	require.NoError(t, err)
	plan, err = cluster.Releases.Plan(ctx, demo(nil))
	require.NoError(t, err)
	assert.Equal(t, planewright.ActionNone, plan.Action, "%v", plan.Diff)
	live, err := cluster.Objects.Get(ctx, deployment)
	require.NoError(t, err)
	assert.Equal(t, "by hand", live.GetAnnotations()["note"], "what the chart says nothing of is others' to set")
}

func TestChartThatRefusesItsValues(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	cluster := fleet.Cluster("dp-1")
	for name, do := range map[string]func(kube.Release) error{
		"plan":   func(r kube.Release) error { _, err := cluster.Releases.Plan(inTime(t), r); return err },
		"apply":  func(r kube.Release) error { _, err := cluster.Releases.Apply(inTime(t), r); return err },
		"render": func(r kube.Release) error { _, err := cluster.Releases.Render(inTime(t), r); return err },
	} {
		t.Run(name, func(t *testing.T) {
			err := do(demo(kube.Values{"refuse": "yes"}))
			require.ErrorIs(t, err, planewright.ErrInvalid)
			require.ErrorContains(t, err, "refuse is set to yes, unset it")
			assert.False(t, retryable(err))
		})
	}
	assert.Zero(t, fleet.Writes("dp-1"))
}

func TestBadReleasesAreRefusedAllAtOnce(t *testing.T) {
	cluster := fleetOf(t, "dp-1").Cluster("dp-1")
	_, err := cluster.Releases.Plan(inTime(t), kube.Release{Name: "Bad_Name", Namespace: "no/space"})
	var invalid *planewright.ValidationError
	require.ErrorAs(t, err, &invalid)
	assert.Len(t, invalid.Problems, 3)
}

func TestObjectsOfOthersAreListedAllAtOnce(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	cluster := fleet.Cluster("dp-1")
	apply(t, cluster,
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: demo, namespace: flyte}, data: {greeting: mine}}",
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: flyte-demo, labels: {app.kubernetes.io/managed-by: Helm},
		  annotations: {meta.helm.sh/release-name: old, meta.helm.sh/release-namespace: other}}, rules: []}`)
	fleet.ForgetCalls()

	for _, do := range []func() error{
		func() error { _, err := cluster.Releases.Plan(ctx, demo(nil)); return err },
		func() error { _, err := cluster.Releases.Apply(ctx, demo(nil)); return err },
	} {
		err := do()
		var ownership *kube.OwnershipError
		require.ErrorAs(t, err, &ownership)
		require.ErrorIs(t, err, planewright.ErrConflict)
		assert.Equal(t, []kube.OwnedObject{
			{Ref: kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "flyte", Name: "demo"}, Owner: "no release"},
			{Ref: kube.Ref{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: "flyte-demo"}, Owner: "release other/old"},
		}, ownership.Objects)
	}
	assert.Zero(t, fleet.Writes("dp-1"), "nothing is written before it is known whose things are")

	t.Run("they are adopted on request", func(t *testing.T) {
		release := demo(nil)
		release.Adopt = true
		plan, err := cluster.Releases.Plan(ctx, release)
		require.NoError(t, err)
		assert.Equal(t, planewright.ActionAdopt, plan.Action)
		assert.Contains(t, plan.Reason, "ClusterRole flyte-demo of release other/old")
		_, err = cluster.Releases.Apply(ctx, release)
		require.NoError(t, err)
		plan, err = cluster.Releases.Plan(ctx, demo(nil))
		require.NoError(t, err)
		assert.Equal(t, planewright.ActionNone, plan.Action, "%v", plan.Diff)
	})
}

func TestReleaseOfAnotherOwner(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	cluster := fleet.Cluster("dp-1")
	theirs := demo(nil)
	theirs.Owner = "flyte/other"
	_, err := cluster.Releases.Apply(ctx, theirs)
	require.NoError(t, err)

	_, err = cluster.Releases.Plan(ctx, demo(nil))
	var ownership *kube.OwnershipError
	require.ErrorAs(t, err, &ownership)
	assert.Equal(t, "stack flyte/other", ownership.Objects[0].Owner)

	ours := demo(nil)
	ours.Adopt = true
	plan, err := cluster.Releases.Plan(ctx, ours)
	require.NoError(t, err)
	assert.Equal(t, planewright.ActionAdopt, plan.Action)
	state, err := cluster.Releases.Apply(ctx, ours)
	require.NoError(t, err)
	assert.Equal(t, owner, state.Owner)
}

// TestCutOffAnywhere kills the process at every write of an install and of an
// upgrade, once before the write has its effect and once after, and at some of the
// reads; and does it again.
func TestCutOffAnywhere(t *testing.T) {
	install := func(*testing.T, *kubefake.Fleet) {}
	upgrade := func(t *testing.T, fleet *kubefake.Fleet) {
		t.Helper()
		_, err := fleet.Cluster("dp-1").Releases.Apply(inTime(t), demo(kube.Values{"extra": true, "replicas": 2, "greeting": "bye"}))
		require.NoError(t, err)
	}
	for name, prepare := range map[string]func(*testing.T, *kubefake.Fleet){"install": install, "upgrade": upgrade} {
		undisturbed := fleetOf(t, "dp-1")
		prepare(t, undisturbed)
		undisturbed.ForgetCalls()
		_, err := undisturbed.Cluster("dp-1").Releases.Apply(inTime(t), demo(nil))
		require.NoError(t, err)
		reads, writes := len(undisturbed.Calls(kubefake.Call("read"))), len(undisturbed.Calls(kubefake.Call("write")))
		require.Greater(t, writes, 4)
		want := objectsOf(t, undisturbed)

		cut := func(call kubefake.Match, opts ...kubefake.FaultOption) func(*testing.T) {
			return func(t *testing.T) {
				t.Helper()
				t.Parallel()
				fleet := fleetOf(t, "dp-1")
				prepare(t, fleet)
				fleet.Fail(call, kubefake.Killed, opts...)
				_, err := fleet.Cluster("dp-1").Releases.Apply(inTime(t), demo(nil))
				require.Error(t, err)
				fleet.Heal()
				fleet.Revive()

				cluster := fleet.Cluster("dp-1")
				plan, err := cluster.Releases.Plan(inTime(t), demo(nil))
				require.NoError(t, err)
				state, err := cluster.Releases.Apply(inTime(t), demo(nil))
				require.NoError(t, err, "the plan was %s (%s)", plan.Action, plan.Reason)
				assert.Equal(t, "deployed", state.Status)
				assert.Equal(t, want, objectsOf(t, fleet))
				_, err = cluster.Objects.Get(inTime(t), kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "flyte", Name: "demo-extra"})
				require.ErrorIs(t, err, planewright.ErrNotFound)
				plan, err = cluster.Releases.Plan(inTime(t), demo(nil))
				require.NoError(t, err)
				assert.Equal(t, planewright.ActionNone, plan.Action, "%v", plan.Diff)
			}
		}
		for n := range writes {
			t.Run(fmt.Sprintf("%s, before write %d", name, n), cut(kubefake.Call("write"), kubefake.After(n)))
			t.Run(fmt.Sprintf("%s, after write %d", name, n), cut(kubefake.Call("write"), kubefake.After(n), kubefake.AfterEffect()))
		}
		for n := 0; n < reads; n += 7 {
			t.Run(fmt.Sprintf("%s, at read %d", name, n), cut(kubefake.Call("read"), kubefake.After(n)))
		}
	}
}

// objectsOf are the contents of a demo release's objects.
func objectsOf(t *testing.T, fleet *kubefake.Fleet) map[string]any {
	t.Helper()
	cluster := fleet.Cluster("dp-1")
	state, err := cluster.Releases.State(t.Context(), "flyte", "demo")
	require.NoError(t, err)
	all := map[string]any{}
	for _, ref := range state.Objects {
		obj, err := cluster.Objects.Get(t.Context(), ref)
		require.NoError(t, err)
		for _, content := range []string{"data", "spec", "rules"} {
			if c, ok := obj.Object[content]; ok && ref.Kind != "Service" {
				all[ref.String()+"."+content] = c
			}
		}
		all[ref.String()] = obj.GetAnnotations()["meta.helm.sh/release-name"]
	}
	return all
}

func TestPendingReleaseOfOthersIsLeftAlone(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	// Somebody else's install dies when it has written its record.
	theirs := demo(nil)
	theirs.Owner = ""
	fleet.Fail(kubefake.Call("create").Kind("ServiceAccount"), kubefake.Killed)
	_, err := fleet.Cluster("dp-1").Releases.Apply(ctx, theirs)
	require.Error(t, err)
	fleet.Heal()
	fleet.Revive()
	fleet.ForgetCalls()

	cluster := fleet.Cluster("dp-1")
	ours := demo(nil)
	ours.Owner = ""
	for name, do := range map[string]func() error{
		"plan":  func() error { _, err := cluster.Releases.Plan(ctx, ours); return err },
		"apply": func() error { _, err := cluster.Releases.Apply(ctx, ours); return err },
	} {
		t.Run(name, func(t *testing.T) {
			err := do()
			require.ErrorIs(t, err, kube.ErrReleasePending)
			var pending *kube.PendingError
			require.ErrorAs(t, err, &pending)
			assert.Equal(t, "pending-install", pending.State.Status)
			assert.Equal(t, "dp-1", pending.Cluster)
		})
	}
	assert.Zero(t, fleet.Writes("dp-1"))

	t.Run("it is too young to be recovered", func(t *testing.T) {
		ours.RecoverPending = true
		_, err := cluster.Releases.Apply(ctx, ours)
		require.ErrorIs(t, err, kube.ErrReleasePending)
	})
	t.Run("it is old enough to be recovered", func(t *testing.T) {
		ours.RecoverPending, ours.PendingAge = true, time.Nanosecond
		plan, err := cluster.Releases.Plan(ctx, ours)
		require.NoError(t, err)
		assert.Equal(t, "recovering revision 1, which was left pending-install", plan.Reason)
		state, err := cluster.Releases.Apply(ctx, ours)
		require.NoError(t, err)
		assert.Equal(t, "deployed", state.Status)
	})
}

func TestLastWriteOfTheRecordFails(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	cluster := fleet.Cluster("dp-1")
	// The update that turns pending-install into deployed.
	fleet.Fail(kubefake.Call("update").Kind("Secret"), kubefake.ServerError)

	_, err := cluster.Releases.Apply(ctx, demo(nil))
	require.ErrorIs(t, err, planewright.ErrUnavailable, "Helm reports success")
	require.ErrorContains(t, err, "revision 1 is pending-install")
	assert.True(t, retryable(err))

	fleet.Heal()
	state, err := cluster.Releases.Apply(ctx, demo(nil))
	require.NoError(t, err)
	assert.Equal(t, "deployed", state.Status)
}

func TestFailedFirstInstallIsUpgradedOver(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	cluster := fleet.Cluster("dp-1")
	fleet.Fail(kubefake.Call("create").Kind("Deployment"), kubefake.Denied)
	_, err := cluster.Releases.Apply(ctx, demo(kube.Values{"extra": true}))
	require.ErrorIs(t, err, planewright.ErrDenied)
	require.ErrorContains(t, err, "revision 1 is failed")
	assert.False(t, retryable(err))
	fleet.Heal()

	plan, err := cluster.Releases.Plan(ctx, demo(nil))
	require.NoError(t, err)
	assert.Equal(t, planewright.ActionUpdate, plan.Action)
	assert.Equal(t, "revision 1 is failed", plan.Reason)
	state, err := cluster.Releases.Apply(ctx, demo(nil))
	require.NoError(t, err)
	assert.Equal(t, 2, state.Revision)
	_, err = cluster.Objects.Get(ctx, kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "flyte", Name: "demo-extra"})
	assert.ErrorIs(t, err, planewright.ErrNotFound, "what only the failed revision had is gone")
}

func TestLeftoversOfAFailedUpgradeAreDeleted(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	cluster := fleet.Cluster("dp-1")
	_, err := cluster.Releases.Apply(ctx, demo(nil))
	require.NoError(t, err)
	fleet.Fail(kubefake.Call("patch").Kind("Deployment"), kubefake.Denied)
	_, err = cluster.Releases.Apply(ctx, demo(kube.Values{"extra": true, "replicas": 2}))
	require.ErrorIs(t, err, planewright.ErrDenied)
	fleet.Heal()
	extra := kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "flyte", Name: "demo-extra"}
	_, err = cluster.Objects.Get(ctx, extra)
	require.NoError(t, err, "the failed upgrade has made it")

	state, err := cluster.Releases.Apply(ctx, demo(nil))
	require.NoError(t, err)
	assert.Equal(t, 3, state.Revision)
	_, err = cluster.Objects.Get(ctx, extra)
	assert.ErrorIs(t, err, planewright.ErrNotFound)
}

func TestUninstallKeepsDefinitions(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	cluster := fleet.Cluster("dp-1")
	state, err := cluster.Releases.Apply(ctx, demo(nil))
	require.NoError(t, err)

	kept, err := cluster.Releases.Uninstall(ctx, "flyte", "demo")
	require.NoError(t, err)
	definition := kube.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "gadgets.demo.example.com"}
	assert.Equal(t, []kube.Ref{definition}, kept)
	for _, ref := range state.Objects {
		_, err := cluster.Objects.Get(ctx, ref)
		if ref == definition {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, planewright.ErrNotFound, "%s", ref)
	}
	_, err = cluster.Releases.State(ctx, "flyte", "demo")
	require.ErrorIs(t, err, planewright.ErrNotFound)
	_, err = cluster.Releases.Uninstall(ctx, "flyte", "demo")
	require.ErrorIs(t, err, planewright.ErrNotFound)

	t.Run("installing again takes the kept definition for its own", func(t *testing.T) {
		_, err := cluster.Releases.Apply(ctx, demo(nil))
		require.NoError(t, err)
	})
	t.Run("with the opt-in they go", func(t *testing.T) {
		release := demo(nil)
		release.DropCRDs = true
		_, err := cluster.Releases.Apply(ctx, release)
		require.NoError(t, err)
		kept, err := cluster.Releases.Uninstall(ctx, "flyte", "demo")
		require.NoError(t, err)
		assert.Empty(t, kept)
		_, err = cluster.Objects.Get(ctx, definition)
		assert.ErrorIs(t, err, planewright.ErrNotFound)
	})
}

func TestUninstallCutOffIsTakenUpAgain(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	_, err := fleet.Cluster("dp-1").Releases.Apply(ctx, demo(nil))
	require.NoError(t, err)
	fleet.Fail(kubefake.Call("delete").Kind("Service"), kubefake.Killed, kubefake.AfterEffect())
	_, err = fleet.Cluster("dp-1").Releases.Uninstall(ctx, "flyte", "demo")
	require.Error(t, err)
	fleet.Heal()
	fleet.Revive()

	cluster := fleet.Cluster("dp-1")
	state, err := cluster.Releases.State(ctx, "flyte", "demo")
	require.NoError(t, err)
	assert.Equal(t, "uninstalling", state.Status)

	t.Run("by an uninstall", func(t *testing.T) {
		_, err := cluster.Releases.Uninstall(ctx, "flyte", "demo")
		require.NoError(t, err)
		_, err = cluster.Releases.State(ctx, "flyte", "demo")
		assert.ErrorIs(t, err, planewright.ErrNotFound)
	})
}

func TestInstallOverAnUninstallOfOursThatWasCutOff(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	_, err := fleet.Cluster("dp-1").Releases.Apply(ctx, demo(nil))
	require.NoError(t, err)
	fleet.Fail(kubefake.Call("delete").Kind("Service"), kubefake.Killed)
	_, err = fleet.Cluster("dp-1").Releases.Uninstall(ctx, "flyte", "demo")
	require.Error(t, err)
	fleet.Heal()
	fleet.Revive()

	cluster := fleet.Cluster("dp-1")
	_, err = cluster.Releases.Apply(ctx, demo(nil))
	require.NoError(t, err)
	plan, err := cluster.Releases.Plan(ctx, demo(nil))
	require.NoError(t, err)
	assert.Equal(t, planewright.ActionNone, plan.Action, "%v", plan.Diff)
}

func TestRollbackAndHistory(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	cluster := fleet.Cluster("dp-1")
	for _, replicas := range []int{1, 2} {
		_, err := cluster.Releases.Apply(ctx, demo(kube.Values{"replicas": replicas}))
		require.NoError(t, err)
	}
	state, err := cluster.Releases.Rollback(ctx, "flyte", "demo", 0)
	require.NoError(t, err)
	assert.Equal(t, 3, state.Revision)
	assert.Equal(t, owner, state.Owner)

	history, err := cluster.Releases.History(ctx, "flyte", "demo")
	require.NoError(t, err)
	var seen []string
	for _, h := range history {
		seen = append(seen, fmt.Sprintf("%d %s %s", h.Revision, h.Status, h.Owner))
	}
	assert.Equal(t, []string{"1 superseded flyte/ml", "2 superseded flyte/ml", "3 deployed flyte/ml"}, seen)

	plan, err := cluster.Releases.Plan(ctx, demo(kube.Values{"replicas": 1}))
	require.NoError(t, err)
	assert.Equal(t, planewright.ActionNone, plan.Action, "%v", plan.Diff)

	_, err = cluster.Releases.Rollback(ctx, "flyte", "demo", 7)
	require.ErrorIs(t, err, planewright.ErrNotFound)
	assert.ErrorContains(t, err, "there are 1, 2, 3")
}

func TestListTellsOtherReleasesOfTheNamespace(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	cluster := fleet.Cluster("dp-1")
	plain := chartOf("2.0.0", map[string]string{"templates/c.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .Release.Name }}\"}\n"})
	for _, name := range []string{"b", "a"} {
		_, err := cluster.Releases.Apply(ctx, kube.Release{Name: name, Namespace: "flyte", Chart: plain})
		require.NoError(t, err)
	}
	for _, namespace := range []string{"flyte", ""} {
		list, err := cluster.Releases.List(ctx, namespace)
		require.NoError(t, err)
		require.Len(t, list, 2)
		assert.Equal(t, "a", list[0].Name)
		assert.Equal(t, "demo", list[0].Chart)
	}
	list, err := cluster.Releases.List(ctx, "elsewhere")
	require.NoError(t, err)
	assert.Empty(t, list)
}

func TestMissingNamespace(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	cluster := fleet.Cluster("dp-1")
	release := demo(nil)
	release.Namespace = "nowhere"
	plan, err := cluster.Releases.Plan(inTime(t), release)
	require.NoError(t, err, "another step may make it before")
	assert.Equal(t, planewright.ActionCreate, plan.Action)
	_, err = cluster.Releases.Apply(inTime(t), release)
	require.ErrorIs(t, err, planewright.ErrNotFound)
	require.ErrorContains(t, err, "namespace nowhere")
	assert.Zero(t, fleet.Writes("dp-1"))
}

func TestRecordThatIsTooBig(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	cluster := fleet.Cluster("dp-1")
	noise := make([]byte, 1<<20)
	state := uint32(1)
	for i := range noise {
		state = state*1664525 + 1013904223
		noise[i] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+/"[state>>26]
	}
	release := demo(nil)
	release.Chart = chartOf("1.0.0", with(demoFiles(), map[string]string{"old/demo-0.9.tgz.bak": string(noise)}))
	for _, do := range []func() error{
		func() error { _, err := cluster.Releases.Plan(inTime(t), release); return err },
		func() error { _, err := cluster.Releases.Apply(inTime(t), release); return err },
	} {
		err := do()
		require.ErrorIs(t, err, planewright.ErrInvalid)
		require.ErrorContains(t, err, "old/demo-0.9.tgz.bak 1048576 bytes")
		require.ErrorContains(t, err, "the API server allows 1048576")
	}
	assert.Zero(t, fleet.Writes("dp-1"))
}

func TestCancelReportsWhatTheRecordSays(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx, cancel := context.WithCancel(inTime(t))
	// The caller gives up while Helm is writing.
	fleet.Fail(kubefake.Call("create").Kind("ServiceAccount"), kubefake.None, kubefake.Do(func(kubefake.CallRecord) { cancel() }))
	state, err := fleet.Cluster("dp-1").Releases.Apply(ctx, demo(nil))
	if err != nil {
		require.ErrorIs(t, err, context.Canceled)
		assert.ErrorContains(t, err, "its record says that revision 1 is")
		return
	}
	assert.Equal(t, "deployed", state.Status, "what was under way was written to its end")
}

func TestParallelInstalls(t *testing.T) {
	const clusters = 10
	var names []string
	for i := range clusters {
		names = append(names, fmt.Sprintf("dp-%d", i))
	}
	fleet := fleetOf(t, names...)
	ctx := inTime(t)
	chart := chartOf("1.0.0", demoFiles()) // one, shared by all
	values := kube.Values{"nested": map[string]any{"list": []any{1, "two"}}}
	errs := make([]error, 2*clusters)
	var installs sync.WaitGroup
	for i := range 2 * clusters {
		installs.Go(func() {
			cluster := fleet.Cluster(names[i%clusters])
			release := kube.Release{Name: fmt.Sprintf("demo-%d", i), Namespace: "flyte", Chart: chart, Values: values, Owner: owner}
			if i >= clusters {
				// A second release of the chart with objects of its own only.
				release.Chart = chartOf("1.0.0", map[string]string{"templates/c.yaml": demoFiles()["templates/config.yaml"], "values.yaml": "greeting: hi"})
			}
			_, errs[i] = cluster.Releases.Apply(ctx, release)
		})
	}
	installs.Wait()
	require.NoError(t, errors.Join(errs...))
}

func TestSecretsStayOutOfErrors(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	cluster := fleet.Cluster("dp-1")
	release := demo(kube.Values{"password": "hunter2hunter2"})
	fleet.Fail(kubefake.Call("create").Kind("Secret").Named("flyte/demo"), kubefake.ServerError)
	_, err := cluster.Releases.Apply(inTime(t), release)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "hunter2")
	plan, err := cluster.Releases.Plan(inTime(t), release)
	require.NoError(t, err)
	assert.NotContains(t, fmt.Sprintf("%+v", plan.Diff), "hunter2")
}

func TestHooksRunToTheirEnd(t *testing.T) {
	job := `
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-migrate
  annotations:
    helm.sh/hook: pre-install,pre-upgrade
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "migrate:{{ .Values.version | default 1 }}"}]
`
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	cluster := fleet.Cluster("dp-1")
	release := demo(nil)
	release.Chart = chartOf("1.0.0", with(demoFiles(), map[string]string{"templates/migrate.yaml": job}))
	started := time.Now()
	_, err := cluster.Releases.Apply(ctx, release)
	require.NoError(t, err)
	assert.Less(t, time.Since(started), 2*time.Second, "no two-second polls")

	ref := kube.Ref{APIVersion: "batch/v1", Kind: "Job", Namespace: "flyte", Name: "demo-migrate"}
	_, err = cluster.Objects.Get(ctx, ref)
	require.NoError(t, err)
	plan, err := cluster.Releases.Plan(ctx, release)
	require.NoError(t, err)
	assert.Equal(t, planewright.ActionNone, plan.Action, "%v", plan.Diff)

	release.Values = kube.Values{"version": 2}
	plan, err = cluster.Releases.Plan(ctx, release)
	require.NoError(t, err)
	assert.Contains(t, paths(plan), "Job flyte/demo-migrate (hook): spec.template.spec.containers[name=main].image")
	_, err = cluster.Releases.Apply(ctx, release)
	require.NoError(t, err)

	kept, err := cluster.Releases.Uninstall(ctx, "flyte", "demo")
	require.NoError(t, err)
	assert.Contains(t, kept, ref, "Helm leaves hooks behind, and the caller is told")
}

func TestDefinitionsInTheirOwnFolder(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	cluster := fleet.Cluster("dp-1")
	definition := strings.ReplaceAll(demoFiles()["templates/definition.yaml"], "gadget", "widget")
	definition = strings.ReplaceAll(definition, "Gadget", "Widget")
	release := kube.Release{Name: "demo", Namespace: "flyte", Owner: owner, Chart: chartOf("1.0.0", map[string]string{
		"crds/widget.yaml": definition,
		"templates/widget.yaml": `
{{- if .Capabilities.APIVersions.Has "demo.example.com/v1/Widget" }}
apiVersion: demo.example.com/v1
kind: Widget
metadata: {name: one}
spec: {size: 1}
{{- end }}
`})}
	plan, err := cluster.Releases.Plan(ctx, release)
	require.NoError(t, err)
	assert.Equal(t, []string{"Widget flyte/one"}, paths(plan), "the plan sees what the definition will add")
	state, err := cluster.Releases.Apply(ctx, release)
	require.NoError(t, err)
	assert.Equal(t, []kube.Ref{{APIVersion: "demo.example.com/v1", Kind: "Widget", Namespace: "flyte", Name: "one"}}, state.Objects)

	t.Run("drift of a custom resource is repaired", func(t *testing.T) {
		edit(t, cluster, state.Objects[0], func(widget *unstructured.Unstructured) {
			widget.Object["spec"] = map[string]any{"size": int64(7), "color": "red"}
		})
		plan, err := cluster.Releases.Plan(ctx, release)
		require.NoError(t, err)
		assert.Equal(t, []planewright.FieldDiff{{Path: "Widget flyte/one (drift): spec.size", Before: "7", After: "1"}}, plan.Diff)
		_, err = cluster.Releases.Apply(ctx, release)
		require.NoError(t, err)
		plan, err = cluster.Releases.Plan(ctx, release)
		require.NoError(t, err)
		assert.Equal(t, planewright.ActionNone, plan.Action, "%v", plan.Diff)
	})
	kept, err := cluster.Releases.Uninstall(ctx, "flyte", "demo")
	require.NoError(t, err)
	assert.Equal(t, []kube.Ref{{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "widgets.demo.example.com"}}, kept)
}

func TestKindThatNobodyServes(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	cluster := fleet.Cluster("dp-1")
	release := kube.Release{Name: "demo", Namespace: "flyte", Owner: owner, Chart: chartOf("1.0.0", map[string]string{
		"templates/a.yaml": "apiVersion: none.example.com/v1\nkind: Nothing\nmetadata: {name: a}\n---\napiVersion: none.example.com/v1\nkind: Never\nmetadata: {name: a}\n",
	})}
	plan, err := cluster.Releases.Plan(inTime(t), release)
	require.NoError(t, err, "another step may install the definition before")
	assert.Equal(t, planewright.ActionCreate, plan.Action)
	_, err = cluster.Releases.Apply(inTime(t), release)
	require.ErrorIs(t, err, planewright.ErrNotFound)
	require.ErrorContains(t, err, "Nothing of none.example.com/v1")
	require.ErrorContains(t, err, "Never of none.example.com/v1")
	assert.False(t, retryable(err))
	assert.Zero(t, fleet.Writes("dp-1"))
}

func TestRenderPutsObjectsIntoTheirNamespace(t *testing.T) {
	cluster := fleetOf(t, "dp-1").Cluster("dp-1")
	objects, err := cluster.Releases.Render(inTime(t), demo(nil))
	require.NoError(t, err)
	var names []string
	for _, obj := range objects {
		names = append(names, kube.RefOf(obj).String())
	}
	assert.Equal(t, []string{
		"ServiceAccount flyte/demo", "Secret flyte/demo", "ConfigMap flyte/demo",
		"CustomResourceDefinition gadgets.demo.example.com", "ClusterRole flyte-demo", "Service flyte/demo", "Deployment flyte/demo",
	}, names)
	document := objects[2].Object["data"].(map[string]any)["document"]
	assert.Equal(t, "one: 1\n---\ntwo: 2\n", document, "a document inside a text stays in one piece")
}

func retryable(err error) bool {
	var r planewright.Retryable
	return errors.As(err, &r) && r.Retryable()
}
