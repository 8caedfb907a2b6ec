// Command rotate gives flyteadmin a new token for a data plane: a second token
// Secret there, its token into the control plane's credentials, a restart of
// what reads them, and only then the old Secret's end, with which the old token ends.
//
// Without flags it runs on clusters in memory, where a Flyte with the first
// token is installed first. With "-kubeconfig" it runs on real clusters that
// have it; "-generation" is then one more than the deployment's. See -help.
package main

import (
	"flag"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/examples/internal/program"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/kube/kubefake"
	"k8s.io/apimachinery/pkg/runtime"
)

func main() { program.Main(new(demo).example()) }

// demo is one run of the program.
type demo struct{ generation int }

func (d *demo) example() program.Example {
	return program.Example{
		Name:     "rotate",
		About:    "gives flyteadmin a new token for a data plane",
		Clusters: []string{"control", "dp-1", "dp-2"},
		OnFakes:  []runtime.Object{program.Webhook("flyte-pod-webhook")},
		Fakes:    func(string) []kubefake.ClusterOption { return nil },
		Flags: func(set *flag.FlagSet) {
			set.IntVar(&d.generation, "generation", 2, "which `token` the data plane dp-1 is to have")
		},
		Before: func(world program.World) planewright.Stack { return d.deployment(world, 1) },
		Stack:  func(world program.World) planewright.Stack { return d.deployment(world, d.generation) },
	}
}

// deployment is what should exist, with the given token of the first data plane.
func (d *demo) deployment(world program.World, generation int) planewright.Stack {
	return flyte.NewDeployment("ml", flyte.V1_16_8).
		WithStorage(flyte.S3("acme-flyte", "us-east-1")).
		WithDatabase(flyte.Postgres("flyte-db.acme.example", "flyteadmin").WithPassword(world.Secret("FLYTE_DB"))).
		WithControlPlane(flyte.NewControlPlane("control").
			WithHost("flyte.acme.example").
			WithIngress(flyte.NGINX("flyte-tls"))).
		WithDataplanes(
			flyte.NewDataplane("dp-1", "dp-1").WithTokenGeneration(generation),
			flyte.NewDataplane("dp-2", "dp-2")).
		WithLabelMap(flyte.NewLabelMap().
			WithLabel("all", flyte.Weight("dp-1", 1), flyte.Weight("dp-2", 1)).
			WithDefault("all")).
		On(flyte.NewEnv(world.Clusters...).WithCharts(world.Charts).WithoutAdmin())
}
