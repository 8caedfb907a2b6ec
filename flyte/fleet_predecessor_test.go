package flyte_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const ingressOfBinary = `
ingress:
  create: true
  host: flyte.acme.example
  commonAnnotations:
    alb.ingress.kubernetes.io/certificate-arn: ` + certificate + `
`

// single is the Flyte on one cluster that people begin with, in the account of a planesWorld.
func single() flyte.Deployment {
	return flyte.NewSingleCluster("ml", flyte.V1_16_8, "control").
		WithStorage(flyte.S3("acme-flyte", "us-east-1")).
		WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("hunter2"))).
		WithIdentity(flyte.NewIdentity("flyte-ml-binary")).
		WithProjects(flyte.NewProject("team1")).
		WithValuesYAML(ingressOfBinary)
}

// hosts are the Ingresses of a cluster by the host that they serve.
func (w planesWorld) hosts(tb testing.TB) map[string][]string {
	tb.Helper()
	list, err := w.fleet.Cluster("control").Objects.List(tb.Context(), kube.ListRequest{APIVersion: "networking.k8s.io/v1", Kind: "Ingress"})
	require.NoError(tb, err)
	hosts := map[string][]string{}
	for _, ingress := range list {
		rules, _, _ := unstructured.NestedSlice(ingress.Object, "spec", "rules")
		rule, _ := rules[0].(map[string]any)
		host, _ := rule["host"].(string)
		hosts[host] = append(hosts[host], ingress.GetName())
	}
	return hosts
}

func TestADeploymentInPlanesTakesThePlaceOfASingleCluster(t *testing.T) {
	w := newPlanesWorld(t, "one", "two").withFlyteadmin(adminfake.New(adminfake.WithProjects("team1")))
	w.install(t, single())
	require.Equal(t, map[string][]string{"flyte.acme.example": {"flyte-backend-flyte-binary-grpc", "flyte-backend-flyte-binary-http"}}, w.hosts(t))
	d := two().WithPredecessor(single())

	plan := w.plan(t, d)
	require.NoError(t, plan.Err())
	goldenPlan(t, "migrate", plan.String())

	var order []string
	_, err := d.Install(t.Context(), w.env, planewright.WithEvents(func(e planewright.Event) {
		if e.Kind == planewright.EventFinished && e.Outcome == planewright.OutcomeDone {
			order = append(order, e.Step)
		}
	}))
	require.NoError(t, err)
	before := func(first, second string) {
		t.Helper()
		assert.Less(t, slices.Index(order, "flyte/ml/"+first), slices.Index(order, "flyte/ml/"+second), "%s comes before %s", first, second)
	}
	before("dataplanes/dp-1/access", "predecessor/stop")
	before("dataplanes/dp-2/access", "predecessor/stop")
	before("controlplane/credentials", "predecessor/stop")
	before("predecessor/stop", "controlplane/release")
	before("controlplane/release", "predecessor/uninstall")
	before("predecessor/uninstall", "controlplane/host")

	assert.Equal(t, map[string][]string{"flyte.acme.example": {"flyte-core", "flyte-core-grpc", "flyte-core-root"}}, w.hosts(t))
	_, err = w.fleet.Cluster("control").Releases.State(t.Context(), "flyte", "flyte-backend")
	require.ErrorIs(t, err, planewright.ErrNotFound)
	_, err = w.aws.IAM().GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("flyte-ml-binary")})
	require.ErrorContains(t, err, "NoSuchEntity", "its identity goes with it")
	assert.Empty(t, actions(w.plan(t, d)))
	assert.Empty(t, actions(w.plan(t, two())), "later the predecessor need not be named")
	verified, err := d.Verify(t.Context(), w.env)
	require.NoError(t, err)
	assert.True(t, verified.OK(), "%s", verified)
}

// begun is a Flyte on a single cluster, in virtual time.
func begun(tb testing.TB) planesWorld {
	tb.Helper()
	w := inVirtualTime(tb, "one", "two")
	// A connection knows no virtual time.
	w.fleet.Configure("control", kubefake.WithoutContainers(), kubefake.WithObjects(workflowCRD(), podWebhook()))
	w.install(tb, single())
	time.Sleep(time.Minute) // until the kind is served
	w.fleet.ForgetCalls()
	return w
}

func TestNothingIsStoppedWhileThePredecessorRunsWorkflows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begun(t)
		w.run(t, "control", "f1a2b3c4d5", "")
		before := w.writes()
		_, err := two().WithPredecessor(single()).Install(t.Context(), w.env)
		require.ErrorIs(t, err, planewright.ErrBlocked)
		require.ErrorContains(t, err, "cluster control has 1 execution that flytepropeller has not ended")
		assert.Equal(t, before, w.writes())

		w.run(t, "control", "f1a2b3c4d5", "terminated")
		w.install(t, two().WithPredecessor(single()))
		w.object(t, "control", "flyte.lyft.com/v1alpha1", "FlyteWorkflow", "flyte", "f1a2b3c4d5")
	})
}

// workflowCRD is what flyte-binary makes itself when it starts.
func workflowCRD() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "flyteworkflows.flyte.lyft.com"},
		"spec": map[string]any{
			"group": "flyte.lyft.com", "scope": "Namespaced",
			"names": map[string]any{"kind": "FlyteWorkflow", "plural": "flyteworkflows", "singular": "flyteworkflow"},
			"versions": []any{map[string]any{"name": "v1alpha1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}},
		},
	}}
}

// What does not answer gets no host, and the way back is the old deployment's install.
func TestAControlPlaneThatDoesNotAnswerLeavesThePredecessorInPlace(t *testing.T) {
	t.Parallel() // It waits in real time.
	w := newPlanesWorld(t, "one", "two")
	w.install(t, single())
	w.admin.Fail(adminfake.Operation("Health"), adminfake.Unavailable)
	_, err := two().WithPredecessor(single()).Install(t.Context(), w.env, planewright.WithAttempts(1))
	require.ErrorContains(t, err, "the control plane does not answer, so the predecessor stays")
	assert.Equal(t, map[string][]string{"flyte.acme.example": {"flyte-backend-flyte-binary-grpc", "flyte-backend-flyte-binary-http"}}, w.hosts(t))
	replicas := func() int64 {
		n, _, _ := unstructured.NestedInt64(w.object(t, "control", "apps/v1", "Deployment", "flyte", "flyte-backend-flyte-binary").Object, "spec", "replicas")
		return n
	}
	assert.Zero(t, replicas())

	w.admin.Heal()
	w.install(t, two().WithPredecessor(single()))
	assert.Equal(t, map[string][]string{"flyte.acme.example": {"flyte-core", "flyte-core-grpc", "flyte-core-root"}}, w.hosts(t))
}

func TestWhatCannotTakeTheOthersPlaceIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		old, now flyte.Deployment
		path     string
	}{
		"a name":           {flyte.NewSingleCluster("other", flyte.V1_16_8, "control").WithStorage(flyte.S3("acme-flyte", "us-east-1")).WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin")), two(), "predecessor.name"},
		"a cluster":        {flyte.NewSingleCluster("ml", flyte.V1_16_8, "one").WithStorage(flyte.S3("acme-flyte", "us-east-1")).WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin")), two(), "predecessor.cluster"},
		"a namespace":      {single().WithNamespace("other"), two(), "predecessor.namespace"},
		"a database":       {single().WithDatabase(flyte.Postgres("db.acme.internal", "other")), two(), "predecessor.database"},
		"a bucket":         {single().WithStorage(flyte.S3("other", "us-east-1")), two(), "predecessor.storage"},
		"a release":        {single().WithRelease("flyte-core"), two(), "predecessor.release"},
		"planes":           {two(), two(), "predecessor"},
		"a single cluster": {single(), single(), "predecessor"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.now.WithPredecessor(c.old).Validate()
			require.ErrorIs(t, err, planewright.ErrInvalid)
			list, _ := errors.AsType[*planewright.ValidationError](err)
			require.Len(t, list.Problems, 1, "%v", err)
			assert.Equal(t, c.path, list.Problems[0].Path)
		})
	}
}

func TestAReleaseOfAnotherChartIsNotTakenForThePredecessor(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	w.install(t, two())
	before := w.writes()
	_, err := two().WithControlPlane(controlPlane().WithRelease("flyte-new")).WithPredecessor(single().WithRelease("flyte-core")).Install(t.Context(), w.env)
	require.ErrorIs(t, err, planewright.ErrConflict)
	assert.Equal(t, before, w.writes())
}

// The control plane's cluster may go on running workflows; the definition
// that flyte-binary made there stays as it is.
func TestAControlPlaneThatExecutesTakesThePlaceToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begun(t)
		w.run(t, "control", "f1a2b3c4d5", "terminated")
		d := planes().WithControlPlane(controlPlane().WithExecution("controlplane")).
			WithDataplanes(flyte.NewDataplane("dp-1", "one")).
			WithLabelMap(flyte.NewLabelMap().WithLabel("cpu", flyte.Weight("dp-1", 1), flyte.Weight("controlplane", 1)).WithDefault("cpu")).
			WithPredecessor(single())
		w.install(t, d)
		w.object(t, "control", "flyte.lyft.com/v1alpha1", "FlyteWorkflow", "flyte", "f1a2b3c4d5")
		assert.Empty(t, actions(w.plan(t, d)))
	})
}

// Wherever a move is killed, the next install finishes it.
func TestAMoveThatIsKilledIsFinishedByTheNextInstall(t *testing.T) {
	t.Parallel()
	d := two().WithPredecessor(single())
	writes := 0
	var want map[string]map[string]any
	synctest.Test(t, func(t *testing.T) {
		w := begun(t)
		w.install(t, d)
		for _, c := range w.fleet.Calls() {
			if c.Persisted && c.Cluster == "control" {
				writes++
			}
		}
		want = w.planesState(t)
	})
	require.Greater(t, writes, 30)
	for n := range writes {
		if testing.Short() && n%8 != 0 {
			continue
		}
		t.Run(fmt.Sprintf("killed after write %d", n+1), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := begun(t)
				seen := 0
				w.fleet.OnCall(func(c kubefake.CallRecord) {
					if c.Persisted && c.Cluster == "control" && seen <= n {
						if seen++; seen == n+1 {
							w.fleet.Kill()
						}
					}
				})
				_, _ = planewright.Install(t.Context(), d.On(w.env), planewright.WithHolder("first"))
				w.fleet.Revive()
				_, err := planewright.Install(t.Context(), d.On(w.env), planewright.WithHolder("second"))
				require.NoError(t, err)
				assert.Equal(t, want, w.planesState(t))
			})
		})
	}
}
