// Command adddataplane adds a data plane to a Flyte that has one already: the
// plan touches the new cluster, the trust policy of the data planes' role, and
// what the control plane knows of its data planes, and nothing else.
//
// Without flags it runs on clusters and an AWS account in memory, where the
// smaller Flyte is installed first. With "-kubeconfig" it runs on real clusters
// that have it, and calls no cloud. See -help.
package main

import (
	"flag"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/planewright/planewright/examples/internal/program"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/planewright/planewright/kube/kubefake"
	"k8s.io/apimachinery/pkg/runtime"
)

func main() { program.Main(new(demo).example()) }

// demo is one run of the program.
type demo struct {
	account cloud.Account
	noAdmin bool
}

func (d *demo) example() program.Example {
	return program.Example{
		Name:     "adddataplane",
		About:    "adds a data plane to a Flyte that has one",
		Clusters: []string{"control", "dp-1", "dp-2"},
		OnFakes:  []runtime.Object{program.Webhook("flyte-pod-webhook")},
		Fakes: func(cluster string) []kubefake.ClusterOption {
			if cluster != "control" {
				return nil
			}
			return []kubefake.ClusterOption{kubefake.WithHealth(adminfake.New()), kubefake.WithLoadBalancers(20 * time.Millisecond)}
		},
		Flags: func(set *flag.FlagSet) {
			set.BoolVar(&d.noAdmin, "no-admin", false, "leave out what needs flyteadmin's API")
		},
		Before: func(world program.World) planewright.Stack { return small(world).On(d.env(world)) },
		Stack:  func(world program.World) planewright.Stack { return grown(world).On(d.env(world)) },
	}
}

func (d *demo) env(world program.World) flyte.Env {
	env := flyte.NewEnv(world.Clusters...).WithCharts(world.Charts)
	if d.noAdmin {
		env = env.WithoutAdmin()
	}
	if !world.Fakes {
		return env
	}
	if d.account.Provider == "" {
		aws := eksfake.New("123456789012", "us-east-1", "control", "dp-1", "dp-2")
		aws.PutBucket(eksfake.Bucket{Name: "acme-flyte"})
		d.account = aws.Account()
	}
	for _, name := range []string{"control", "dp-1", "dp-2"} {
		env = env.WithCloud(name, d.account.Cluster(name))
	}
	return env
}

// small is the Flyte that is there.
func small(world program.World) flyte.Deployment {
	return flyte.NewDeployment("ml", flyte.V1_16_8).
		WithStorage(flyte.S3("acme-flyte", "us-east-1")).
		WithDatabase(flyte.Postgres("flyte-db.acme.example", "flyteadmin").WithPassword(world.Secret("FLYTE_DB"))).
		WithProjects(flyte.NewProject("team1")).
		WithControlPlane(flyte.NewControlPlane("control").
			WithHost("flyte.acme.example").
			WithIngress(flyte.NGINX("flyte-tls"))).
		WithDataplanes(flyte.NewDataplane("dp-1", "dp-1")).
		WithLabelMap(flyte.NewLabelMap().
			WithLabel("cpu", flyte.Weight("dp-1", 1)).
			WithDefault("cpu"))
}

// grown is what it should become: a second data plane, and a label for it.
func grown(world program.World) flyte.Deployment {
	before := small(world)
	return before.
		WithDataplanes(flyte.NewDataplane("dp-2", "dp-2")).
		WithLabelMap(before.LabelMap().
			WithLabel("gpu", flyte.Weight("dp-2", 1)).
			WithWorkflow("team1", "production", "train.main", "gpu"))
}
