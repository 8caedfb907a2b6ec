package flyte_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// renamed is the stand-in chart under another name and version.
func renamed(tb testing.TB, name, version string) *kube.Chart {
	tb.Helper()
	original, err := standIns().Chart(tb.Context(), kube.ChartRef{Name: "flyte-binary", Version: "v1.16.8"})
	require.NoError(tb, err)
	files := original.Files()
	for i, f := range files {
		if f.Name == "Chart.yaml" {
			files[i].Data = fmt.Appendf(nil, "apiVersion: v2\nname: %s\nversion: %s\nappVersion: 1.16.0\n", name, version)
		}
	}
	return kube.NewChart(name, version, "1.16.0", "", files)
}

// release installs a release past this package, as helm would.
func (w world) release(tb testing.TB, namespace, name string, chart *kube.Chart) {
	tb.Helper()
	w.create(tb, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata("", namespace)})
	_, err := w.cluster.Releases.Apply(tb.Context(), kube.Release{Name: name, Namespace: namespace, Chart: chart})
	require.NoError(tb, err)
}

func TestTheReleaseOfAnotherChartIsNotTaken(t *testing.T) {
	for name, c := range map[string]struct{ chart, version, code string }{
		"another product":        {"postgresql", "v15.0.0", flyte.CodeOtherChart},
		"Flyte 2":                {"flyte-binary", "v2.0.42", flyte.CodeOtherChart},
		"another chart of Flyte": {"flyte-core", "v1.16.8", flyte.CodeOtherChart},
		"a newer one":            {"flyte-binary", "v1.17.0", flyte.CodeDowngrade},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.release(t, "flyte", "flyte-backend", renamed(t, c.chart, c.version))
			w.fleet.ForgetCalls()
			_, err := production().Install(t.Context(), w.env)
			require.ErrorIs(t, err, planewright.ErrConflict, "it is nobody's stack's")
			require.ErrorContains(t, err, "WithAdoption")
			assert.Zero(t, w.fleet.Writes("main"))

			plan, err := production().WithAdoption().Plan(t.Context(), w.env)
			require.NoError(t, err)
			assert.Contains(t, codes(plan.Findings()), c.code)
			if c.code == flyte.CodeOtherChart {
				assert.ErrorIs(t, plan.Err(), planewright.ErrBlocked)
			} else {
				assert.NoError(t, plan.Err(), "a warning")
			}
		})
	}
}

func TestAnUpgradeIsAnInstallOfANewerVersion(t *testing.T) {
	w := newWorld(t)
	w.install(t, production())
	known, _ := flyte.V1_16_8.Chart("flyte-binary")
	known.Version, known.Digest = "v1.16.9", ""
	w.env = w.env.WithCharts(chartOf{renamed(t, "flyte-binary", "v1.16.9")})
	newer := flyte.NewSingleCluster("ml", flyte.NewVersion("v1.16.9", known), "main").
		WithStorage(flyte.S3("acme-flyte", "us-east-1")).
		WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("hunter2")))
	plan, err := newer.Plan(t.Context(), w.env)
	require.NoError(t, err)
	planewright.AssertTouchesOnly(t, plan, "flyte/ml/release")
	w.install(t, newer)
	state, err := w.cluster.Releases.State(t.Context(), "flyte", "flyte-backend")
	require.NoError(t, err)
	assert.Equal(t, "v1.16.9", state.ChartVersion)
	assert.Equal(t, 2, state.Revision)
}

// shelf is an inventory outside of the cluster.
type shelf struct {
	mu      sync.Mutex
	entries []planewright.InventoryEntry
}

func (s *shelf) Load(context.Context) ([]planewright.InventoryEntry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entries, nil
}

func (s *shelf) Save(_ context.Context, entries []planewright.InventoryEntry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries = entries
	return nil
}

func TestADeploymentThatMovesTakesTheOldOneAway(t *testing.T) {
	w := newWorld(t)
	w.env = w.env.WithInventory(&shelf{})
	w.install(t, production())
	moved := production().WithNamespace("flyte-two").WithRelease("flyte-two")
	report := w.install(t, moved)
	assert.Subset(t, report.Changed(), []string{"flyte/ml/release", "flyte/ml/release/pruned", "flyte/ml/database-secret/pruned"})
	_, err := w.cluster.Releases.State(t.Context(), "flyte", "flyte-backend")
	require.ErrorIs(t, err, planewright.ErrNotFound)
	_, err = w.cluster.Objects.Get(t.Context(), kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "flyte", Name: "flyte-backend-database"})
	require.ErrorIs(t, err, planewright.ErrNotFound)
	w.get(t, "v1", "Namespace", "", "flyte")
	plan, err := moved.Plan(t.Context(), w.env)
	require.NoError(t, err)
	planewright.AssertNoChanges(t, plan)
}

func TestAReleaseThatIsNoLongerOursIsNotPruned(t *testing.T) {
	w := newWorld(t)
	memory := &shelf{}
	w.env = w.env.WithInventory(memory)
	w.release(t, "theirs", "theirs", renamed(t, "other", "v1.0.0"))
	memory.entries = []planewright.InventoryEntry{
		{Step: "flyte/ml/old", Objects: []planewright.Object{
			{Cluster: "main", APIVersion: planewright.ReleaseAPIVersion, Kind: planewright.ReleaseKind, Namespace: "theirs", Name: "theirs"},
			{Cluster: "main", APIVersion: "v1", Kind: "Namespace", Name: "theirs"},
			{Cluster: "main", APIVersion: "v1", Kind: "Secret", Namespace: "theirs", Name: "gone"}}},
		{Step: "flyte/ml/elsewhere", Objects: []planewright.Object{{Cluster: "gone", APIVersion: "v1", Kind: "Secret", Namespace: "a", Name: "b"}}},
		{Step: "flyte/ml/cloud", Objects: []planewright.Object{{Cluster: "main", Kind: "Role", Name: "r"}}},
	}
	_, err := production().Install(t.Context(), w.env)
	require.ErrorIs(t, err, planewright.ErrBlocked)
	require.ErrorContains(t, err, "it is in cluster gone, which the Env does not have; add the cluster by WithClusters")
	w.env = w.env.WithLostClusters("gone")
	plan, err := production().Plan(t.Context(), w.env)
	require.NoError(t, err)
	assert.False(t, plan.Touches("flyte/ml/old/pruned"))
	w.install(t, production())
	_, err = w.cluster.Releases.State(t.Context(), "theirs", "theirs")
	require.NoError(t, err)
	var steps []string
	for _, e := range memory.entries {
		steps = append(steps, e.Step)
	}
	assert.NotContains(t, steps, "flyte/ml/elsewhere", "with the cluster it is forgotten")
	assert.Contains(t, steps, "flyte/ml/cloud", "what this package does not know stays known")
}

// held is a lock that somebody else has.
type held struct{}

func (held) Name() string { return "held" }
func (held) Lock(context.Context, string, func(string)) (planewright.Lock, error) {
	return nil, &planewright.LockedError{Lock: "held", Holder: "ana@laptop"}
}

func TestALockOfTheCallers(t *testing.T) {
	w := newWorld(t)
	_, err := production().Install(t.Context(), w.env.WithLocker(held{}))
	require.ErrorIs(t, err, planewright.ErrLocked)
	require.ErrorContains(t, err, "ana@laptop")
	_, err = w.cluster.Releases.State(t.Context(), "flyte", "flyte-backend")
	assert.ErrorIs(t, err, planewright.ErrNotFound)
}

func TestWhatMayNotBeAskedIsSaid(t *testing.T) {
	w := newWorld(t, kubefake.WithDenied(
		kube.Access{Verb: "list", Resource: "nodes"},
		kube.Access{Verb: "get", Group: "admissionregistration.k8s.io", Resource: "mutatingwebhookconfigurations"},
		kube.Access{Verb: "get", Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}))
	plan, err := production().Plan(t.Context(), w.env)
	require.NoError(t, err)
	require.NoError(t, plan.Err())
	unprobed := map[string]bool{}
	for _, f := range plan.Findings() {
		if f.Severity == planewright.SeverityUnprobed {
			unprobed[f.Code] = true
		}
	}
	assert.True(t, unprobed[flyte.CodeNodes], "%v", plan.Findings())
	w.install(t, production())
	v, err := production().Verify(t.Context(), w.env)
	require.NoError(t, err)
	assert.True(t, v.OK(), "%s", v)
	_, err = production().Uninstall(t.Context(), w.env)
	require.NoError(t, err)
}

// intruder makes the namespace in the moment before it is made here.
type intruder struct{ kube.Objects }

func (i intruder) Create(ctx context.Context, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if obj.GetKind() == "Namespace" {
		theirs := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace",
			"metadata": map[string]any{"name": obj.GetName(), "labels": map[string]any{"team": "theirs"}}}}
		if _, err := i.Objects.Create(ctx, theirs); err != nil {
			return nil, err
		}
	}
	return i.Objects.Create(ctx, obj)
}

func TestANamespaceThatSomebodyMakesInBetweenIsTheirs(t *testing.T) {
	w := newWorld(t)
	meddled := w.cluster
	meddled.Objects = intruder{w.cluster.Objects}
	_, err := production().Install(t.Context(), w.env.WithClusters(meddled))
	require.NoError(t, err)
	labels := w.get(t, "v1", "Namespace", "", "flyte").GetLabels()
	assert.Equal(t, "theirs", labels["team"])
	assert.NotContains(t, labels, "planewright.dev/stack")
	report, err := production().Uninstall(t.Context(), w.env)
	require.NoError(t, err)
	assert.Contains(t, report.String(), "it was there before the deployment")
}

func TestRenderedValuesHoldNoSecretsOfTheUsers(t *testing.T) {
	w := newWorld(t)
	files := memory{}
	d := production().WithValuesYAML("configuration: {auth: {enabled: true, oidc: {baseUrl: https://idp, clientId: flyte, clientSecret: hunter3}, internal: {clientSecret: hunter4, clientSecretHash: x}, authorizedUris: [https://flyte.acme.internal]}}")
	require.NoError(t, d.Render(t.Context(), w.env, files))
	require.Contains(t, files["release/values.yaml"], "clientSecret: '[redacted]'")
	for name, text := range files {
		for _, secret := range []string{"hunter2", "hunter3", "hunter4", base64.StdEncoding.EncodeToString([]byte("hunter3"))} {
			assert.NotContains(t, text, secret, name)
		}
	}
	assert.Zero(t, w.fleet.Writes("main"))
}

func TestAMissingSecretSourceIsNamed(t *testing.T) {
	w := newWorld(t)
	d := production().WithDatabase(flyte.Postgres("db", "flyte").WithPassword(planewright.SecretFromEnv("PLANEWRIGHT_TEST_UNSET")))
	_, err := d.Install(t.Context(), w.env)
	require.ErrorIs(t, err, planewright.ErrNotFound)
	require.ErrorContains(t, err, "database password: secret from environment variable PLANEWRIGHT_TEST_UNSET")
	assert.Zero(t, w.fleet.Writes("main"))
}

func TestAnUnreachableClusterIsAnError(t *testing.T) {
	w := newWorld(t)
	w.fleet.Fail(kubefake.Call(""), kubefake.Unreachable)
	_, err := production().Install(t.Context(), w.env, planewright.WithAttempts(1))
	require.ErrorIs(t, err, planewright.ErrUnavailable)
	var run *planewright.RunError
	require.ErrorAs(t, err, &run)
}

// TestAPendingReleaseOfSomebodyElseIsRefused: a release that helm left in the
// middle of an operation may be in somebody's hands.
func TestAPendingReleaseOfSomebodyElseIsRefused(t *testing.T) {
	w := newWorld(t)
	w.release(t, "flyte", "flyte-backend", renamed(t, "flyte-binary", "v1.16.8"))
	record := w.get(t, "v1", "Secret", "flyte", "sh.helm.release.v1.flyte-backend.v1")
	pending(t, record.Object)
	_, err := w.cluster.Objects.Update(t.Context(), record)
	require.NoError(t, err)
	w.fleet.ForgetCalls()
	_, err = production().WithAdoption().Install(t.Context(), w.env)
	require.ErrorIs(t, err, kube.ErrReleasePending)
	require.ErrorContains(t, err, "see Deployment.WithPendingRecovery")
	assert.Zero(t, w.fleet.Writes("main"))
}

// pending makes a record of Helm's say that an upgrade was begun.
func pending(tb testing.TB, record map[string]any) {
	tb.Helper()
	data := record["data"].(map[string]any)
	var release map[string]any
	require.NoError(tb, json.Unmarshal([]byte(unpack(tb, data["release"].(string))), &release))
	release["info"].(map[string]any)["status"] = "pending-upgrade"
	text, err := json.Marshal(release)
	require.NoError(tb, err)
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err = writer.Write(text)
	require.NoError(tb, err)
	require.NoError(tb, writer.Close())
	inner := base64.StdEncoding.EncodeToString(packed.Bytes())
	data["release"] = base64.StdEncoding.EncodeToString([]byte(inner))
	record["metadata"].(map[string]any)["labels"].(map[string]any)["status"] = "pending-upgrade"
}
