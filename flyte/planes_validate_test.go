package flyte_test

import (
	"strings"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud/iam"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const certificate = "arn:aws:acm:us-east-1:123456789012:certificate/abc"

// controlPlane is a control plane that data planes reach.
func controlPlane() flyte.ControlPlane {
	return flyte.NewControlPlane("control").WithHost("flyte.acme.example").WithIngress(flyte.ALB(certificate))
}

// planes is a control plane without data planes, to add to.
func planes() flyte.Deployment {
	return flyte.NewDeployment("ml", flyte.V1_16_8).
		WithStorage(flyte.S3("acme-flyte", "us-east-1")).
		WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("hunter2"))).
		WithProjects(flyte.NewProject("team1")).
		WithControlPlane(controlPlane())
}

// two are the data planes of most tests, with their labels.
func two() flyte.Deployment {
	return planes().
		WithDataplanes(flyte.NewDataplane("dp-1", "one"), flyte.NewDataplane("dp-2", "two")).
		WithLabelMap(labels())
}

func labels() flyte.LabelMap {
	return flyte.NewLabelMap().
		WithLabel("cpu", flyte.Weight("dp-1", 1)).
		WithLabel("gpu", flyte.Weight("dp-1", 30), flyte.Weight("dp-2", 70)).
		WithDefault("cpu")
}

func TestAGoodDeploymentInPlanesIsValid(t *testing.T) {
	assert.Empty(t, problems(t, two()))
	one := planes().WithDataplanes(flyte.NewDataplane("dp-1", "one"))
	assert.Empty(t, problems(t, one), "with one cluster to run on no label is needed")
	core := planes().WithControlPlane(controlPlane().WithExecution("controlplane"))
	assert.Empty(t, problems(t, core), "a control plane can run workflows itself")
	hidden := planes().WithControlPlane(flyte.NewControlPlane("control").WithAPI(flyte.APIAt("10.0.0.9:81").WithoutTLS())).
		WithDataplanes(flyte.NewDataplane("dp-1", "one"))
	assert.Empty(t, problems(t, hidden), "nothing has to be exposed")
}

// TestBadInputInPlanes has, for each thing that can be wrong, the one problem that is told of it.
func TestBadInputInPlanes(t *testing.T) {
	control := func(c flyte.ControlPlane) flyte.Deployment { return two().WithControlPlane(c) }
	data := func(p flyte.Dataplane) flyte.Deployment {
		return planes().WithDataplanes(p)
	}
	label := func(m flyte.LabelMap) flyte.Deployment { return two().WithLabelMap(m) }
	dp := flyte.NewDataplane("dp-1", "one")
	raw := func(clusters string) flyte.Deployment {
		return two().WithControlPlane(controlPlane().WithValuesYAML("configmap:\n  clusters: " + wrap(clusters)))
	}
	const arn = "arn:aws:iam::123456789012:role/flyte"
	provider := iam.NewOIDCProvider("aws", "123456789012", "https://oidc.eks.us-east-1.amazonaws.com/id/X")
	trust := iam.NewTrustPolicy().WithServiceAccounts(provider, iam.ServiceAccount("flyte", "x"))
	for name, c := range map[string]struct {
		deployment  flyte.Deployment
		path, value string
	}{
		"no control plane":                   {flyte.NewDeployment("ml", flyte.V1_16_8).WithStorage(flyte.S3("acme-flyte", "us-east-1")).WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("x"))), "controlplane", ""},
		"nothing that runs workflows":        {planes(), "dataplanes", ""},
		"a control plane without a cluster":  {control(flyte.NewControlPlane("").WithHost("flyte.acme.example").WithIngress(flyte.ALB(certificate))), "controlplane.cluster", ""},
		"a host with a scheme":               {control(controlPlane().WithHost("https://flyte.acme.example")), "controlplane.host", "https://flyte.acme.example"},
		"a host with a port":                 {control(controlPlane().WithHost("flyte.acme.example:443")), "controlplane.host", "flyte.acme.example:443"},
		"a host that is an address":          {control(controlPlane().WithHost("10.0.0.1")), "controlplane.host", "10.0.0.1"},
		"the chart's own host":               {control(controlPlane().WithHost("flyte.mydomain.com")), "controlplane.host", "flyte.mydomain.com"},
		"a host that leads nowhere":          {control(flyte.NewControlPlane("control").WithHost("flyte.acme.example")), "controlplane.ingress", ""},
		"an ingress without a host":          {control(flyte.NewControlPlane("control").WithIngress(flyte.ALB(certificate)).WithAPI(flyte.APIAt("flyte:81"))), "controlplane.host", ""},
		"a certificate that is none":         {control(controlPlane().WithIngress(flyte.ALB("abc"))), "controlplane.ingress.certificate", "abc"},
		"a certificate's placeholder":        {control(controlPlane().WithIngress(flyte.ALB("<CERTIFICATE_ARN>"))), "controlplane.ingress.certificate", "<CERTIFICATE_ARN>"},
		"NGINX without TLS":                  {control(controlPlane().WithIngress(flyte.NGINX(""))), "controlplane.ingress.tlsSecret", ""},
		"NGINX to the internet":              {control(controlPlane().WithIngress(flyte.NGINX("tls").InternetFacing())), "controlplane.ingress.internetFacing", ""},
		"an ingress class":                   {control(controlPlane().WithIngress(flyte.ALB(certificate).WithClass("A B"))), "controlplane.ingress.class", "A B"},
		"an ingress annotation":              {control(controlPlane().WithIngress(flyte.ALB(certificate).WithAnnotation("a b", "c"))), "controlplane.ingress.annotations", "a b"},
		"an API with a scheme":               {control(controlPlane().WithAPI(flyte.APIAt("https://flyte:443"))), "controlplane.api.address", "https://flyte:443"},
		"an API without a port":              {control(controlPlane().WithAPI(flyte.APIAt("flyte"))), "controlplane.api.address", "flyte"},
		"a catalog without a port":           {control(controlPlane().WithCatalog(flyte.CatalogAt("datacatalog"))), "controlplane.catalog.address", "datacatalog"},
		"an empty API":                       {control(controlPlane().WithAPI(flyte.APIAt(""))), "controlplane.api.address", ""},
		"an empty catalog":                   {control(controlPlane().WithCatalog(flyte.CatalogAt(""))), "controlplane.catalog.address", ""},
		"TLS to a balanced catalog":          {control(controlPlane().WithCatalog(flyte.InternalLoadBalancer().WithTLS())), "controlplane.catalog.tls", ""},
		"a catalog's annotation":             {control(controlPlane().WithCatalog(flyte.InternalLoadBalancer().WithAnnotation("b a d", "x"))), "controlplane.catalog.annotations", "b a d"},
		"an empty endpoint":                  {data(dp.WithEndpoint(flyte.EndpointAt(""))), "dataplanes[0].endpoint.url", ""},
		"an endpoint with an empty query":    {data(dp.WithEndpoint(flyte.EndpointAt("https://one.example?"))), "dataplanes[0].endpoint.url", "https://one.example?"},
		"an endpoint with a bare colon":      {data(dp.WithEndpoint(flyte.EndpointAt("https://one.example:"))), "dataplanes[0].endpoint.url", "https://one.example:"},
		"a workflow without a domain":        {label(labels().WithWorkflow("team1", "", "train.main", "gpu")), "labels.bindings[0]", "team1/train.main: gpu"},
		"a workflow without a name":          {label(labels().WithWorkflow("team1", "staging", "", "gpu")), "labels.bindings[0]", "team1/staging: gpu"},
		"a project without a domain":         {label(labels().WithProject("team1", "", "gpu")), "labels.bindings[0]", "team1: gpu"},
		"a workflow with a space":            {label(labels().WithWorkflow("team1", "staging", "a b", "gpu")), "labels.bindings[0].workflow", "a b"},
		"raw clusters that are no map":       {two().WithControlPlane(controlPlane().WithValuesYAML("configmap: {clusters: 7}")), "controlplane.values.configmap.clusters", "7"},
		"raw clusterConfigs that is no list": {raw("{clusterConfigs: 7}"), "controlplane.values.configmap.clusters.clusterConfigs", "7"},
		"a title that is no text":            {two().WithProjects(flyte.NewProject("team2").WithTitle("\xffa")), "projects[1].title", "\uFFFDa"},
		"a description with NUL":             {two().WithProjects(flyte.NewProject("team2").WithDescription("a\x00")), "projects[1].description", "a"},
		"a long release":                     {control(controlPlane().WithRelease(strings.Repeat("a", 54))), "controlplane.release", strings.Repeat("a", 54)},
		"pods of a data plane":               {control(controlPlane().WithPods(flyte.FlytePropeller, flyte.NewPods())), "controlplane.pods.flytepropeller", "flytepropeller"},
		"two pods of the scheduler":          {control(controlPlane().WithPods(flyte.FlyteScheduler, flyte.NewPods().WithReplicas(2))), "controlplane.pods.flytescheduler.replicas", "2"},
		"tolerations of syncresources":       {control(controlPlane().WithPods(flyte.SyncResources, flyte.NewPods().WithPlacement(flyte.NewPlacement().WithTolerations(flyte.Toleration{Operator: "Exists"})))), "controlplane.pods.syncresources.placement.tolerations", ""},
		"a request over its limit":           {control(controlPlane().WithPods(flyte.FlyteAdmin, flyte.NewPods().WithResources(flyte.Resources{CPU: "2"}, flyte.Resources{CPU: "1"}))), "controlplane.pods.flyteadmin.resources.requests.cpu", "2"},
		"trust over a given role":            {control(controlPlane().WithIdentity(flyte.AWSRole(arn)).WithTrust(trust)), "controlplane.trust", "AWS role " + arn},
		"a role of another partition":        {control(controlPlane().WithIdentity(flyte.AWSRole("arn:aws-us-gov:iam::123456789012:role/flyte"))), "controlplane.identity", "arn:aws-us-gov:iam::123456789012:role/flyte"},
		"the control plane's name is taken":  {control(controlPlane().WithExecution("dp_1")), "dataplanes[0].name", "dp-1"},
		"data planes that nobody reaches":    {two().WithControlPlane(flyte.NewControlPlane("control")), "controlplane.host", ""},
		"a data plane without a cluster":     {data(flyte.NewDataplane("dp-1", "")), "dataplanes[0].cluster", ""},
		"the control plane's cluster":        {data(flyte.NewDataplane("dp-1", "control")), "dataplanes[0].cluster", "control"},
		"a name with a space":                {data(flyte.NewDataplane("dp 1", "one")), "dataplanes[0].name", "dp 1"},
		"a name that begins with a dot":      {data(flyte.NewDataplane(".dp", "one")), "dataplanes[0].name", ".dp"},
		"a long name":                        {data(flyte.NewDataplane(strings.Repeat("d", 64), "one")), "dataplanes[0].name", strings.Repeat("d", 64)},
		"two data planes with one name":      {two().WithDataplanes(flyte.NewDataplane("dp-1", "three")), "dataplanes[2].name", "dp-1"},
		"two data planes with one cluster":   {two().WithDataplanes(flyte.NewDataplane("dp-3", "one")), "dataplanes[2].cluster", "one"},
		"names that differ in case":          {two().WithDataplanes(flyte.NewDataplane("DP-1", "three")), "dataplanes[2].name", "DP-1"},
		"names that differ in - _ .":         {two().WithDataplanes(flyte.NewDataplane("dp.1", "three")), "dataplanes[2].name", "dp.1"},
		"an endpoint without a scheme":       {data(dp.WithEndpoint(flyte.EndpointAt("one.example"))), "dataplanes[0].endpoint.url", "one.example"},
		"an endpoint with http":              {data(dp.WithEndpoint(flyte.EndpointAt("http://one.example"))), "dataplanes[0].endpoint.url", "http://one.example"},
		"an endpoint with a path":            {data(dp.WithEndpoint(flyte.EndpointAt("https://one.example/api"))), "dataplanes[0].endpoint.url", "https://one.example/api"},
		"an authority that is not PEM":       {data(dp.WithEndpoint(flyte.EndpointAt("https://one.example").WithCA("LS0tLS1CRUdJTg=="))), "dataplanes[0].endpoint.ca", ""},
		"a negative token generation":        {data(dp.WithTokenGeneration(-1)), "dataplanes[0].tokenGeneration", "-1"},
		"pods of a control plane":            {data(dp.WithPods(flyte.FlyteAdmin, flyte.NewPods())), "dataplanes[0].pods.flyteadmin", "flyteadmin"},
		"no data plane takes executions":     {data(dp.WithoutNewExecutions()), "dataplanes", ""},
		"a label with a capital":             {label(labels().WithLabel("Team1", flyte.Weight("dp-1", 1))), "labels.Team1", "Team1"},
		"a label with a space":               {label(labels().WithLabel("a b", flyte.Weight("dp-1", 1))), "labels.a b", "a b"},
		"an unknown cluster":                 {label(labels().WithLabel("x", flyte.Weight("dp-3", 1))), "labels.x[0].cluster", "dp-3"},
		"a cluster that takes nothing new":   {two().WithDataplanes(flyte.NewDataplane("dp-2", "two").WithoutNewExecutions()), "labels.gpu[1].cluster", "dp-2"},
		"a cluster named twice":              {label(labels().WithLabel("x", flyte.Weight("dp-1", 1), flyte.Weight("dp-1", 1))), "labels.x[1].cluster", "dp-1"},
		"weights that are all zero":          {label(labels().WithLabel("x", flyte.Weight("dp-1", 0), flyte.Weight("dp-2", 0))), "labels.x", ""},
		"a negative weight":                  {label(labels().WithLabel("x", flyte.Weight("dp-1", -1), flyte.Weight("dp-2", 2))), "labels.x[0].weight", "-1"},
		"no default":                         {label(labels().WithDefault("")), "labels.default", ""},
		"no labels at all":                   {label(flyte.NewLabelMap()), "labels.default", ""},
		"a default that is no label":         {label(labels().WithDefault("tpu")), "labels.default", "tpu"},
		"a binding to an unknown label":      {label(labels().WithProject("team1", "staging", "tpu")), "labels.bindings[0].label", "tpu"},
		"a binding of an unknown project":    {label(labels().WithProject("team2", "staging", "gpu")), "labels.bindings[0].project", "team2"},
		"a binding of an unknown domain":     {label(labels().WithProject("team1", "qa", "gpu")), "labels.bindings[0].domain", "qa"},
		"two bindings of the same":           {label(labels().WithProject("team1", "staging", "gpu").WithProject("team1", "staging", "cpu")), "labels.bindings[1]", "team1/staging"},
		"labels with one cluster":            {planes().WithControlPlane(controlPlane().WithExecution("controlplane")).WithLabelMap(labels()), "labels", ""},
		"a namespace's template":             {two().WithNamespaceMapping("{{ org }}-{{ domain }}"), "namespaceMapping", "{{ org }}-{{ domain }}"},
		"a namespace for all":                {two().WithNamespaceMapping("flyte-jobs"), "namespaceMapping", "flyte-jobs"},
		"a release for all":                  {two().WithRelease("flyte"), "release", ""},
		"an identity for all":                {two().WithIdentity(flyte.AWSRole(arn)), "identity", ""},
		"replicas for all":                   {two().WithReplicas(2), "replicas", ""},
		"a value that the chart fails on":    {two().WithValues(kube.Values{}.Set("flyteadmin.serviceAccount.createClusterRole", false)), "controlplane.values.flyteadmin.serviceAccount.createClusterRole", ""},
		"a misplaced enabled":                {raw("clusterConfigs: [{name: dp1, endpoint: 'https://one.example', auth: {enabled: true, tokenPath: /t, certPath: /c}}]"), "controlplane.values.configmap.clusters.clusterConfigs[0].auth.enabled", "true"},
		"a cluster that is not enabled":      {raw("clusterConfigs: [{name: dp1, endpoint: 'https://one.example'}]"), "controlplane.values.configmap.clusters.clusterConfigs[0].enabled", ""},
		"the auth type of old guides":        {raw("clusterConfigs: [{name: dp1, endpoint: 'https://one.example', enabled: true, auth: {type: file_path}}]"), "controlplane.values.configmap.clusters.clusterConfigs[0].auth.type", "file_path"},
		"one cluster twice":                  {raw("{clusterConfigs: [{name: dp1, endpoint: 'https://a.example', enabled: true}, {name: dp1, endpoint: 'https://b.example', enabled: true}], labelClusterMap: {gpu: null, cpu: [{id: dp1, weight: 1}]}}"), "controlplane.values.configmap.clusters.clusterConfigs[1].name", "dp1"},
		"an own cluster with an endpoint":    {raw("{clusterConfigs: [{name: dp1, endpoint: 'https://a.example', enabled: true, inCluster: true}], labelClusterMap: {gpu: null, cpu: [{id: dp1, weight: 1}]}}"), "controlplane.values.configmap.clusters.clusterConfigs[0].inCluster", "true"},
		"raw weights beyond 1":               {raw("labelClusterMap: {gpu: [{id: dp-1, weight: 30}, {id: dp-2, weight: 70}]}"), "controlplane.values.configmap.clusters.labelClusterMap.gpu[0].weight", "30"},
		"raw weights that do not add up":     {raw("labelClusterMap: {gpu: [{id: dp-1, weight: 0.5}, {id: dp-2, weight: 0.2}]}"), "controlplane.values.configmap.clusters.labelClusterMap.gpu", "0.7"},
		"a raw label for an unknown cluster": {raw("labelClusterMap: {gpu: [{id: dp-9, weight: 1}]}"), "controlplane.values.configmap.clusters.labelClusterMap.gpu[0].id", "dp-9"},
		"a raw default that is no label":     {raw("defaultExecutionLabel: tpu"), "controlplane.values.configmap.clusters.defaultExecutionLabel", "tpu"},
		"a storage that the chart skips":     {two().WithValuesYAML("storage: {type: minio}"), "controlplane.values.storage.type", "minio"},
		"volumes without the credentials":    {control(controlPlane().WithValuesYAML("flyteadmin: {additionalVolumes: [{name: idp, configMap: {name: idp}}]}")), "controlplane.values.flyteadmin.additionalVolumes", ""},
		"an authority beside a Secret":       {two().WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithTLS(flyte.TLSVerifyFull).WithRootCA(string(authority(t))).WithPassword(planewright.SecretInCluster("db", "password"))), "database.rootCA", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := problems(t, c.deployment)
			if assert.NotEmpty(t, got) {
				assert.Equal(t, c.path, got[0].Path)
				assert.Equal(t, c.value, got[0].Value)
				assert.NotEmpty(t, got[0].Rule)
				assert.NotEmpty(t, got[0].Fix)
			}
		})
	}
}

func TestASingleClusterHasNoPlanes(t *testing.T) {
	got := problems(t, production().WithDataplanes(flyte.NewDataplane("dp-1", "one")))
	assert.Equal(t, "controlplane", got[0].Path)
}

// authority is the certificate authority of a cluster in memory.
func authority(t *testing.T) []byte {
	t.Helper()
	fleet := kubefake.NewFleet("main")
	defer fleet.Close()
	endpoint, err := fleet.Cluster("main").Facts.Endpoint(t.Context())
	require.NoError(t, err)
	return endpoint.CA
}

// wrap makes a map in one line of a field.
func wrap(fields string) string {
	if strings.HasPrefix(fields, "{") {
		return fields
	}
	return "{" + fields + "}"
}

func TestRawWeightsThatNearlyAddUpAreAFinding(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	d := two().WithControlPlane(controlPlane().WithValuesYAML("configmap: {clusters: {labelClusterMap: {gpu: [{id: dp-1, weight: 0.33}, {id: dp-2, weight: 0.66}]}}}"))
	plan := w.plan(t, d)
	require.NoError(t, plan.Err())
	assert.Contains(t, codes(plan.Findings()), flyte.CodeWeights)
	w.install(t, d)
	weights, _ := w.clusters(t).Get("clusters.labelClusterMap.gpu")
	assert.Equal(t, []any{map[string]any{"id": "dp-1", "weight": 0.33}, map[string]any{"id": "dp-2", "weight": 0.66}}, weights, "as they are given")
}
