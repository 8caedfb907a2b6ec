package flyte_test

import (
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// edit changes a Secret as kubectl edit does.
func (w planesWorld) edit(tb testing.TB, cluster, name string, data map[string]any) {
	tb.Helper()
	_, err := w.fleet.Cluster(cluster).Objects.Apply(tb.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name, "namespace": "flyte"}, "data": data,
	}}, kube.ApplyOptions{FieldManager: "kubectl-edit", Force: true})
	require.NoError(tb, err)
}

// A deployment that was never installed takes nothing away from one that was,
// although their releases have the same names.
func TestUninstallTakesNothingFromAnotherDeployment(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	ml := planes().WithDataplanes(flyte.NewDataplane("dp-1", "one"))
	w.install(t, ml)
	other := flyte.NewDeployment("other", flyte.V1_16_8).
		WithStorage(flyte.S3("acme-flyte", "us-east-1")).
		WithDatabase(flyte.Postgres("db.acme.internal", "other").WithPassword(planewright.SecretValue("hunter2"))).
		WithControlPlane(flyte.NewControlPlane("two").WithHost("other.acme.example").WithIngress(flyte.ALB(certificate))).
		WithDataplanes(flyte.NewDataplane("dp-9", "one"))
	before := w.writes()
	report, err := other.Uninstall(t.Context(), w.env)
	require.NoError(t, err)
	assert.Equal(t, before, w.writes())
	assert.Contains(t, report.String(), "its record does not say that this deployment made it")
	assert.Empty(t, actions(w.plan(t, ml)))
}

func TestUninstallIsRefusedWhileExecutionsRun(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	w.install(t, two())
	w.run(t, "two", "f1a2b3c4d5", "")
	before := w.writes()
	_, err := two().Uninstall(t.Context(), w.env)
	require.ErrorIs(t, err, planewright.ErrBlocked)
	require.ErrorContains(t, err, "cluster two has 1 execution that flytepropeller has not ended")
	assert.Equal(t, before, w.writes(), "nothing is taken away, in no cluster")

	report, err := two().WithAbandonedExecutions().Uninstall(t.Context(), w.env)
	require.NoError(t, err)
	require.NotEmpty(t, report.Findings)
	assert.Equal(t, planewright.SeverityWarning, report.Findings[0].Severity)
}

// What a data plane left behind in a cluster is not lost from sight with the
// cluster's handle.
func TestADataplaneIsNotTakenOutWithoutItsCluster(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	w.install(t, two())
	shrunk := two().WithoutDataplane("dp-2").WithLabelMap(labels().WithLabel("gpu", flyte.Weight("dp-1", 1)))
	all := w.env
	w.env = flyte.NewEnv(w.fleet.Cluster("control"), w.fleet.Cluster("one")).WithCharts(standIns()).
		WithCloud("control", w.aws.Account().Cluster("control")).WithCloud("one", w.aws.Account().Cluster("one"))
	before := w.writes()
	for verb, do := range map[string]func() error{
		"install":   func() error { _, err := shrunk.Install(t.Context(), w.env); return err },
		"uninstall": func() error { _, err := shrunk.Uninstall(t.Context(), w.env); return err },
	} {
		err := do()
		require.ErrorIs(t, err, planewright.ErrBlocked, verb)
		require.ErrorContains(t, err, "it is in cluster two, which the Env does not have; add the cluster by WithClusters until it is gone from there, or say by WithLostClusters", verb)
	}
	assert.Equal(t, before, w.writes())

	lost := w
	lost.env = w.env.WithLostClusters("two")
	lost.install(t, shrunk)
	assert.Empty(t, actions(lost.plan(t, shrunk)), "it is forgotten")
	w.env = all
	assert.Empty(t, actions(w.plan(t, shrunk)))
}

// flyteadmin takes no news of executions from a cluster that calls itself otherwise.
func TestADataplaneWithExecutionsIsNotRenamed(t *testing.T) {
	renamed := planes().WithDataplanes(flyte.NewDataplane("dp-x", "one"))
	swapped := two().WithoutDataplane("dp-1").WithoutDataplane("dp-2").
		WithDataplanes(flyte.NewDataplane("dp-1", "two"), flyte.NewDataplane("dp-2", "one"))
	for name, c := range map[string]struct{ before, after flyte.Deployment }{
		"renamed": {planes().WithDataplanes(flyte.NewDataplane("dp-1", "one")), renamed},
		"swapped": {two(), swapped},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPlanesWorld(t, "one", "two")
			w.install(t, c.before)
			w.run(t, "one", "f1a2b3c4d5", "")
			_, err := c.after.Install(t.Context(), w.env)
			require.ErrorIs(t, err, planewright.ErrBlocked)
			require.ErrorContains(t, err, "cluster one has 1 execution that flytepropeller has not ended, and under another name, from which flyteadmin takes no news of them, nobody does")
			w.run(t, "one", "f1a2b3c4d5", "terminated")
			w.install(t, c.after)
			assert.Empty(t, actions(w.plan(t, c.after)))
		})
	}
}

func TestAHandEditOfTheCredentialsIsRepaired(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	w.install(t, two())
	good := w.secret(t, "control", "cluster-credentials")
	w.edit(t, "control", "cluster-credentials", map[string]any{"dp-1_token": "YnJva2Vu", "theirs": "YQ=="})
	w.install(t, two())
	now := w.secret(t, "control", "cluster-credentials")
	assert.Equal(t, good["dp-1_token"], now["dp-1_token"])
	assert.Equal(t, "a", now["theirs"], "keys of others stay")
	assert.Empty(t, actions(w.plan(t, two())))
}

func TestABrokenTokenIsMadeAnew(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	w.install(t, two())
	w.edit(t, "one", "flyteadmin-token-1", map[string]any{"token": "YnJva2Vu"})
	plan := w.plan(t, two())
	step, _ := plan.Step("flyte/ml/dataplanes/dp-1/access")
	assert.Equal(t, planewright.ActionUpdate, step.Change.Action)
	assert.Equal(t, "Secret flyte/flyteadmin-token-1: its key token is no token: it does not have three parts; it is made anew", step.Change.Reason)
	w.install(t, two())
	assert.Equal(t, w.secret(t, "one", "flyteadmin-token-1")["token"], w.secret(t, "control", "cluster-credentials")["dp-1_token"])
	assert.NotEqual(t, "broken", w.secret(t, "one", "flyteadmin-token-1")["token"])
	assert.Empty(t, actions(w.plan(t, two())))
}

// The client tries again itself; nothing above it multiplies that.
func TestAFlyteadminThatIsDownIsAskedByOneLayer(t *testing.T) {
	t.Parallel() // It waits in real time.
	w := newPlanesWorld(t, "one", "two").withFlyteadmin(adminfake.New(adminfake.WithProjects("team1")))
	w.install(t, two())
	asked := len(w.admin.Calls())
	w.admin.Fail(adminfake.Operation("read"), adminfake.Unavailable)
	_, err := two().Plan(t.Context(), w.env)
	require.ErrorIs(t, err, planewright.ErrUnavailable)
	assert.LessOrEqual(t, len(w.admin.Calls())-asked, 10)
}

// A tag does not turn a private load balancer into a public one.
func TestAnAnnotationOfTheCatalogLiesOverTheClouds(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	w.install(t, two().WithControlPlane(controlPlane().WithCatalog(flyte.InternalLoadBalancer().WithAnnotation("acme.example/team", "ml"))))
	annotations := w.object(t, "control", "v1", "Service", "flyte", "datacatalog-dataplanes").GetAnnotations()
	assert.Equal(t, "ml", annotations["acme.example/team"])
	assert.Equal(t, "internal", annotations["service.beta.kubernetes.io/aws-load-balancer-scheme"])
}
