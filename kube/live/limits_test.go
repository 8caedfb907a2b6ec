package live_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kube/live"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestRequestsHaveALimitOfTheirOwn(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	fleet.Fail(kubefake.Call("get").Kind("ConfigMap"), kubefake.Block)
	config := fleet.Config("dp-1")
	config.Timeout = 50 * time.Millisecond
	cluster, err := live.FromConfig("dp-1", config)
	require.NoError(t, err)
	_, err = cluster.Objects.Get(t.Context(), kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "flyte", Name: "c"})
	require.ErrorIs(t, err, planewright.ErrUnavailable, "the caller's time is not up")
	require.NotErrorIs(t, err, planewright.ErrTimeout)
	assert.True(t, retryable(err))
	assert.ErrorContains(t, err, "took the request and did not answer")
}

func TestContextWithACauseOfItsOwn(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	cluster := fleet.Cluster("dp-1")
	reason := errors.New("the user pressed a key")
	given, giveUp := context.WithCancelCause(t.Context())
	giveUp(reason)
	_, err := cluster.Releases.Apply(given, demo(nil))
	require.ErrorIs(t, err, context.Canceled)
	assert.False(t, retryable(err))

	late, cancel := context.WithDeadlineCause(t.Context(), time.Now().Add(-time.Second), reason)
	defer cancel()
	_, err = cluster.Releases.Apply(late, demo(nil))
	require.ErrorIs(t, err, planewright.ErrTimeout)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Zero(t, fleet.Writes("dp-1"))
}

func TestUninstallKeepsItsRecordWhileObjectsRemain(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	cluster := fleet.Cluster("dp-1")
	files := with(demoFiles(), map[string]string{"templates/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: demo, finalizers: [example.com/hold]}\n"})
	release := demo(nil)
	release.Chart = chartOf("1.0.0", files)
	_, err := cluster.Releases.Apply(ctx, release)
	require.NoError(t, err)

	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = cluster.Releases.Uninstall(short, "flyte", "demo")
	require.ErrorIs(t, err, planewright.ErrTimeout)
	require.ErrorContains(t, err, "example.com/hold")
	require.ErrorContains(t, err, "revision 1 is uninstalling")

	ref := kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "flyte", Name: "demo"}
	edit(t, cluster, ref, func(held *unstructured.Unstructured) { held.SetFinalizers(nil) })
	_, err = cluster.Releases.Uninstall(ctx, "flyte", "demo")
	require.NoError(t, err, "the record tells what is left to do")
	_, err = cluster.Releases.State(ctx, "flyte", "demo")
	require.ErrorIs(t, err, planewright.ErrNotFound)
}

func TestUninstallAfterTheDefinitionsAreGone(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	cluster := fleet.Cluster("dp-1")
	definition := parse(t, demoFiles()["templates/definition.yaml"])
	_, err := cluster.Objects.Apply(ctx, definition, kube.ApplyOptions{})
	require.NoError(t, err)
	require.NoError(t, cluster.Objects.Wait(ctx, kube.WaitRequest{Refs: []kube.Ref{kube.RefOf(definition)}}))
	release := kube.Release{Name: "demo", Namespace: "flyte", Owner: owner, Chart: chartOf("1.0.0", map[string]string{
		"templates/a.yaml": "apiVersion: demo.example.com/v1\nkind: Gadget\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
	})}
	_, err = cluster.Releases.Apply(ctx, release)
	require.NoError(t, err)
	require.NoError(t, cluster.Objects.Delete(ctx, kube.RefOf(definition), kube.DeleteOptions{}))
	require.NoError(t, cluster.Objects.Wait(ctx, kube.WaitRequest{Refs: []kube.Ref{kube.RefOf(definition)}, Until: kube.Gone}))

	_, err = fleet.Cluster("dp-1").Releases.Uninstall(ctx, "flyte", "demo")
	require.NoError(t, err, "what is not served cannot exist, and needs no deleting")
	_, err = cluster.Objects.Get(ctx, kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "flyte", Name: "a"})
	require.ErrorIs(t, err, planewright.ErrNotFound)
}

func TestObjectThatIsRenderedTwice(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	cluster := fleet.Cluster("dp-1")
	release := demo(nil)
	release.Chart = chartOf("1.0.0", with(demoFiles(), map[string]string{"templates/again.yaml": demoFiles()["templates/service.yaml"]}))
	_, err := cluster.Releases.Plan(inTime(t), release)
	require.ErrorIs(t, err, planewright.ErrInvalid)
	require.ErrorContains(t, err, "renders more than once: Service flyte/demo")
	assert.Zero(t, fleet.Writes("dp-1"))
}

func TestOneWhoMayGetButNotList(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	for _, kind := range []string{"ClusterRole", "CustomResourceDefinition", "Deployment"} {
		fleet.Fail(kubefake.Call("list").Kind(kind), kubefake.Denied)
	}
	cluster := fleet.Cluster("dp-1")
	_, err := cluster.Releases.Apply(ctx, demo(nil))
	require.NoError(t, err)
	plan, err := cluster.Releases.Plan(ctx, demo(nil))
	require.NoError(t, err)
	assert.Equal(t, planewright.ActionNone, plan.Action, "%v", plan.Diff)
}

func TestDefinitionThatIsNotServedYet(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	cluster := fleet.Cluster("dp-1")
	gadget := parse(t, "{apiVersion: demo.example.com/v1, kind: Gadget, metadata: {name: g, namespace: flyte}}")
	_, err := cluster.Objects.Apply(ctx, gadget, kube.ApplyOptions{})
	require.ErrorIs(t, err, planewright.ErrNotFound)
	require.False(t, retryable(err))

	// Nobody has waited for the definition: whether the kind is served by now is luck.
	_, err = cluster.Objects.Apply(ctx, parse(t, demoFiles()["templates/definition.yaml"]), kube.ApplyOptions{})
	require.NoError(t, err)
	if _, err = cluster.Objects.Apply(ctx, gadget, kube.ApplyOptions{}); err != nil {
		require.ErrorIs(t, err, planewright.ErrUnavailable)
		assert.True(t, retryable(err), "its definition has just been made")
	}
}
