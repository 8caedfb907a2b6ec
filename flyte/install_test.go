package flyte_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestInstallFromNothing(t *testing.T) {
	forEachSource(t, func(t *testing.T, w world) {
		plan, err := production().Plan(t.Context(), w.env)
		require.NoError(t, err)
		require.NoError(t, plan.Err())
		assert.Zero(t, w.fleet.Writes("main"), "a plan writes nothing")
		for _, s := range plan.Steps() {
			assert.Equal(t, planewright.ActionCreate, s.Change.Action, "%s is known in full", s.ID)
		}

		report := w.install(t, production())
		assert.Equal(t, []string{"flyte/ml/namespace", "flyte/ml/database-secret", "flyte/ml/release"}, report.Changed())
		assert.Equal(t, []string{
			"reach the console at http://localhost:8088/console: kubectl -n flyte port-forward service/flyte-backend-flyte-binary-http 8088:8088",
			"reach the API at dns:///localhost:8089 (insecure): kubectl -n flyte port-forward service/flyte-backend-flyte-binary-grpc 8089:8089",
		}, report.Next)

		secret := w.get(t, "v1", "Secret", "flyte", "flyte-backend-database")
		assert.Equal(t, "1", secret.GetAnnotations()["planewright.dev/revision"])
		data, _, _ := unstructured.NestedStringMap(secret.Object, "data")
		assert.Equal(t, map[string]string{"password": base64.StdEncoding.EncodeToString([]byte("hunter2"))}, data)
		assert.Equal(t, "1", w.podAnnotations(t)["planewright.dev/database-revision"])
		_, err = w.cluster.Objects.Get(t.Context(), kube.Ref{APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Namespace: "flyte", Name: "planewright-flyte-ml"})
		assert.ErrorIs(t, err, planewright.ErrNotFound, "the lock is given back")
	})
}

func TestASecondInstallPersistsNothing(t *testing.T) {
	forEachSource(t, func(t *testing.T, w world) {
		w.install(t, production())
		w.env = w.env.WithClusters(w.fleet.Cluster("main")) // another process
		w.fleet.ForgetCalls()
		report := w.install(t, production())
		assert.Empty(t, report.Changed())
		assert.Zero(t, w.fleet.Writes("main"))
		assert.LessOrEqual(t, len(w.fleet.Calls()), 20, "%v", w.fleet.Calls())
	})
}

func TestAFreshPlanIsWhatInstallDoes(t *testing.T) {
	forEachSource(t, func(t *testing.T, w world) {
		plan, err := production().Plan(t.Context(), w.env)
		require.NoError(t, err)
		_, err = planewright.Apply(t.Context(), plan)
		require.NoError(t, err)
		again, err := production().Plan(t.Context(), w.env)
		require.NoError(t, err)
		planewright.AssertNoChanges(t, again)
	})
}

func TestAnExistingNamespaceIsLeftAsItIs(t *testing.T) {
	w := newWorld(t)
	w.create(t, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{
		"name": "flyte", "labels": map[string]any{"pod-security.kubernetes.io/enforce": "restricted"}}})
	before := w.get(t, "v1", "Namespace", "", "flyte")
	report := w.install(t, production())
	assert.NotContains(t, report.Changed(), "flyte/ml/namespace")
	assert.Equal(t, before.Object, w.get(t, "v1", "Namespace", "", "flyte").Object)

	report, err := production().Uninstall(t.Context(), w.env)
	require.NoError(t, err)
	assert.Equal(t, before.Object, w.get(t, "v1", "Namespace", "", "flyte").Object)
	require.Len(t, report.Kept, 1)
	assert.Equal(t, "it was there before the deployment", report.Kept[0].Reason)
}

func TestANamespaceThatIsBeingDeletedStopsTheInstall(t *testing.T) {
	w := newWorld(t)
	w.create(t, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "flyte"}})
	w.create(t, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
		"name": "held", "namespace": "flyte", "finalizers": []any{"example.com/held"}}})
	require.NoError(t, w.cluster.Objects.Delete(t.Context(), kube.Ref{APIVersion: "v1", Kind: "Namespace", Name: "flyte"}, kube.DeleteOptions{}))
	w.fleet.ForgetCalls()
	_, err := production().Install(t.Context(), w.env)
	require.ErrorIs(t, err, planewright.ErrBlocked)
	require.ErrorContains(t, err, "namespace flyte is being deleted")
	assert.Zero(t, w.fleet.Writes("main"))
}

func TestAPasswordThatChangesRestartsThePods(t *testing.T) {
	forEachSource(t, func(t *testing.T, w world) {
		w.install(t, production())
		rotated := production().WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("correct horse")))
		plan, err := rotated.Plan(t.Context(), w.env)
		require.NoError(t, err)
		planewright.AssertTouchesOnly(t, plan, "flyte/ml/database-secret", "flyte/ml/release")
		secret, _ := plan.Step("flyte/ml/database-secret")
		assert.Equal(t, []planewright.FieldDiff{
			{Path: "data.password", Secret: true},
			{Path: `metadata.annotations["planewright.dev/revision"]`, Before: "1", After: "2"},
		}, secret.Change.Diff)
		release, _ := plan.Step("flyte/ml/release")
		assert.Equal(t, planewright.ActionUpdate, release.Change.Action)
		assert.Equal(t, []planewright.FieldDiff{
			{Path: `Deployment flyte/flyte-backend-flyte-binary: spec.template.metadata.annotations["planewright.dev/database-revision"]`, Before: "1", After: "2"},
		}, release.Change.Diff)

		w.install(t, rotated)
		assert.Equal(t, "2", w.podAnnotations(t)["planewright.dev/database-revision"])
		data, _, _ := unstructured.NestedStringMap(w.get(t, "v1", "Secret", "flyte", "flyte-backend-database").Object, "data")
		password, err := base64.StdEncoding.DecodeString(data["password"])
		require.NoError(t, err)
		assert.Equal(t, "'correct horse'", string(password), "quoted as a connection string wants it")
		plan, err = rotated.Plan(t.Context(), w.env)
		require.NoError(t, err)
		planewright.AssertNoChanges(t, plan)
	})
}

func TestASecretThatWasDeletedGetsARevisionThatThePodsHaveNotSeen(t *testing.T) {
	w := newWorld(t)
	w.install(t, production())
	require.NoError(t, w.cluster.Objects.Delete(t.Context(), kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "flyte", Name: "flyte-backend-database"}, kube.DeleteOptions{}))
	w.install(t, production().WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("another"))))
	assert.Equal(t, "2", w.get(t, "v1", "Secret", "flyte", "flyte-backend-database").GetAnnotations()["planewright.dev/revision"])
	assert.Equal(t, "2", w.podAnnotations(t)["planewright.dev/database-revision"])
}

func TestARevisionThatWasLostIsCountedOnFromThePods(t *testing.T) {
	w := newWorld(t)
	w.install(t, production())
	secret := w.get(t, "v1", "Secret", "flyte", "flyte-backend-database")
	secret.SetAnnotations(nil)
	_, err := w.cluster.Objects.Update(t.Context(), secret)
	require.NoError(t, err)
	w.install(t, production().WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("another"))))
	assert.Equal(t, "2", w.podAnnotations(t)["planewright.dev/database-revision"])
}

func TestAPasswordThatSomebodyEditedIsRepaired(t *testing.T) {
	w := newWorld(t)
	w.install(t, production())
	secret := w.get(t, "v1", "Secret", "flyte", "flyte-backend-database")
	require.NoError(t, unstructured.SetNestedField(secret.Object, base64.StdEncoding.EncodeToString([]byte("edited")), "data", "password"))
	require.NoError(t, unstructured.SetNestedField(secret.Object, base64.StdEncoding.EncodeToString([]byte("more")), "data", "theirs"))
	_, err := w.cluster.Objects.Update(t.Context(), secret)
	require.NoError(t, err)
	w.install(t, production())
	data, _, _ := unstructured.NestedStringMap(w.get(t, "v1", "Secret", "flyte", "flyte-backend-database").Object, "data")
	assert.Equal(t, base64.StdEncoding.EncodeToString([]byte("hunter2")), data["password"])
	assert.Contains(t, data, "theirs", "what others put beside it stays")
	assert.Equal(t, "2", w.podAnnotations(t)["planewright.dev/database-revision"])
}

func TestASecretOfSomebodyElseIsNotTaken(t *testing.T) {
	w := newWorld(t)
	w.create(t, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata("", "flyte")})
	w.create(t, map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": metadata("flyte", "flyte-backend-database"),
		"data": map[string]any{"password": "dGhlaXJz"}})
	w.fleet.ForgetCalls()
	_, err := production().Install(t.Context(), w.env)
	require.ErrorIs(t, err, planewright.ErrBlocked)
	require.ErrorContains(t, err, "Secret flyte/flyte-backend-database exists, and this deployment did not make it")
	assert.Zero(t, w.fleet.Writes("main"))

	plan, err := production().WithAdoption().Plan(t.Context(), w.env)
	require.NoError(t, err)
	step, _ := plan.Step("flyte/ml/database-secret")
	assert.Equal(t, planewright.ActionAdopt, step.Change.Action)
	w.install(t, production().WithAdoption())
	w.install(t, production())
}

func TestAPasswordInTheClusterIsReferredTo(t *testing.T) {
	w := newWorld(t)
	d := production().WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretInCluster("rds", "pass")))
	_, err := d.Install(t.Context(), w.env)
	require.ErrorIs(t, err, planewright.ErrBlocked)
	require.ErrorContains(t, err, "Secret flyte/rds in cluster main: the Secret for the database's password does not exist")
	assert.Zero(t, w.fleet.Writes("main"))

	w.create(t, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata("", "flyte")})
	w.create(t, map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": metadata("flyte", "rds"), "data": map[string]any{"password": "eA=="}})
	_, err = d.Install(t.Context(), w.env)
	require.ErrorContains(t, err, "the Secret for the database's password has no key pass; fix: add the key, or refer to one that is there: password")

	d = d.WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretInCluster("rds", "password")))
	report := w.install(t, d)
	assert.Equal(t, []string{"flyte/ml/release"}, report.Changed())
	volumes, _, _ := unstructured.NestedSlice(w.get(t, "apps/v1", "Deployment", "flyte", "flyte-backend-flyte-binary").Object, "spec", "template", "spec", "volumes")
	assert.Contains(t, volumes, map[string]any{"name": "flyte-database", "projected": map[string]any{"defaultMode": int64(420), "sources": []any{
		map[string]any{"secret": map[string]any{"name": "rds", "items": []any{map[string]any{"key": "password", "path": "password"}}}}}}})
}

func TestStorageKeysGoIntoAConfigurationFileInASecret(t *testing.T) {
	forEachSource(t, func(t *testing.T, w world) {
		d := production().WithStorage(flyte.S3Compatible("flyte", "http://minio:9000").WithKeys("flyte", planewright.SecretValue("s3: 'cr3t")))
		report := w.install(t, d)
		assert.Contains(t, report.Changed(), "flyte/ml/storage-secret")
		data, _, _ := unstructured.NestedStringMap(w.get(t, "v1", "Secret", "flyte", "flyte-backend-storage").Object, "data")
		text, err := base64.StdEncoding.DecodeString(data["110-storage-keys.yaml"])
		require.NoError(t, err)
		assert.YAMLEq(t, "storage: {stow: {config: {access_key_id: flyte, secret_key: \"s3: 'cr3t\"}}}", string(text))
		volumes, _, _ := unstructured.NestedSlice(w.get(t, "apps/v1", "Deployment", "flyte", "flyte-backend-flyte-binary").Object, "spec", "template", "spec", "volumes")
		found := false
		for _, v := range volumes {
			if sources, _, _ := unstructured.NestedSlice(v.(map[string]any), "projected", "sources"); v.(map[string]any)["name"] == "config" {
				for _, s := range sources {
					name, _, _ := unstructured.NestedString(s.(map[string]any), "secret", "name")
					found = found || name == "flyte-backend-storage"
				}
			}
		}
		assert.True(t, found, "Flyte reads it with its configuration")
		assert.Equal(t, "1", w.podAnnotations(t)["planewright.dev/storage-revision"])
	})
}

// TestSecretsAreNowhereElse looks for the password in everything that an
// install shows and everything that it writes.
func TestSecretsAreNowhereElse(t *testing.T) {
	forEachSource(t, func(t *testing.T, w world) {
		const password, key = "hunter2-of-the-database", "hunter2-of-the-storage"
		d := production().
			WithStorage(flyte.S3Compatible("flyte", "http://minio:9000").WithKeys("flyte", planewright.SecretValue(key))).
			WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue(password)))
		var shown strings.Builder
		show := func(what any) { shown.WriteString(strings.TrimSpace(jsonOf(t, what)) + "\n") }
		plan, err := d.Plan(t.Context(), w.env)
		require.NoError(t, err)
		shown.WriteString(plan.String())
		show(plan)
		report, err := d.Install(t.Context(), w.env, planewright.WithEvents(func(e planewright.Event) { show(e) }))
		require.NoError(t, err)
		shown.WriteString(report.String())
		show(report)
		v, err := d.Verify(t.Context(), w.env)
		require.NoError(t, err)
		shown.WriteString(v.String())
		files := memory{}
		require.NoError(t, d.Render(t.Context(), w.env, files))
		for _, text := range files {
			shown.WriteString(text)
		}
		w.fleet.Fail(kubefake.Call("apply").Kind("Secret"), kubefake.Denied)
		_, err = d.WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue(password+"-new"))).Install(t.Context(), w.env)
		require.ErrorIs(t, err, planewright.ErrDenied)
		shown.WriteString(err.Error())
		w.fleet.Heal()

		assert.NotContains(t, shown.String(), password)
		assert.NotContains(t, shown.String(), key)
		for ref, text := range w.state(t) {
			if ref == "Secret flyte/flyte-backend-database" || ref == "Secret flyte/flyte-backend-storage" {
				continue
			}
			for _, secret := range []string{password, key} {
				assert.NotContains(t, text, secret, ref)
				assert.NotContains(t, text, base64.StdEncoding.EncodeToString([]byte(secret)), ref)
			}
		}
		assert.NotContains(t, jsonOf(t, records(t, w)), password, "Helm's records")
		assert.NotContains(t, jsonOf(t, records(t, w)), key, "Helm's records")
	})
}

func TestAnotherFlyteInTheNamespaceIsNamed(t *testing.T) {
	w := newWorld(t)
	w.install(t, production())
	w.fleet.ForgetCalls()
	_, err := production().WithRelease("flyte").Install(t.Context(), w.env)
	var blocked *planewright.BlockedError
	require.ErrorAs(t, err, &blocked)
	require.NotEmpty(t, blocked.Findings)
	assert.Equal(t, flyte.CodeOtherFlyte, blocked.Findings[0].Code)
	assert.Equal(t, "Release flyte/flyte-backend in cluster main", blocked.Findings[0].Object.String())
	assert.Equal(t, `use WithRelease("flyte-backend") to upgrade it, or uninstall it first`, blocked.Findings[0].Fix)
	assert.Zero(t, w.fleet.Writes("main"))
}

func TestAnotherFlyteInTheClusterIsAWarning(t *testing.T) {
	w := newWorld(t)
	w.install(t, production())
	plan, err := production().WithNamespace("flyte-two").WithRelease("flyte-two").Plan(t.Context(), w.env)
	require.NoError(t, err)
	require.NoError(t, plan.Err())
	assert.Contains(t, codes(plan.Findings()), flyte.CodeOtherFlyte)
}

// TestObjectsOfAnotherReleaseAreAllNamed: names of cluster-wide objects come
// from the release alone, so that two of one name collide.
func TestObjectsOfAnotherReleaseAreAllNamed(t *testing.T) {
	w := newWorld(t)
	w.install(t, production())
	w.fleet.ForgetCalls()
	other := flyte.NewSingleCluster("two", flyte.V1_16_8, "main").WithNamespace("flyte-two").
		WithStorage(flyte.S3("acme-flyte", "us-east-1")).
		WithDatabase(flyte.Postgres("db", "flyte").WithTLS(flyte.TLSDisable))
	_, err := other.Install(t.Context(), w.env)
	require.Error(t, err)
	require.ErrorContains(t, err, "flyte-backend-flyte-binary-cluster-role")
	require.ErrorContains(t, err, "flyte-backend-flyte-binary-cluster-role-binding")
	assert.Zero(t, w.fleet.Writes("main"))
}

func TestWhatTheChartRefusesIsToldBeforeAnythingIsWritten(t *testing.T) {
	forEachSource(t, func(t *testing.T, w world) {
		_, err := production().WithValuesYAML("configuration: {storage: {provider: azblob}}").Install(t.Context(), w.env)
		require.ErrorIs(t, err, planewright.ErrInvalid)
		require.ErrorContains(t, err, "azblob")
		assert.Zero(t, w.fleet.Writes("main"))
	})
}

func TestPlaceholdersThatAreLeftAreTold(t *testing.T) {
	forEachSource(t, func(t *testing.T, w world) {
		_, err := production().WithValuesYAML("ingress: {create: true}").Install(t.Context(), w.env)
		var blocked *planewright.BlockedError
		require.ErrorAs(t, err, &blocked)
		var lines []string
		for _, f := range blocked.Findings {
			assert.Equal(t, flyte.CodePlaceholder, f.Code)
			lines = append(lines, f.Object.String()+": "+f.Cause+"; "+f.Fix)
		}
		assert.Contains(t, lines, "Ingress flyte/flyte-backend-flyte-binary-http in cluster main: the field spec.rules[0].host holds the placeholder flyte.mydomain.com; "+
			"set ingress.host, or switch off the part that uses it")
		assert.Contains(t, lines, `Ingress flyte/flyte-backend-flyte-binary-http in cluster main: the field metadata.annotations["alb.ingress.kubernetes.io/certificate-arn"] `+
			`holds the placeholder <AWS-ACCOUNT-ID>; set ingress.commonAnnotations["alb.ingress.kubernetes.io/certificate-arn"], or switch off the part that uses it`)
		assert.Zero(t, w.fleet.Writes("main"))
	})
}

func TestRawValuesThatNothingReadsAreTold(t *testing.T) {
	w := newWorld(t)
	d := production().WithValuesYAML("configuration: {databse: {host: db}}\ndeployment: {image: {tags: v1}}\nconfigmap: {admin: {}}\npropeller: {replicas: 1}")
	plan, err := d.Plan(t.Context(), w.env)
	require.NoError(t, err)
	require.NoError(t, plan.Err(), "a warning by default")
	text := plan.String()
	assert.Contains(t, text, "the raw value configuration.databse.host is read by no template of chart flyte-binary v1.16.8; fix: did you mean configuration.database.host")
	assert.Contains(t, text, "did you mean deployment.image.tag")
	assert.Contains(t, text, "put the configuration below configuration.inline")
	assert.Contains(t, text, "the raw value propeller.replicas is read by no template")

	_, err = d.WithStrictValues().Install(t.Context(), w.env)
	require.ErrorIs(t, err, planewright.ErrBlocked)
	assert.Zero(t, w.fleet.Writes("main"))
}

func TestRawTemplatesAreCheckedToo(t *testing.T) {
	w := newWorld(t)
	_, err := production().WithValuesYAML("clusterResourceTemplates: {inline: {020_own.yaml: \"apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: '{{ team }}'}\\n\"}}").Install(t.Context(), w.env)
	require.NoError(t, err, "flyteadmin may know the variable by itself")
	own := production().WithStrictValues().WithValuesYAML("clusterResourceTemplates: {inline: {020_own.yaml: \"apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: '{{ team }}'}\\n\"}}")
	_, err = own.Install(t.Context(), w.env)
	require.ErrorIs(t, err, planewright.ErrBlocked)
	require.ErrorContains(t, err, `the resource template 020_own.yaml: "{{ team }}": the variable has no value in development, staging and production`)
	for _, values := range []string{
		"configuration: {inline: {cluster_resources: {templateData: {team: {value: ml}}}}}",
		"configuration: {inline: {cluster_resources: {templateData: [{team: {valueFrom: {env: TEAM}}}]}}}",
	} {
		_, err = own.WithValuesYAML(values).Install(t.Context(), w.env)
		require.NoError(t, err, values)
	}

	_, err = production().WithValuesYAML("configuration: {inline: {cluster_resources: {customData: [{development: [{defaultIamRole: {value: x}}]}]}}}").Install(t.Context(), w.env)
	assert.ErrorContains(t, err, `the resource template 002_serviceaccount.yaml: "{{ defaultIamRole }}": the variable has no value in staging and production`,
		"a list that replaces the deployment's")
}

func TestOtherNamespacesWork(t *testing.T) {
	w := newWorld(t)
	w.install(t, production().WithNamespace("ml-platform").WithRelease("ml"))
	config := w.get(t, "v1", "ConfigMap", "ml-platform", "ml-flyte-binary-config")
	assert.NotContains(t, jsonOf(t, config.Object), "flyte.flyte")
	w.get(t, "v1", "Secret", "ml-platform", "ml-database")
}

func TestPermissionsThatAreMissingAreAllTold(t *testing.T) {
	w := newWorld(t, kubefake.WithDenied(
		kube.Access{Verb: "create", Resource: "namespaces"},
		kube.Access{Verb: "*", Group: "rbac.authorization.k8s.io", Resource: "clusterroles"}))
	_, err := production().Install(t.Context(), w.env)
	require.Error(t, err)
	require.ErrorContains(t, err, "the credentials for cluster main may not create namespaces in all namespaces")
	require.ErrorContains(t, err, "may not get, list, create, update, patch and delete clusterroles.rbac.authorization.k8s.io in all namespaces")
	assert.Zero(t, w.fleet.Writes("main"))
}

func TestNodesThatCannotRunFlyteAreTold(t *testing.T) {
	cordoned := kubefake.Nodes(1, "amd64")[0]
	cordoned.Name, cordoned.Schedulable = "cordoned", false
	exotic := kubefake.Nodes(1, "s390x")[0]
	exotic.Name = "exotic"
	w := newWorld(t, kubefake.WithNodes(cordoned, exotic))
	_, err := production().Install(t.Context(), w.env)
	require.ErrorIs(t, err, planewright.ErrBlocked)
	require.ErrorContains(t, err, "no node can run Flyte: cordoned: it is cordoned; exotic: its architecture is s390x; the images are published for amd64 and arm64")

	w = newWorld(t)
	_, err = production().WithPlacement(flyte.NewPlacement().WithNodeLabel("pool", "platform")).Install(t.Context(), w.env)
	assert.ErrorContains(t, err, "it lacks the label pool=platform that the placement asks for")
}

func TestAnOldAPIServerIsTold(t *testing.T) {
	w := newWorld(t, kubefake.WithVersion("v1.21.14"))
	_, err := production().Install(t.Context(), w.env)
	require.ErrorIs(t, err, planewright.ErrBlocked)
	assert.ErrorContains(t, err, "the API server of cluster main is v1.21.14")
}

func TestAnotherChartThanTheOneThatIsMeantIsRefused(t *testing.T) {
	for name, chart := range map[string]*kube.Chart{
		"by its version":     kube.NewChart("flyte-binary", "v2.0.42", "", "", nil),
		"by its values":      kube.NewChart("flyte-binary", "v1.16.8", "", "", []kube.ChartFile{{Name: "values.yaml", Data: []byte("configuration: {database: {postgres: {host: x}}}")}}),
		"another patch":      kube.NewChart("flyte-binary", "v1.16.7", "", "", nil),
		"another chart":      kube.NewChart("flyte-core", "v1.16.8", "", "", nil),
		"another digest":     kube.NewChart("flyte-binary", "v1.16.8", "", "sha256:"+strings.Repeat("0", 64), nil),
		"without an overlay": kube.NewChart("flyte-binary", "v1.16.8", "", "", []kube.ChartFile{{Name: "values.yaml"}}),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.env = w.env.WithCharts(chartOf{chart})
			_, err := production().Install(t.Context(), w.env)
			require.Error(t, err)
			assert.True(t, errors.Is(err, planewright.ErrInvalid) || errors.Is(err, planewright.ErrNotFound), "%v", err)
			assert.Zero(t, w.fleet.Writes("main"))
		})
	}
}

func TestUninstallLeavesOnlyWhatItNames(t *testing.T) {
	forEachSource(t, func(t *testing.T, w world) {
		before := w.state(t)
		w.install(t, production())
		// What Flyte makes itself while it runs.
		w.create(t, map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": metadata("flyte", "flyte-backend-flyte-binary-webhook-secret")})
		w.create(t, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata("", "flytesnacks-production")})

		report, err := production().Uninstall(t.Context(), w.env)
		require.NoError(t, err)
		kept := map[string]bool{}
		for _, k := range report.Kept {
			assert.NotEmpty(t, k.Reason)
			o := k.Object
			o.Cluster = ""
			kept[o.String()] = true
		}
		for _, name := range names(w.state(t)) {
			_, old := before[name]
			// Every namespace comes with a ServiceAccount and a ConfigMap of Kubernetes' own.
			own := strings.HasSuffix(name, "/default") || strings.HasSuffix(name, "/kube-root-ca.crt")
			assert.True(t, old || own || kept[name], "%s is left and not named", name)
		}
		assert.True(t, kept["Namespace flyte"])
		assert.True(t, kept["Namespace flytesnacks-production"])
		assert.True(t, kept["Secret flyte/flyte-backend-flyte-binary-webhook-secret"])

		report, err = production().Uninstall(t.Context(), w.env)
		require.NoError(t, err, "uninstalling again")
		assert.NotNil(t, report)
		w.install(t, production())
	})
}

func TestACRDOfTheReleaseOutlivesIt(t *testing.T) {
	w := newWorld(t)
	d := production().WithValuesYAML("configuration: {propeller: {createCRDs: false}}")
	w.install(t, d)
	report, err := d.Uninstall(t.Context(), w.env)
	require.NoError(t, err)
	w.get(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "flyteworkflows.flyte.lyft.com")
	var kept []string
	for _, k := range report.Kept {
		kept = append(kept, k.Object.String())
	}
	assert.Contains(t, kept, "CustomResourceDefinition flyteworkflows.flyte.lyft.com in cluster main")
	w.install(t, d)
}

func TestWhatIsNoLongerWantedIsTakenAway(t *testing.T) {
	w := newWorld(t)
	w.install(t, production())
	w.create(t, map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": metadata("flyte", "rds"), "data": map[string]any{"password": "eA=="}})
	d := production().WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretInCluster("rds", "password")))
	plan, err := d.Plan(t.Context(), w.env)
	require.NoError(t, err)
	planewright.AssertTouchesOnly(t, plan, "flyte/ml/release", "flyte/ml/database-secret/pruned")
	w.install(t, d)
	_, err = w.cluster.Objects.Get(t.Context(), kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "flyte", Name: "flyte-backend-database"})
	require.ErrorIs(t, err, planewright.ErrNotFound)
	plan, err = d.Plan(t.Context(), w.env)
	require.NoError(t, err)
	planewright.AssertNoChanges(t, plan)
}

func TestWhatIsNoLongerOursIsNotPruned(t *testing.T) {
	w := newWorld(t)
	w.install(t, production())
	secret := w.get(t, "v1", "Secret", "flyte", "flyte-backend-database")
	secret.SetLabels(map[string]string{"app.kubernetes.io/managed-by": "somebody"})
	_, err := w.cluster.Objects.Update(t.Context(), secret)
	require.NoError(t, err)
	d := production().WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithTLS(flyte.TLSDisable))
	w.install(t, d)
	w.get(t, "v1", "Secret", "flyte", "flyte-backend-database")
}

func TestVerifyTellsWhatDoesNotWork(t *testing.T) {
	for name, c := range map[string]struct {
		options []kubefake.ClusterOption
		want    []string
	}{
		"all is well": {nil, []string{"info health", "unprobed webhook-missing"}},
		"a Flyte that says its version": {[]kubefake.ClusterOption{kubefake.WithHealth(flyteGateway("v1.16.8"))},
			[]string{"info health", "warning webhook-missing"}},
		"no containers run": {[]kubefake.ClusterOption{kubefake.WithoutContainers()},
			[]string{"unprobed health", "unprobed webhook-missing"}},
		"an unhealthy Flyte": {[]kubefake.ClusterOption{kubefake.WithHealth(http.NotFoundHandler())},
			[]string{"error health", "unprobed webhook-missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.options...)
			w.install(t, production())
			v, err := production().Verify(t.Context(), w.env)
			require.NoError(t, err)
			var found []string
			for _, f := range v.Findings {
				if f.Code != flyte.CodeChartUnpinned {
					found = append(found, string(f.Severity)+" "+f.Code)
				}
			}
			assert.Equal(t, c.want, found, "%s", v)
		})
	}
}

func TestVerifyOfWhatIsNotThere(t *testing.T) {
	w := newWorld(t)
	v, err := production().Verify(t.Context(), w.env)
	require.NoError(t, err)
	assert.False(t, v.OK())

	w.install(t, production())
	require.NoError(t, w.cluster.Objects.Delete(t.Context(), kube.Ref{APIVersion: "v1", Kind: "Service", Namespace: "flyte", Name: "flyte-backend-flyte-binary-http"}, kube.DeleteOptions{}))
	v, err = production().Verify(t.Context(), w.env)
	require.NoError(t, err)
	assert.False(t, v.OK())
	assert.Contains(t, codes(v.Findings), flyte.CodeService)
	assert.Contains(t, codes(v.Findings), planewright.CodeDrift)
	w.install(t, production())
}

func TestPodsThatCannotPullAreTheReasonOfATimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, kubefake.WithPullFailure("*flyteorg/flyte:*"))
		_, err := production().Install(t.Context(), w.env, planewright.WithStepTimeout(time.Minute))
		require.ErrorIs(t, err, planewright.ErrTimeout)
		require.ErrorContains(t, err, "registry.example.com/flyteorg/flyte:v1.16.8")
		require.ErrorContains(t, err, "pull")

		v, err := production().Verify(t.Context(), w.env)
		require.NoError(t, err)
		assert.Contains(t, v.String(), "the component flyte-binary is not ready")

		// Nothing is left to write, and yet it does not run: the next install waits for it too.
		plan, err := production().Plan(t.Context(), w.env)
		require.NoError(t, err)
		planewright.AssertNoChanges(t, plan)
		release, _ := plan.Step("flyte/ml/release")
		assert.Equal(t, "0 of the 1 replicas of Deployment flyte-backend-flyte-binary are available", release.Change.Pending)
		report, err := production().Install(t.Context(), w.env, planewright.WithStepTimeout(time.Minute))
		require.ErrorIs(t, err, planewright.ErrTimeout)
		require.ErrorContains(t, err, "registry.example.com/flyteorg/flyte:v1.16.8")
		assert.Empty(t, report.Changed())
	})
}

func TestASpecCanBeSharedAndVaried(t *testing.T) {
	base := production().WithDomains("development").WithProjects(flyte.NewProject("a")).WithPullSecrets("one").
		WithResourceTemplate("010.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n").WithTemplateVariable("x", "1").
		WithDomainIdentity("development", flyte.AWSRole("arn:aws:iam::123456789012:role/dev"))
	text := base.String()
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			d := base.WithDomains("production").WithProjects(flyte.NewProject("b")).WithPullSecrets("two").
				WithResourceTemplate("011.yaml", "").WithTemplateVariable("y", "1").WithValuesYAML("a: 1").
				WithDomainIdentity("production", flyte.Identity{}).WithNamespace("other")
			_ = d.Validate()
		})
	}
	wait.Wait()
	assert.Equal(t, text, base.String())
	assert.Equal(t, []string{"development"}, base.Domains())
	require.NoError(t, base.Validate())
}

// flyteGateway answers as Flyte does.
func flyteGateway(version string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthcheck", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /api/v1/version", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"control_plane_version":{"Build":"0","Version":"` + version + `","BuildTime":""}}`))
	})
	return mux
}
