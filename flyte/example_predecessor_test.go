package flyte_test

import (
	"context"
	"fmt"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/kube/kubefake"
)

// A Flyte on one cluster grows into planes: the plan shows each step of the move.
func ExampleDeployment_WithPredecessor() {
	ctx := context.Background()
	fleet := kubefake.NewFleet("main", "workers")
	defer fleet.Close()
	env := flyte.NewEnv(fleet.Cluster("main"), fleet.Cluster("workers")).WithCharts(standIns()).WithoutAdmin()
	storage := flyte.S3("acme-flyte", "us-east-1")
	database := flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("made-up"))

	single := flyte.NewSingleCluster("ml", flyte.V1_16_8, "main").WithStorage(storage).WithDatabase(database)
	if _, err := single.Install(ctx, env); err != nil {
		fmt.Println(err)
		return
	}
	planes := flyte.NewDeployment("ml", flyte.V1_16_8).WithStorage(storage).WithDatabase(database).
		WithControlPlane(flyte.NewControlPlane("main").WithHost("flyte.acme.example").WithIngress(flyte.NGINX("flyte-tls"))).
		WithDataplanes(flyte.NewDataplane("dp-1", "workers"))

	plan, err := planes.WithPredecessor(single).Plan(ctx, env)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, id := range []string{"dataplanes/dp-1/release", "predecessor/stop", "controlplane/release", "predecessor/uninstall", "controlplane/host"} {
		step, _ := plan.Step("flyte/ml/" + id)
		fmt.Printf("%-24s %s\n", id, step.Change.Action)
	}
	// Output:
	// dataplanes/dp-1/release  create
	// predecessor/stop         update
	// controlplane/release     create
	// predecessor/uninstall    delete
	// controlplane/host        unknown
}
