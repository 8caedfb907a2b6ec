package flyte_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// planesWorld is a control plane's cluster and some data planes' in memory,
// with an AWS account that they are in and a flyteadmin that answers.
type planesWorld struct {
	fleet *kubefake.Fleet
	aws   *eksfake.Fake
	admin *adminfake.Fake
	env   flyte.Env
}

func newPlanesWorld(tb testing.TB, dataplanes ...string) planesWorld {
	tb.Helper()
	w := planesWorld{admin: adminfake.New()}
	w.fleet = kubefake.NewFleet().Add("control", kubefake.WithHealth(w.admin), kubefake.WithLoadBalancers(5*time.Millisecond),
		kubefake.WithObjects(ingressClass("alb", "ingress.k8s.aws/alb")))
	tb.Cleanup(w.fleet.Close)
	names := append([]string{"control"}, dataplanes...)
	for _, name := range dataplanes {
		w.fleet.Add(name, kubefake.WithObjects(podWebhook()))
	}
	w.aws = eksfake.New("123456789012", "us-east-1", names...)
	w.aws.PutBucket(eksfake.Bucket{Name: "acme-flyte"})
	w.env = flyte.NewEnv().WithCharts(standIns())
	for _, name := range names {
		w.env = w.env.WithClusters(w.fleet.Cluster(name)).WithCloud(name, w.aws.Account().Cluster(name))
	}
	return w
}

// podWebhook is what the webhook registers when it has started.
func podWebhook() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
		"metadata": map[string]any{"name": "flyte-pod-webhook"},
	}}
}

func (w planesWorld) install(tb testing.TB, d flyte.Deployment) *planewright.Report {
	tb.Helper()
	report, err := d.Install(tb.Context(), w.env)
	require.NoError(tb, err)
	return report
}

func (w planesWorld) plan(tb testing.TB, d flyte.Deployment) *planewright.ExecutionPlan {
	tb.Helper()
	plan, err := d.Plan(tb.Context(), w.env)
	require.NoError(tb, err)
	return plan
}

// writes counts the calls that persisted something, by cluster.
func (w planesWorld) writes() map[string]int {
	writes := map[string]int{}
	for _, name := range w.fleet.Names() {
		writes[name] = w.fleet.Writes(name)
	}
	return writes
}

// object reads an object of a cluster.
func (w planesWorld) object(tb testing.TB, cluster, apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	tb.Helper()
	obj, err := w.fleet.Cluster(cluster).Objects.Get(tb.Context(), kube.Ref{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name})
	require.NoError(tb, err)
	return obj
}

// secret reads the content of a Secret in namespace flyte.
func (w planesWorld) secret(tb testing.TB, cluster, name string) map[string]string {
	tb.Helper()
	data, _, _ := unstructured.NestedStringMap(w.object(tb, cluster, "v1", "Secret", "flyte", name).Object, "data")
	content := map[string]string{}
	for key, value := range data {
		text, err := base64.StdEncoding.DecodeString(value)
		require.NoError(tb, err)
		content[key] = string(text)
	}
	return content
}

// clusters reads what flyteadmin is told of the data planes.
func (w planesWorld) clusters(tb testing.TB) kube.Values {
	tb.Helper()
	text, _, _ := unstructured.NestedString(w.object(tb, "control", "v1", "ConfigMap", "flyte", "flyte-admin-clusters-config").Object, "data", "clusters.yaml")
	values, err := kube.ParseValues([]byte(text))
	require.NoError(tb, err)
	return values
}

// actions returns what a plan would do, but for steps where nothing is to be done.
func actions(plan *planewright.ExecutionPlan) map[string]planewright.Action {
	list := map[string]planewright.Action{}
	for _, s := range plan.Steps() {
		if s.Change.Action != planewright.ActionNone {
			list[s.ID] = s.Change.Action
		}
	}
	return list
}

func TestADeploymentInPlanesIsInstalledVerifiedAndFoundUnchanged(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	d := two().WithControlPlane(controlPlane().WithCatalog(flyte.InternalLoadBalancer())).
		WithLabelMap(labels().WithProject("team1", "development", "gpu"))
	report := w.install(t, d)
	assert.Len(t, report.Changed(), len(report.Steps)-1, "all but the step that only verifies")

	verified, err := d.Verify(t.Context(), w.env)
	require.NoError(t, err)
	assert.True(t, verified.OK(), "%s", verified)

	before := w.writes()
	again := w.install(t, d)
	assert.Empty(t, again.Changed())
	assert.Equal(t, before, w.writes(), "a second install persists nothing")
	assert.Empty(t, actions(w.plan(t, d)))
}

func TestFlyteadminIsGivenEachDataplane(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	w.install(t, two())

	for i, cluster := range []string{"one", "two"} {
		name := []string{"dp-1", "dp-2"}[i]
		credentials := w.secret(t, "control", "cluster-credentials")
		live, err := w.aws.Account().Clusters.Describe(t.Context(), cluster)
		require.NoError(t, err)
		endpoint, _ := w.clusters(t).Get("clusters.clusterConfigs")
		assert.Equal(t, live.Endpoint, endpoint.([]any)[i].(map[string]any)["endpoint"], "the cloud's endpoint") //nolint:forcetypeassert // the test fails either way
		assert.Equal(t, string(live.CA), credentials[name+"_cacert"])

		for _, other := range []string{"one", "two"} {
			config := rest.AnonymousClientConfig(w.fleet.Config(other))
			config.Transport = w.fleet.Config(other).Transport
			config.BearerToken = credentials[name+"_token"]
			client, err := kubernetes.NewForConfig(config)
			require.NoError(t, err)
			_, err = client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
			if other == cluster {
				assert.NoError(t, err, "the token of %s is good on its own cluster", name)
			} else {
				assert.Error(t, err, "the token of %s is refused by %s", name, other)
			}
		}
	}
}

func TestProjectsAndLabelsAreWrittenToFlyteadmin(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	d := two().WithProjects(flyte.NewProject("team2").WithTitle("Team two").WithDescription("Speech")).
		WithLabelMap(labels().WithProject("team1", "development", "gpu").WithWholeProject("team2", "gpu").WithWorkflow("team1", "production", "train.main", "cpu"))
	w.install(t, d)

	client := w.adminClient(t)
	project, err := client.Project(t.Context(), "team2")
	require.NoError(t, err)
	assert.Equal(t, admin.Project{ID: "team2", Name: "Team two", Description: "Speech", State: admin.ProjectActive}, project)
	rows, err := client.Attributes(t.Context(), admin.KindExecutionClusterLabel)
	require.NoError(t, err)
	got := map[string]string{}
	for _, row := range rows {
		label, _ := row.Attributes.(admin.ExecutionClusterLabel)
		got[row.Scope.String()] = string(label)
	}
	assert.Equal(t, map[string]string{"team1/development": "gpu", "team2": "gpu", "team1/production/train.main": "cpu"}, got)
}

func (w planesWorld) adminClient(tb testing.TB) *admin.Client {
	tb.Helper()
	client, err := w.admin.Client()
	require.NoError(tb, err)
	return client
}

func TestAddingADataplaneTouchesNothingOld(t *testing.T) {
	w := newPlanesWorld(t, "one", "two", "three")
	d := two()
	w.install(t, d)
	before := w.writes()

	grown := d.WithDataplanes(flyte.NewDataplane("dp-3", "three")).
		WithLabelMap(labels().WithLabel("gpu", flyte.Weight("dp-1", 30), flyte.Weight("dp-2", 50), flyte.Weight("dp-3", 20)))
	plan := w.plan(t, grown)
	assert.Equal(t, map[string]planewright.Action{
		"flyte/ml/identity/123456789012/oidc-provider/three":     planewright.ActionCreate,
		"flyte/ml/identity/123456789012/flyte-ml-dataplane/role": planewright.ActionUpdate,
		"flyte/ml/dataplanes/dp-3/namespace":                     planewright.ActionCreate,
		"flyte/ml/dataplanes/dp-3/release":                       planewright.ActionCreate,
		"flyte/ml/dataplanes/dp-3/access":                        planewright.ActionCreate,
		"flyte/ml/controlplane/credentials":                      planewright.ActionUnknown,
		"flyte/ml/controlplane/release":                          planewright.ActionUpdate,
	}, actions(plan))
	w.install(t, grown)
	after := w.writes()
	assert.Equal(t, before["one"], after["one"])
	assert.Equal(t, before["two"], after["two"])
	assert.Contains(t, w.secret(t, "control", "cluster-credentials"), "dp-3_token")
	assert.Empty(t, actions(w.plan(t, grown)))
}

func TestATokenIsRotatedInOneInstall(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	w.install(t, two())
	old := w.secret(t, "control", "cluster-credentials")
	annotation := func() string {
		text, _, _ := unstructured.NestedString(w.object(t, "control", "apps/v1", "Deployment", "flyte", "flyteadmin").Object,
			"spec", "template", "metadata", "annotations", "planewright.dev/credentials-revision")
		return text
	}
	assert.Equal(t, "1", annotation())

	rotated := two().WithDataplanes(flyte.NewDataplane("dp-1", "one").WithTokenGeneration(2))
	w.install(t, rotated)
	assert.Equal(t, "2", annotation(), "flyteadmin reads tokens only when it starts")
	now := w.secret(t, "control", "cluster-credentials")
	assert.Equal(t, old["dp-2_token"], now["dp-2_token"])
	assert.Equal(t, w.secret(t, "one", "flyteadmin-token-2")["token"], now["dp-1_token"])
	_, err := w.fleet.Cluster("one").Objects.Get(t.Context(), kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "flyte", Name: "flyteadmin-token-1"})
	require.ErrorIs(t, err, planewright.ErrNotFound, "the old token is gone")
	assert.Empty(t, actions(w.plan(t, rotated)))
}

func TestADataplaneIsTakenOut(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	w.install(t, two())
	shrunk := two().WithoutDataplane("dp-2").WithLabelMap(labels().WithLabel("gpu", flyte.Weight("dp-1", 1)))
	w.install(t, shrunk)

	credentials := w.secret(t, "control", "cluster-credentials")
	assert.NotContains(t, credentials, "dp-2_token")
	assert.Contains(t, credentials, "dp-1_token")
	_, err := w.fleet.Cluster("two").Releases.State(t.Context(), "flyte", "flyte-core-data")
	require.ErrorIs(t, err, planewright.ErrNotFound)
	configs, _ := w.clusters(t).Get("clusters.clusterConfigs")
	assert.Len(t, configs, 1)
	role, ok := w.aws.Role("flyte-ml-dataplane")
	require.True(t, ok)
	assert.NotContains(t, fmt.Sprint(role), strings.TrimPrefix(w.aws.Issuer("two"), "https://"))
	assert.Empty(t, actions(w.plan(t, shrunk)))
}

func TestADataplaneWithExecutionsIsNotTakenOut(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	w.install(t, two())
	w.run(t, "two", "f1a2b3c4d5", "")
	shrunk := two().WithoutDataplane("dp-2").WithLabelMap(labels().WithLabel("gpu", flyte.Weight("dp-1", 1)))
	before := w.writes()
	_, err := shrunk.Install(t.Context(), w.env)
	require.ErrorIs(t, err, planewright.ErrBlocked)
	require.ErrorContains(t, err, "cluster two has 1 execution that flytepropeller has not ended")
	assert.Equal(t, before, w.writes())
}

func TestTurningExecutionOffIsRefusedWhileWorkflowsAreThere(t *testing.T) {
	w := newPlanesWorld(t, "one")
	both := planes().WithControlPlane(controlPlane().WithExecution("controlplane")).
		WithDataplanes(flyte.NewDataplane("dp-1", "one")).
		WithLabelMap(flyte.NewLabelMap().WithLabel("cpu", flyte.Weight("dp-1", 1), flyte.Weight("controlplane", 1)).WithDefault("cpu"))
	w.install(t, both)
	w.run(t, "control", "f1a2b3c4d5", "")
	moved := both.WithControlPlane(controlPlane()).WithLabelMap(flyte.NewLabelMap().WithLabel("cpu", flyte.Weight("dp-1", 1)).WithDefault("cpu"))
	_, err := moved.Install(t.Context(), w.env)
	require.ErrorIs(t, err, planewright.ErrBlocked)
	require.ErrorContains(t, err, "cluster control has 1 execution that flytepropeller has not ended")

	w.run(t, "control", "f1a2b3c4d5", "terminated")
	w.install(t, moved)
	w.object(t, "control", "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "flyteworkflows.flyte.lyft.com")
	w.object(t, "control", "flyte.lyft.com/v1alpha1", "FlyteWorkflow", "flyte", "f1a2b3c4d5")
}

// run puts an execution into a cluster, or changes its state.
func (w planesWorld) run(tb testing.TB, cluster, name, status string) {
	tb.Helper()
	labels := map[string]any{"execution-id": name}
	if status != "" {
		labels["termination-status"] = status
	}
	_, err := w.fleet.Cluster(cluster).Objects.Apply(tb.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "flyte.lyft.com/v1alpha1", "kind": "FlyteWorkflow",
		"metadata": map[string]any{"name": name, "namespace": "flyte", "labels": labels},
	}}, kube.ApplyOptions{FieldManager: "flyteadmin"})
	require.NoError(tb, err)
}

func TestADataplaneThatIsDownStopsNothingElse(t *testing.T) {
	w := newPlanesWorld(t, "one", "two", "three")
	d := two()
	w.install(t, d)
	grown := d.WithDataplanes(flyte.NewDataplane("dp-3", "three"))
	w.fleet.Fail(kubefake.Call("create").Kind("Deployment").On("three"), kubefake.Denied)
	before := w.writes()
	_, err := grown.Install(t.Context(), w.env)
	require.Error(t, err)
	require.ErrorContains(t, err, "flyte/ml/dataplanes/dp-3/release")
	assert.NotContains(t, w.secret(t, "control", "cluster-credentials"), "dp-3_token", "the control plane has no broken entry")
	assert.Equal(t, before["one"], w.writes()["one"])
	configs, _ := w.clusters(t).Get("clusters.clusterConfigs")
	assert.Len(t, configs, 2)

	w.fleet.Heal()
	w.install(t, grown)
	configs, _ = w.clusters(t).Get("clusters.clusterConfigs")
	assert.Len(t, configs, 3)
}

func TestATokenIsCheckedBeforeItIsUsed(t *testing.T) {
	w := newPlanesWorld(t, "one")
	d := planes().WithDataplanes(flyte.NewDataplane("dp-1", "one"))
	w.env = w.env.WithClusters(w.fleet.Cluster("control"))
	_, err := w.fleet.Cluster("one").Objects.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "flyte"}}})
	require.NoError(t, err)
	_, err = w.fleet.Cluster("one").Objects.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
		"metadata": map[string]any{"name": "flyteadmin-token-1", "namespace": "flyte"}}})
	require.NoError(t, err)
	plan := w.plan(t, d)
	assert.Equal(t, planewright.ActionBlocked, actions(plan)["flyte/ml/dataplanes/dp-1/access"])
	require.ErrorContains(t, plan.Err(), "Secret flyte/flyteadmin-token-1 exists and is no token of ServiceAccount flyteadmin")
}

func TestOtherKeysOfTheCredentialsStay(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	w.install(t, two())
	secret := w.object(t, "control", "v1", "Secret", "flyte", "cluster-credentials")
	require.NoError(t, unstructured.SetNestedField(secret.Object, base64.StdEncoding.EncodeToString([]byte("mine")), "data", "legacy_token"))
	_, err := w.fleet.Cluster("control").Objects.Update(t.Context(), secret)
	require.NoError(t, err)
	assert.Empty(t, actions(w.plan(t, two())))
	w.install(t, two().WithDataplanes(flyte.NewDataplane("dp-1", "one").WithTokenGeneration(2)))
	assert.Equal(t, "mine", w.secret(t, "control", "cluster-credentials")["legacy_token"])
}

func TestADeploymentInPlanesIsTakenAway(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	d := two().WithLabelMap(labels().WithProject("team1", "development", "gpu"))
	w.install(t, d)
	_, err := d.Uninstall(t.Context(), w.env)
	require.NoError(t, err)
	for cluster, release := range map[string]string{"control": "flyte-core", "one": "flyte-core-data", "two": "flyte-core-data"} {
		_, err := w.fleet.Cluster(cluster).Releases.State(t.Context(), "flyte", release)
		require.ErrorIs(t, err, planewright.ErrNotFound, cluster)
	}
	rows, err := w.adminClient(t).Attributes(t.Context(), admin.KindExecutionClusterLabel)
	require.NoError(t, err)
	assert.Empty(t, rows)
	w.install(t, d)
}

func TestTooFewNodesForPodsThatMustNotShareOne(t *testing.T) {
	for name, c := range map[string]struct {
		nodes    int
		upgrade  bool
		severity planewright.Severity
	}{
		"the first install on two nodes works":    {2, false, planewright.SeverityWarning},
		"an upgrade on two nodes would hang":      {2, true, planewright.SeverityError},
		"the first install on one node is no use": {1, false, planewright.SeverityError},
		"three nodes are enough":                  {3, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPlanesWorld(t, "one")
			w.fleet.Configure("control", kubefake.WithNodes(kubefake.Nodes(c.nodes, "amd64")...))
			d := planes().WithDataplanes(flyte.NewDataplane("dp-1", "one"))
			if c.upgrade {
				w.install(t, d)
				d = d.WithDatabase(flyte.Postgres("other.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("x")))
			}
			found := map[string]planewright.Severity{}
			for _, f := range w.plan(t, d).Findings() {
				if f.Code == flyte.CodeTooFewNodes {
					found[f.Object.Name] = f.Severity
				}
			}
			want := map[string]planewright.Severity{}
			if c.severity != "" {
				want["flyteadmin"], want["datacatalog"] = c.severity, c.severity
				if !c.upgrade {
					want["flyteconsole"] = c.severity
				}
			}
			assert.Equal(t, want, found)
		})
	}
}

func TestAnotherNameForTheSameReleaseIsNoticed(t *testing.T) {
	w := newPlanesWorld(t, "one")
	one := planes().WithDataplanes(flyte.NewDataplane("dp-1", "one"))
	w.install(t, one.WithControlPlane(controlPlane().WithRelease("flyte")))
	err := w.plan(t, one).Err()
	require.ErrorIs(t, err, planewright.ErrBlocked)
	require.ErrorContains(t, err, `namespace flyte has a release of flyte-core v1.16.8 already, under another name than flyte-core`)
	require.ErrorContains(t, err, `use WithRelease("flyte") to upgrade it`)
}

func TestRawValuesThatNoTemplateReadsAreNamedWithTheNearest(t *testing.T) {
	w := newPlanesWorld(t, "one")
	d := planes().WithDataplanes(flyte.NewDataplane("dp-1", "one").WithValuesYAML("{flytepropeler: {replicaCount: 3}}")).
		WithControlPlane(controlPlane().WithValuesYAML("propeller: {replicas: 1}\nconfigmap: {adminServer: {server: {grpcPort: 8090}}}"))
	var texts []string
	for _, f := range w.plan(t, d).Findings() {
		if f.Code == flyte.CodeUnreadValue || f.Code == flyte.CodeTrap {
			texts = append(texts, f.Cause+" / "+f.Fix)
		}
	}
	assert.ElementsMatch(t, []string{
		"the raw value flytepropeler.replicaCount is read by no template of chart flyte-core v1.16.8 / did you mean flytepropeller.replicaCount? Otherwise leave it out",
		"the raw value propeller: this is a key of flytepropeller's configuration, not of the chart / use flytepropeller for its pods, configmap.core.propeller for its configuration",
		"the raw value configmap.adminServer.server.grpcPort: this is the port's old name; the chart's Services and pods take the port of configmap.adminServer.server.grpc.port / use configmap.adminServer.server.grpc.port",
	}, texts)
}

func TestAnUpgradeGoesInWavesAndHaltsAtAFailure(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e"}
	w := inNoCloud(t, names...)
	d := planes().WithWaves(1, 2)
	m := flyte.NewLabelMap()
	for _, name := range names {
		d = d.WithDataplanes(flyte.NewDataplane("dp-"+name, name))
		m = m.WithLabel(name, flyte.Weight("dp-"+name, 1))
	}
	d = d.WithLabelMap(m.WithDefault("a"))
	w.install(t, d)
	changed := d.WithLogLinks(flyte.CloudWatchLogs("us-east-1", "main"))
	w.fleet.Fail(kubefake.Call("write").Kind("ConfigMap").On("c"), kubefake.Denied)
	before := w.writes()
	report, err := changed.Install(t.Context(), w.env)
	require.ErrorContains(t, err, "flyte/ml/dataplanes/dp-c/release")
	for id, outcome := range map[string]planewright.Outcome{
		"a": planewright.OutcomeDone, "b": planewright.OutcomeDone, "c": planewright.OutcomeFailed,
		"d": planewright.OutcomeNotTried, "e": planewright.OutcomeNotTried,
	} {
		step, _ := report.Step("flyte/ml/dataplanes/dp-" + id + "/release")
		assert.Equal(t, outcome, step.Outcome, id)
	}
	assert.Equal(t, before["d"], w.writes()["d"])
	w.fleet.Heal()
	w.install(t, changed)
	assert.Empty(t, actions(w.plan(t, changed)))
}

func TestAnUpgradeOfTheChartsChangesEveryRelease(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	w.install(t, two())
	newer := two().WithVersion(nextVersion())
	w.env = w.env.WithCharts(chartsOf{standIns(), nextVersion()})
	plan := w.plan(t, newer)
	require.NoError(t, plan.Err())
	assert.Equal(t, map[string]planewright.Action{
		"flyte/ml/controlplane/release":    planewright.ActionUpdate,
		"flyte/ml/dataplanes/dp-1/release": planewright.ActionUpdate,
		"flyte/ml/dataplanes/dp-2/release": planewright.ActionUpdate,
	}, actions(plan))
	goldenPlan(t, "upgrade", plan.String())
	var order []string
	_, err := newer.Install(t.Context(), w.env, planewright.WithEvents(func(e planewright.Event) {
		if e.Kind == planewright.EventFinished && e.Outcome == planewright.OutcomeDone {
			order = append(order, e.Step)
		}
	}))
	require.NoError(t, err)
	assert.Equal(t, "flyte/ml/controlplane/release", order[len(order)-1], "what writes executions is changed after what reads them")
	assert.Empty(t, actions(w.plan(t, newer)))
}

// The way back is an install of the version before.
func TestAnUpgradeIsRolledBackByTheVersionBefore(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	w.install(t, two())
	w.env = w.env.WithCharts(chartsOf{standIns(), nextVersion()})
	w.install(t, two().WithVersion(nextVersion()))
	plan := w.plan(t, two())
	require.NoError(t, plan.Err())
	assert.Contains(t, codes(plan.Findings()), flyte.CodeDowngrade, "Flyte does not migrate its database back")
	goldenPlan(t, "rollback", plan.String())
	w.install(t, two())
	for cluster, release := range map[string]string{"control": "flyte-core", "one": "flyte-core-data", "two": "flyte-core-data"} {
		state, err := w.fleet.Cluster(cluster).Releases.State(t.Context(), "flyte", release)
		require.NoError(t, err)
		assert.Equal(t, "v1.16.8", state.ChartVersion, cluster)
		assert.Equal(t, 3, state.Revision, cluster)
	}
	assert.Empty(t, actions(w.plan(t, two())))
}

func TestAnUpgradeOverSeveralMinorReleasesIsAFinding(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	w.install(t, two())
	for version, expected := range map[string]int{"v1.17.0": 0, "v1.18.0": 3} {
		chart, _ := flyte.V1_16_8.Chart("flyte-core")
		chart.Version, chart.Digest = version, ""
		far := flyte.NewVersion(version, chart)
		w.env = w.env.WithCharts(chartsOf{standIns(), far})
		n := 0
		for _, code := range codes(w.plan(t, two().WithVersion(far)).Findings()) {
			if code == flyte.CodeVersionSkew {
				n++
			}
		}
		assert.Equal(t, expected, n, version)
	}
}

// nextVersion is a release of Flyte that does not exist.
func nextVersion() flyte.Version {
	chart, _ := flyte.V1_16_8.Chart("flyte-core")
	chart.Version, chart.Digest = "v1.16.9", ""
	return flyte.NewVersion("v1.16.9", chart)
}

// chartsOf gives out the charts of a source as those of another version.
type chartsOf struct {
	from    kube.ChartSource
	version flyte.Version
}

func (c chartsOf) Chart(ctx context.Context, ref kube.ChartRef) (*kube.Chart, error) {
	old, err := c.from.Chart(ctx, kube.ChartRef{Name: ref.Name, Version: "v1.16.8"})
	if err != nil || ref.Version == "v1.16.8" {
		return old, err
	}
	files := old.Files()
	for i, f := range files {
		files[i].Data = bytes.ReplaceAll(f.Data, []byte("v1.16.8"), []byte(ref.Version))
	}
	return kube.NewChart(old.Name(), ref.Version, ref.Version, "", files), nil
}
