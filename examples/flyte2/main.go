// Command flyte2 installs Flyte 2 in one cluster. With "-moving" it tells first
// what a deployment of Flyte 1 would need to become one of Flyte 2.
//
// Without flags it runs on a cluster in memory. With "-kubeconfig" it runs on a
// real one, where the database password comes from the environment variable
// FLYTE_DB. See -help.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/examples/internal/program"
	"github.com/planewright/planewright/flyte"
	"k8s.io/apimachinery/pkg/runtime"
)

func main() { program.Main((&demo{out: os.Stdout}).example()) }

// demo is one run of the program.
type demo struct {
	moving bool
	out    io.Writer
}

func (d *demo) example() program.Example {
	return program.Example{
		Name:     "flyte2",
		About:    "installs Flyte 2 in one cluster",
		Clusters: []string{"main"},
		OnFakes:  []runtime.Object{program.Webhook("flyte2-flyte-binary-webhook")},
		Flags: func(set *flag.FlagSet) {
			set.BoolVar(&d.moving, "moving", false, "tell first what a deployment of Flyte 1 would need to become this one")
		},
		Prepare: func(_ context.Context, world program.World) (program.World, error) {
			if d.moving {
				for _, need := range first(world.Secret("FLYTE_DB")).Moving(flyte.V2_0_42) {
					fmt.Fprintln(d.out, need)
				}
			}
			return world, nil
		},
		Stack: func(world program.World) planewright.Stack {
			return deployment(world.Secret("FLYTE_DB")).On(flyte.NewEnv(world.Clusters...).WithCharts(world.Charts))
		},
	}
}

// deployment is what should exist: Flyte 2 in a namespace, a database and a
// bucket of its own, beside a Flyte 1 if there is one. Nobody logs in to it: it
// gets no host before a proxy that does stands before it.
func deployment(password planewright.Secret) flyte.Deployment {
	return flyte.NewSingleCluster("ml2", flyte.V2_0_42, "main").
		WithNamespace("flyte2").
		WithRelease("flyte2").
		WithStorage(flyte.S3("acme-flyte2", "us-east-1").WithUserDataBucket("acme-flyte2-data")).
		WithDatabase(flyte.Postgres("flyte-db.acme.example", "flyte2").WithUser("flyte2").WithPassword(password)).
		WithIdentity(flyte.AWSRole("arn:aws:iam::123456789012:role/flyte2")).
		WithResources(flyte.Resources{CPU: "500m", Memory: "1Gi"}, flyte.Resources{Memory: "2Gi"})
}

// first is a deployment of Flyte 1 that its owner thinks of moving.
func first(password planewright.Secret) flyte.Deployment {
	return flyte.NewSingleCluster("ml", flyte.V1_16_8, "main").
		WithStorage(flyte.S3("acme-flyte", "us-east-1")).
		WithDatabase(flyte.Postgres("flyte-db.acme.example", "flyteadmin").WithPassword(password)).
		WithUserIdentity(flyte.AWSRole("arn:aws:iam::123456789012:role/flyte-user")).
		WithProjects(flyte.NewProject("team1")).
		WithValuesYAML("configuration: {propeller: {createCRDs: true}}")
}
