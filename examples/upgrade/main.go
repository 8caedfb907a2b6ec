// Command upgrade brings Flyte in planes from v1.15.3 to v1.16.8: the plan shows
// what each object becomes, and says what the newer version changes, that the
// database should be saved first, and what cannot be changed at all. Data planes
// are changed before the control plane, and executions stay. With "-rollback" it
// goes the way back, which is an install of the version before.
//
// Without flags it runs on clusters in memory, where v1.15.3 is installed first. With
// "-kubeconfig" it runs on real clusters that have it, or, with "-from-scratch", that
// have none. The database password comes from the environment variable FLYTE_DB. See -help.
package main

import (
	"flag"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/examples/internal/program"
	"github.com/planewright/planewright/flyte"
	"k8s.io/apimachinery/pkg/runtime"
)

func main() { program.Main(new(demo).example()) }

// demo is one run of the program.
type demo struct {
	rollback bool
}

func (d *demo) example() program.Example {
	return program.Example{
		Name:     "upgrade",
		About:    "upgrades Flyte from v1.15.3 to v1.16.8",
		Clusters: []string{"control", "dp-1"},
		OnFakes:  []runtime.Object{program.Webhook("flyte-pod-webhook")},
		Flags: func(set *flag.FlagSet) {
			set.BoolVar(&d.rollback, "rollback", false, "go back from v1.16.8 to v1.15.3")
		},
		Before: func(world program.World) planewright.Stack {
			before, _ := d.versions()
			return deployment(world, before)
		},
		Stack: func(world program.World) planewright.Stack {
			_, after := d.versions()
			return deployment(world, after)
		},
	}
}

// versions are that which is there and that which is to come.
func (d *demo) versions() (before, after flyte.Version) {
	if d.rollback {
		return flyte.V1_16_8, flyte.V1_15_3
	}
	return flyte.V1_15_3, flyte.V1_16_8
}

// deployment is what should exist, in a version. An upgrade changes nothing else in it.
func deployment(world program.World, version flyte.Version) planewright.Stack {
	env := flyte.NewEnv(world.Clusters...).WithCharts(world.Charts).WithoutAdmin()
	return flyte.NewDeployment("ml", version).
		WithStorage(flyte.S3("acme-flyte", "us-east-1")).
		WithDatabase(flyte.Postgres("flyte-db.acme.example", "flyteadmin").WithPassword(world.Secret("FLYTE_DB"))).
		WithControlPlane(flyte.NewControlPlane("control").
			WithHost("flyte.acme.example").
			WithIngress(flyte.NGINX("flyte-tls"))).
		WithDataplanes(flyte.NewDataplane("dp-1", "dp-1")).
		On(env)
}
