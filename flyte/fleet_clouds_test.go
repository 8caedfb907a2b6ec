package flyte_test

import (
	"fmt"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud/eks"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/planewright/planewright/cloud/gke/gkefake"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// inNoCloud are clusters in memory without a cloud.
func inNoCloud(tb testing.TB, names ...string) planesWorld {
	tb.Helper()
	w := planesWorld{admin: adminfake.New(), env: flyte.NewEnv().WithCharts(standIns())}
	w.fleet = kubefake.NewFleet().Add("control", kubefake.WithHealth(w.admin))
	tb.Cleanup(w.fleet.Close)
	for _, name := range names {
		w.fleet.Add(name)
	}
	for _, name := range append([]string{"control"}, names...) {
		w.env = w.env.WithClusters(w.fleet.Cluster(name))
	}
	return w
}

// accountAnnotations are those of a ServiceAccount in namespace flyte.
func (w planesWorld) accountAnnotations(tb testing.TB, cluster, name string) map[string]string {
	tb.Helper()
	return w.object(tb, cluster, "v1", "ServiceAccount", "flyte", name).GetAnnotations()
}

func TestPlanesOnGoogleCloudUseWorkloadIdentity(t *testing.T) {
	w := inNoCloud(t, "one", "two")
	google := gkefake.New("acme-ml", "europe-west4", "control", "one", "two")
	google.PutBucket(gkefake.Bucket{Name: "acme-flyte"})
	for _, name := range []string{"control", "one", "two"} {
		w.env = w.env.WithCloud(name, google.Account().Cluster(name))
	}
	d := two().WithStorage(flyte.GCS("acme-flyte", "acme-ml")).
		WithControlPlane(controlPlane().WithIngress(flyte.NGINX("flyte-tls")))
	w.install(t, d)
	const suffix = "@acme-ml.iam.gserviceaccount.com"
	for _, account := range []string{"flyteadmin", "datacatalog"} {
		assert.Equal(t, "flyte-ml-controlplane"+suffix, w.accountAnnotations(t, "control", account)["iam.gke.io/gcp-service-account"])
	}
	assert.Equal(t, "flyte-ml-dataplane"+suffix, w.accountAnnotations(t, "two", "flytepropeller")["iam.gke.io/gcp-service-account"])
	template, _, _ := unstructured.NestedString(w.object(t, "control", "v1", "ConfigMap", "flyte", "clusterresource-template").Object, "data", "002_serviceaccount.yaml")
	assert.Contains(t, template, "iam.gke.io/gcp-service-account: '{{ defaultIamServiceAccount }}'")
	mapping, _, _ := unstructured.NestedString(w.object(t, "control", "v1", "ConfigMap", "flyte", "flyte-admin-base-config").Object, "data", "namespace_config.yaml")
	assert.Contains(t, mapping, "{{ project }}-{{ domain }}", "projects do not share namespaces, as they do in the chart's overlay")
	assert.Empty(t, actions(w.plan(t, d)))
}

// Storage with keys is reached from anywhere: a data plane on each cloud.
func TestOneDeploymentHasDataplanesOnBothClouds(t *testing.T) {
	w := inNoCloud(t, "aws", "gcp")
	amazon := eksfake.New("123456789012", "us-east-1", "control", "aws")
	google := gkefake.New("acme-ml", "europe-west4", "gcp")
	w.env = w.env.WithCloud("control", amazon.Account().Cluster("control")).WithCloud("aws", amazon.Account().Cluster("aws")).
		WithCloud("gcp", google.Account().Cluster("gcp"))
	amazon.PutBucket(eksfake.Bucket{Name: "acme-flyte"})
	d := planes().WithStorage(flyte.S3("acme-flyte", "us-east-1").WithKeys("AKIAEXAMPLE", planewright.SecretValue("s3cr3t"))).
		WithDataplanes(flyte.NewDataplane("aws-1", "aws"), flyte.NewDataplane("gcp-1", "gcp")).
		WithLabelMap(flyte.NewLabelMap().WithLabel("any", flyte.Weight("aws-1", 1), flyte.Weight("gcp-1", 1)).WithDefault("any"))
	w.install(t, d)
	configs, _ := w.clusters(t).Get("clusters.clusterConfigs")
	text := fmt.Sprint(configs)
	assert.Contains(t, text, "https://AWS.gr7.us-east-1.eks.amazonaws.com")
	described, err := google.Account().Clusters.Describe(t.Context(), "gcp")
	require.NoError(t, err)
	assert.Contains(t, text, described.Endpoint)
	assert.Contains(t, w.secret(t, "gcp", "flyte-core-data-storage")["storage.yaml"], "secret_key: s3cr3t")
	assert.Empty(t, actions(w.plan(t, d)))
}

func TestARoleOfTheWrongCloudIsRefusedBeforeAnything(t *testing.T) {
	w := inNoCloud(t, "aws", "gcp")
	amazon := eksfake.New("123456789012", "us-east-1", "control", "aws")
	google := gkefake.New("acme-ml", "europe-west4", "gcp")
	w.env = w.env.WithCloud("control", amazon.Account().Cluster("control")).WithCloud("aws", amazon.Account().Cluster("aws")).
		WithCloud("gcp", google.Account().Cluster("gcp"))
	d := planes().WithDataplanes(flyte.NewDataplane("aws-1", "aws"), flyte.NewDataplane("gcp-1", "gcp").WithIdentity(flyte.NewIdentity("flyte-data"))).
		WithLabelMap(flyte.NewLabelMap().WithLabel("any", flyte.Weight("aws-1", 1), flyte.Weight("gcp-1", 1)).WithDefault("any"))
	_, err := d.Plan(t.Context(), w.env)
	require.ErrorIs(t, err, planewright.ErrInvalid)
	require.ErrorContains(t, err, `dataplanes[1].identity`)
	require.ErrorContains(t, err, "gives no access to s3://acme-flyte")
}

// User code's ServiceAccounts look alike in every cluster, so that with two
// accounts IRSA has no role that fits both, and Pod Identity has.
func TestDataplanesInTwoAccountsNeedPodIdentity(t *testing.T) {
	world := func(options ...eks.Option) (planesWorld, *eksfake.Fake, *eksfake.Fake) {
		w := inNoCloud(t, "one", "two")
		first := eksfake.New("111111111111", "us-east-1", "control", "one")
		second := eksfake.New("222222222222", "us-east-1", "two")
		first.PutBucket(eksfake.Bucket{Name: "acme-flyte"})
		for _, name := range []string{"control", "one"} {
			w.env = w.env.WithCloud(name, first.Account(options...).Cluster(name))
		}
		w.env = w.env.WithCloud("two", second.Account(options...).Cluster("two"))
		return w, first, second
	}
	d := two()
	d = d.WithControlPlane(d.ControlPlane().WithIngress(flyte.ALB("arn:aws:acm:us-east-1:111111111111:certificate/abc")))
	w, _, _ := world()
	_, err := d.Plan(t.Context(), w.env)
	require.ErrorIs(t, err, planewright.ErrInvalid)
	require.ErrorContains(t, err, "userIdentity")
	require.ErrorContains(t, err, "EKS Pod Identity, which needs no annotation")

	w, first, second := world(eks.WithIdentityMode(eks.PodIdentity))
	w.install(t, d)
	assert.Empty(t, w.accountAnnotations(t, "two", "flytepropeller")["eks.amazonaws.com/role-arn"])
	assert.Equal(t, map[string]string{
		"flyte/flytepropeller": "arn:aws:iam::222222222222:role/flyte-ml-dataplane", "team1-development/default": "arn:aws:iam::222222222222:role/flyte-ml-dataplane",
		"team1-production/default": "arn:aws:iam::222222222222:role/flyte-ml-dataplane", "team1-staging/default": "arn:aws:iam::222222222222:role/flyte-ml-dataplane",
	}, second.Associations("two"))
	assert.Len(t, first.Associations("one"), 4)
	assert.Empty(t, actions(w.plan(t, d)))
}

func TestTheTrustBudgetIsReckonedInThePlan(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f"}
	w := newPlanesWorld(t, names...)
	d := planes().WithProjects(flyte.NewProject("team2"))
	m := flyte.NewLabelMap()
	for _, name := range names {
		d = d.WithDataplanes(flyte.NewDataplane("dp-"+name, name))
		m = m.WithLabel(name, flyte.Weight("dp-"+name, 1))
	}
	d = d.WithLabelMap(m.WithDefault("a"))
	plan := w.plan(t, d)
	err := plan.Err()
	require.ErrorIs(t, err, planewright.ErrBlocked)
	require.ErrorContains(t, err, "more than the 2048 that the account allows")
	assert.Contains(t, err.Error(), "Pod Identity")

	// By choice: any project's namespace of the domain.
	wide := flyte.NewIdentity("flyte-ml-dataplane").ForAnyProject()
	shared := flyte.NewIdentity("flyte-ml-dataplane")
	short := planes().WithUserIdentity(wide)
	for _, name := range names[:3] {
		short = short.WithDataplanes(flyte.NewDataplane("dp-"+name, name).WithIdentity(shared))
	}
	short = short.WithLabelMap(flyte.NewLabelMap().WithLabel("a", flyte.Weight("dp-a", 1)).WithDefault("a"))
	require.NoError(t, w.plan(t, short).Err())
}
