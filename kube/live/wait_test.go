package live_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const workload = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: flyte}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1"}]}
`

var web = kube.Ref{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "flyte", Name: "web"}

func TestWaitUntilWorkloadsAreReady(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	cluster := fleet.Cluster("dp-1")
	apply(t, cluster, workload, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: flyte}}")
	fleet.ForgetCalls()
	var told []string
	err := cluster.Objects.Wait(ctx, kube.WaitRequest{
		Refs:     []kube.Ref{web, {APIVersion: "v1", Kind: "ConfigMap", Namespace: "flyte", Name: "c"}, web},
		Progress: func(s string) { told = append(told, s) },
	})
	require.NoError(t, err)
	for i, s := range told {
		assert.Contains(t, s, "waiting for")
		if i > 0 {
			assert.NotEqual(t, told[i-1], s, "progress is told when it changes")
		}
	}
	assert.LessOrEqual(t, len(fleet.Calls(kubefake.Call("list"))), 2, "one list a kind, no polls")
}

func TestWaitForWhatAppearsAndGoes(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	cluster := fleet.Cluster("dp-1")
	ref := kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "flyte", Name: "c"}
	waited := make(chan error)
	seen := make(chan struct{}, 10)
	go func() {
		waited <- cluster.Objects.Wait(ctx, kube.WaitRequest{Refs: []kube.Ref{ref}, Progress: func(string) { seen <- struct{}{} }})
	}()
	<-seen
	apply(t, cluster, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: flyte}}")
	require.NoError(t, <-waited)

	go func() {
		waited <- cluster.Objects.Wait(ctx, kube.WaitRequest{Refs: []kube.Ref{ref}, Until: kube.Gone, Progress: func(string) { seen <- struct{}{} }})
	}()
	<-seen
	require.NoError(t, cluster.Objects.Delete(ctx, ref, kube.DeleteOptions{}))
	require.NoError(t, <-waited)

	unserved := kube.Ref{APIVersion: "none.example.com/v1", Kind: "Nothing", Name: "a"}
	require.NoError(t, cluster.Objects.Wait(ctx, kube.WaitRequest{Refs: []kube.Ref{unserved}, Until: kube.Gone}))
	require.ErrorIs(t, cluster.Objects.Wait(ctx, kube.WaitRequest{Refs: []kube.Ref{unserved}}), planewright.ErrNotFound)
}

func TestWaitThatRunsOutTellsWhy(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	fleet.Configure("dp-1", kubefake.WithPullFailure("web:*"))
	cluster := fleet.Cluster("dp-1")
	apply(t, cluster, workload)
	ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
	defer cancel()
	err := cluster.Objects.Wait(ctx, kube.WaitRequest{Refs: []kube.Ref{web}})
	require.ErrorIs(t, err, planewright.ErrTimeout)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "wait for Deployment flyte/web in cluster dp-1")
	require.ErrorContains(t, err, "ImagePullBackOff")
	assert.ErrorContains(t, err, "container main")
}

func TestWaitTellsWhichFinalizerHolds(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	cluster := fleet.Cluster("dp-1")
	apply(t, cluster, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: flyte, finalizers: [example.com/hold]}}")
	ref := kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "flyte", Name: "c"}
	require.NoError(t, cluster.Objects.Delete(t.Context(), ref, kube.DeleteOptions{}))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	err := cluster.Objects.Wait(ctx, kube.WaitRequest{Refs: []kube.Ref{ref}, Until: kube.Gone})
	require.ErrorIs(t, err, planewright.ErrTimeout)
	require.ErrorContains(t, err, "example.com/hold")
	assert.ErrorContains(t, err, "it was deleted")
}

func TestWaitForAJob(t *testing.T) {
	job := parse(t, `
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: flyte}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: main, image: "job:1"}]}
`)
	t.Run("that completes", func(t *testing.T) {
		cluster := fleetOf(t, "dp-1").Cluster("dp-1")
		_, err := cluster.Objects.Apply(inTime(t), job, kube.ApplyOptions{})
		require.NoError(t, err)
		require.NoError(t, cluster.Objects.Wait(inTime(t), kube.WaitRequest{Refs: []kube.Ref{kube.RefOf(job)}}))
		done, err := cluster.Objects.Get(inTime(t), kube.RefOf(job))
		require.NoError(t, err)
		conditions, _, _ := unstructured.NestedSlice(done.Object, "status", "conditions")
		assert.NotEmpty(t, conditions, "a Job that merely runs is not ready")
	})
	t.Run("that fails", func(t *testing.T) {
		fleet := fleetOf(t, "dp-1")
		fleet.Configure("dp-1", kubefake.WithPullFailure("job:*"))
		cluster := fleet.Cluster("dp-1")
		_, err := cluster.Objects.Apply(inTime(t), job, kube.ApplyOptions{})
		require.NoError(t, err)
		writeStatus(t, fleet, kube.RefOf(job), map[string]any{"failed": int64(1), "conditions": []any{
			map[string]any{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "Job has reached the specified backoff limit"},
		}})
		err = cluster.Objects.Wait(inTime(t), kube.WaitRequest{Refs: []kube.Ref{kube.RefOf(job)}})
		require.ErrorIs(t, err, planewright.ErrUnavailable)
		require.ErrorContains(t, err, "BackoffLimitExceeded")
		require.NotErrorIs(t, err, planewright.ErrTimeout, "it is not waited for what cannot come")
		assert.False(t, retryable(err))
	})
}

func TestBrokenWatchIsTakenUpAgain(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	cluster := fleet.Cluster("dp-1")
	ref := kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "flyte", Name: "c"}
	fleet.Fail(kubefake.Call("list").Kind("ConfigMap"), kubefake.Unavailable, kubefake.Times(1))
	fleet.Fail(kubefake.Call("watch"), kubefake.Reset, kubefake.Times(2))
	told := make(chan string, 100)
	waited := make(chan error)
	go func() {
		waited <- cluster.Objects.Wait(ctx, kube.WaitRequest{Refs: []kube.Ref{ref}, Progress: func(s string) { told <- s }})
	}()
	for broken := false; !broken; {
		select {
		case s := <-told:
			assert.Contains(t, s, "waiting for ConfigMap flyte/c")
			broken = strings.Contains(s, "will be made again")
		case err := <-waited:
			require.NoError(t, err)
		}
	}
	apply(t, cluster, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: flyte}}")
	require.NoError(t, <-waited)
}

func TestWaitDoesNotGoOnWithoutPermission(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	cluster := fleet.Cluster("dp-1")
	fleet.Fail(kubefake.Call("list").Kind("ConfigMap"), kubefake.Denied)
	err := cluster.Objects.Wait(inTime(t), kube.WaitRequest{Refs: []kube.Ref{{APIVersion: "v1", Kind: "ConfigMap", Namespace: "flyte", Name: "c"}}})
	require.ErrorIs(t, err, planewright.ErrDenied)
}

func TestWaitThatIsCancelled(t *testing.T) {
	cluster := fleetOf(t, "dp-1").Cluster("dp-1")
	ctx, cancel := context.WithCancel(t.Context())
	err := cluster.Objects.Wait(ctx, kube.WaitRequest{
		Refs:     []kube.Ref{{APIVersion: "v1", Kind: "ConfigMap", Namespace: "flyte", Name: "c"}},
		Progress: func(string) { cancel() },
	})
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, planewright.ErrTimeout)
	assert.ErrorContains(t, err, "ConfigMap flyte/c does not exist yet")
}
