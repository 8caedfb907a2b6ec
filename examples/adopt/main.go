// Command adopt takes over a Flyte that somebody installed by hand after the
// deployment guide: it reads what is there into a deployment, plans with every
// change shown, and installs.
//
// Without flags it runs on clusters in memory, where such a Flyte is installed
// first. With "-kubeconfig" it runs on real clusters that have one, or, with
// "-from-scratch", that have none. The database password comes from the environment
// variable FLYTE_DB. See -help.
package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/examples/internal/program"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

func main() { program.Main(example()) }

func example() program.Example {
	var found flyte.Discovery
	env := func(world program.World) flyte.Env {
		return flyte.NewEnv(world.Clusters...).WithCharts(world.Charts).WithoutAdmin()
	}
	return program.Example{
		Name:     "adopt",
		About:    "takes over a Flyte that was installed by hand",
		Clusters: []string{"control", "dp-1"},
		OnFakes:  []runtime.Object{program.Webhook("flyte-pod-webhook")},
		ByHand:   byHand,
		Prepare: func(ctx context.Context, world program.World) (program.World, error) {
			var err error
			found, err = flyte.Discover(ctx, env(world), "ml", "control")
			return world, err
		},
		Stack: func(world program.World) planewright.Stack {
			// The password was among Helm's values; it moves to a Secret of the deployment's.
			return found.Deployment.
				WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(world.Secret("FLYTE_DB"))).
				WithAdoption().
				On(env(world))
		},
	}
}

// byHand does what the guide says.
func byHand(ctx context.Context, world program.World) error {
	control, data := world.Clusters[0], world.Clusters[1]
	chart, err := world.Charts.Chart(ctx, kube.ChartRef{Name: "flyte-core", Version: "v1.16.8"})
	if err != nil {
		return err
	}
	settings := `
userSettings: {accountNumber: "123456789012", accountRegion: us-east-1, dbPassword: made-up, rdsHost: db.acme.internal,
  certificateArn: "arn:aws:acm:us-east-1:123456789012:certificate/flyte", bucketName: acme-flyte, rawDataBucketName: acme-flyte, logGroup: flyte}
common: {ingress: {host: flyte.acme.example}}
`
	endpoint, err := data.Facts.Endpoint(ctx)
	if err != nil {
		return err
	}
	clusters := fmt.Sprintf(`
configmap:
  clusters:
    labelClusterMap: {team1: [{id: dataplane_1, weight: 1}]}
    defaultExecutionLabel: team1
    clusterConfigs: [{name: dataplane_1, endpoint: %q, enabled: true, auth: {tokenPath: /var/run/credentials/dataplane_1_token, certPath: /var/run/credentials/dataplane_1_cacert}}]
flyteadmin:
  additionalVolumes: [{name: cluster-credentials, secret: {secretName: cluster-credentials}}]
  additionalVolumeMounts: [{name: cluster-credentials, mountPath: /var/run/credentials}]
`, endpoint.URL)
	token := base64.StdEncoding.EncodeToString([]byte("copied by hand"))
	return errors.Join(
		apply(ctx, control, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "flyte"}}),
		apply(ctx, data, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "flyte"}}),
		apply(ctx, control, map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "cluster-credentials", "namespace": "flyte"},
			"data": map[string]any{"dataplane_1_token": token, "dataplane_1_cacert": token}}),
		install(ctx, data, "flyte-core-data", chart, []string{"values-eks.yaml", "values-dataplane.yaml"}, settings, "common: {ingress: {enabled: false}, databaseSecret: {name: \"\", secretManifest: null}}"),
		install(ctx, control, "flyte", chart, []string{"values-eks.yaml", "values-controlplane.yaml"}, settings, clusters),
	)
}

// apply is "kubectl apply --server-side".
func apply(ctx context.Context, cluster kube.Cluster, object map[string]any) error {
	_, err := cluster.Objects.Apply(ctx, &unstructured.Unstructured{Object: object}, kube.ApplyOptions{FieldManager: "kubectl"})
	return err
}

// install is "helm install" with values files of the chart and some of one's own.
func install(ctx context.Context, cluster kube.Cluster, name string, chart *kube.Chart, files []string, texts ...string) error {
	values := kube.Values{}
	var layers []string
	for _, file := range files {
		data, ok := chart.File(file)
		if !ok {
			return fmt.Errorf("the chart has no file %s", file)
		}
		layers = append(layers, string(data))
	}
	for _, text := range append(layers, texts...) {
		layer, err := kube.ParseValues([]byte(text))
		if err != nil {
			return err
		}
		values = values.Merge(layer)
	}
	_, err := cluster.Releases.Apply(ctx, kube.Release{Name: name, Namespace: "flyte", Chart: chart, Values: values})
	return err
}
