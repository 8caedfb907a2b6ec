package flyte_test

import (
	"encoding/base64"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// byHand installs a control plane and a data plane as the guide has it done:
// releases of other names, one role for all, the password among the values,
// and a token that was copied into the credentials.
func (w planesWorld) byHand(t *testing.T) {
	t.Helper()
	chart, err := standIns().Chart(t.Context(), kube.ChartRef{Name: "flyte-core", Version: "v1.16.8"})
	require.NoError(t, err)
	file := func(name string) kube.Values {
		data, ok := chart.File(name)
		require.True(t, ok)
		values, err := kube.ParseValues(data)
		require.NoError(t, err)
		return values
	}
	settings, err := kube.ParseValues([]byte(`
userSettings: {accountNumber: "123456789012", accountRegion: us-east-1, certificateArn: "` + certificate + `", dbPassword: hunter2,
  rdsHost: db.acme.internal, bucketName: acme-flyte, rawDataBucketName: acme-flyte, logGroup: flyte}
common: {ingress: {host: flyte.acme.example}}
`))
	require.NoError(t, err)
	create := func(cluster string, obj map[string]any) {
		_, err := w.fleet.Cluster(cluster).Objects.Create(t.Context(), &unstructured.Unstructured{Object: obj})
		require.NoError(t, err)
	}
	for _, cluster := range []string{"control", "one"} {
		create(cluster, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "flyte"}})
	}
	apply := func(cluster, name string, layers ...kube.Values) {
		values := kube.Values{}
		for _, layer := range layers {
			values = values.Merge(layer)
		}
		_, err := w.fleet.Cluster(cluster).Releases.Apply(t.Context(), kube.Release{Name: name, Namespace: "flyte", Chart: chart, Values: values})
		require.NoError(t, err)
	}
	apply("one", "flyte-data", file("values-eks.yaml"), file("values-dataplane.yaml"), settings,
		kube.Values{"common": map[string]any{"ingress": map[string]any{"enabled": false}}})
	described, err := w.aws.Account().Clusters.Describe(t.Context(), "one")
	require.NoError(t, err)
	override, err := kube.ParseValues([]byte(`
configmap:
  clusters:
    labelClusterMap: {team1: [{id: dataplane_1, weight: 1}]}
    defaultExecutionLabel: team1
    clusterConfigs:
      - {name: dataplane_1, endpoint: "` + described.Endpoint + `:443", enabled: true,
         auth: {type: file_path, tokenPath: /var/run/credentials/dataplane_1_token, certPath: /var/run/credentials/dataplane_1_cacert}}
flyteadmin:
  additionalVolumes: [{name: cluster-credentials, secret: {secretName: cluster-credentials}}]
  additionalVolumeMounts: [{name: cluster-credentials, mountPath: /var/run/credentials}]
`))
	require.NoError(t, err)
	create("control", map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "cluster-credentials", "namespace": "flyte"},
		"data": map[string]any{"dataplane_1_token": base64.StdEncoding.EncodeToString([]byte("old")), "dataplane_1_cacert": base64.StdEncoding.EncodeToString([]byte("old"))}})
	apply("control", "flyte", file("values-eks.yaml"), file("values-controlplane.yaml"), settings, override)
	client := w.adminClient(t)
	require.NoError(t, client.RegisterProject(t.Context(), admin.Project{ID: "team1", Name: "Team one", Description: "Vision"}))
	require.NoError(t, client.PutAttributes(t.Context(), admin.ProjectDomainScope("team1", "development"), admin.ExecutionClusterLabel("team1")))
}

func TestAFlyteThatWasInstalledByHandIsReadAndAdopted(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	w.byHand(t)
	before := w.writes()
	found, err := flyte.Discover(t.Context(), w.env, "ml", "control")
	require.NoError(t, err)
	assert.Equal(t, before, w.writes(), "nothing is written")
	d := found.Deployment
	require.NoError(t, d.Validate())
	assert.Equal(t, `flyte deployment ml: Flyte v1.16.8 on cluster control
  control:  flyte/flyte in control, host flyte.acme.example
  data:     dataplane_1, flyte/flyte-data in one
  label:    team1 (execution): dataplane_1 100%
  storage:  s3://acme-flyte in us-east-1
  database: postgres://flyteadmin@db.acme.internal:5432/flyteadmin, TLS require, password from key pass.txt of Secret db-pass
  identity: user code: AWS role arn:aws:iam::123456789012:role/flyte-user-role
  domains:  development, staging and production
`, d.String())
	assert.Equal(t, "team1 (project and domain): dataplane_1 100%", d.Explain("team1", "development", "").String())
	var notes []string
	for _, f := range found.Findings {
		notes = append(notes, f.Cause)
	}
	assert.Equal(t, []string{
		"the resource templates ab_project_resource_quota.yaml are not taken over; use WithResourceTemplate and WithTemplateVariable, or they end",
		"Secret db-pass belongs to the release, which no longer has it once it is adopted: annotate it with helm.sh/resource-policy: keep, or use WithPassword",
	}, notes)

	refused := w.plan(t, d.WithAdoption())
	require.ErrorContains(t, refused.Err(), "the upgrade deletes it", "the Secret that is to be mounted is not lost")

	d = d.WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("hunter2"))).WithAdoption()
	plan := w.plan(t, d)
	require.NoError(t, plan.Err())
	goldenPlan(t, "adopt", plan.String())
	w.install(t, d)
	assert.Empty(t, actions(w.plan(t, d)))
	assert.NotEqual(t, "old", w.secret(t, "control", "cluster-credentials")["dataplane_1_token"])
}

func TestThereIsNothingToDiscover(t *testing.T) {
	w := newPlanesWorld(t, "one")
	_, err := flyte.Discover(t.Context(), w.env, "ml", "control")
	require.ErrorIs(t, err, planewright.ErrNotFound)
	_, err = flyte.Discover(t.Context(), w.env, "ml", "nowhere")
	require.ErrorIs(t, err, planewright.ErrInvalid)
}

// What leads to the host is read as it is, who makes its certificate and which
// load balancer it shares too: another one would be another address.
func TestTheIngressOfWhatIsThereIsRead(t *testing.T) {
	for name, ingress := range map[string]flyte.Ingress{
		"an ALB of a group":         flyte.ALB(certificate).InternetFacing().WithGroup("shared"),
		"NGINX and a ClusterIssuer": flyte.NGINX("flyte-tls").WithClass("nginx-internal").WithClusterIssuer("letsencrypt"),
		"NGINX and an Issuer":       flyte.NGINX("flyte-tls").WithIssuer("letsencrypt-production"),
		"Traefik":                   flyte.Traefik("flyte-tls"),
	} {
		t.Run(name, func(t *testing.T) {
			w := newPlanesWorld(t, "one", "two")
			w.install(t, two().WithControlPlane(controlPlane().WithIngress(ingress)))
			found, err := flyte.Discover(t.Context(), w.env, "ml", "control")
			require.NoError(t, err)
			assert.Equal(t, "flyte.acme.example", found.Deployment.Host())
			assert.Equal(t, ingress, found.Deployment.ControlPlane().Ingress())
		})
	}
}

func TestTheVersionOfWhatIsThereIsRead(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	w.env = w.env.WithCharts(everyVersion{})
	w.install(t, two().WithVersion(flyte.V1_15_3))
	found, err := flyte.Discover(t.Context(), w.env, "ml", "control")
	require.NoError(t, err)
	assert.Equal(t, "v1.15.3", found.Deployment.Version().Name())
	for _, f := range found.Findings {
		assert.NotContains(t, f.Cause, "that of an upgrade")
	}
}

// The secrets of a login cannot be read: what was found would turn it off, and
// that is told.
func TestALoginThatIsThereIsNotTurnedOffUnnoticed(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	w.env = w.env.WithoutAdmin()
	w.install(t, two().WithAuth(login("https://idp.acme.example")))
	found, err := flyte.Discover(t.Context(), w.env, "ml", "control")
	require.NoError(t, err)
	var told []planewright.Finding
	for _, f := range found.Findings {
		if f.Severity == planewright.SeverityError {
			told = append(told, f)
		}
	}
	require.Len(t, told, 1)
	assert.Equal(t, "people log in at https://idp.acme.example as 0oa1flyte, and the deployment that was read has no login: installing it would open Flyte to everybody", told[0].Cause)
	assert.Equal(t, `use WithAuth(flyte.OIDC("https://idp.acme.example", "0oa1flyte", …)) on it first`, told[0].Fix)
}
