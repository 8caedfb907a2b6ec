package flyte_test

import (
	"context"
	"fmt"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
)

// A data plane may be on a cluster that the same install makes: the cloud's
// steps are one stack, the deployment is another, and the handle on the
// cluster connects when it is there.
func Example_newCluster() {
	ctx := context.Background()
	aws := eksfake.New("123456789012", "us-east-1", "control", "dp-1") // in a program, the account is eks.Open(ctx, configuration)
	aws.PutBucket(eksfake.Bucket{Name: "acme-flyte"})
	fleet := kubefake.NewFleet("control", "dp-1", "dp-2")
	defer fleet.Close()
	account := aws.Account()

	cluster := account.Clusters.Provision("aws", cloud.NewCluster("dp-2").WithSubnets("subnet-0a", "subnet-0b"))
	where := account.Cluster("dp-2").MadeBy(cluster)
	handle := kube.Deferred("dp-2", func(ctx context.Context) (kube.Cluster, error) {
		if _, err := where.Access(ctx); err != nil {
			return kube.Cluster{}, err
		}
		return fleet.Cluster("dp-2"), nil // in a program: live.FromTokens("dp-2", access.Endpoint, access.CA, where.Token)
	})
	env := flyte.NewEnv(fleet.Cluster("control"), fleet.Cluster("dp-1"), handle).WithCharts(standIns()).WithoutAdmin().
		WithCloud("control", account.Cluster("control")).WithCloud("dp-1", account.Cluster("dp-1")).WithCloud("dp-2", where)

	deployment := flyte.NewDeployment("ml", flyte.V1_16_8).
		WithStorage(flyte.S3("acme-flyte", "us-east-1")).
		WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("made-up"))).
		WithProjects(flyte.NewProject("team1")).
		WithControlPlane(flyte.NewControlPlane("control").WithHost("flyte.acme.example").WithIngress(flyte.NGINX("flyte-tls"))).
		WithDataplanes(flyte.NewDataplane("dp-1", "dp-1"), flyte.NewDataplane("dp-2", "dp-2")).
		WithLabelMap(flyte.NewLabelMap().WithLabel("any", flyte.Weight("dp-1", 1), flyte.Weight("dp-2", 1)).WithDefault("any"))

	report, err := planewright.Install(ctx, planewright.NewStack("aws").WithSteps(cluster.Steps...), deployment.On(env))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, id := range []string{"aws/dp-2/cluster", "flyte/ml/dataplanes/dp-2/access"} {
		step, _ := report.Step(id)
		fmt.Println(id, step.Outcome)
	}
	// Output:
	// aws/dp-2/cluster done
	// flyte/ml/dataplanes/dp-2/access done
}
