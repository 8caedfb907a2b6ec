// Command singlegcp installs Flyte in one GKE cluster, and makes the Google
// service accounts of Flyte and of user code too: who may take them on, and
// what they may do in the bucket.
//
// Without flags it runs on a cluster and a project in memory. With
// "-cloud gcp" it runs on the real ones: credentials are Google's application
// default ones, the cluster is reached with nothing else, and the database
// password comes from the environment variable FLYTE_DB. See -help.
package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/gke"
	"github.com/planewright/planewright/cloud/gke/gkefake"
	"github.com/planewright/planewright/examples/internal/program"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/kube/live"
	"k8s.io/apimachinery/pkg/runtime"
)

func main() { program.Main(new(demo).example()) }

// demo is one run of the program.
type demo struct {
	// cloud is "fake" or "gcp".
	cloud, project, location, cluster, bucket string
	account                                   cloud.Account
}

func (d *demo) example() program.Example {
	return program.Example{
		Name:     "singlegcp",
		About:    "installs Flyte in one GKE cluster, with its service accounts",
		Clusters: []string{"main"},
		OnFakes:  []runtime.Object{program.Webhook("flyte-backend-flyte-binary-webhook")},
		Flags: func(set *flag.FlagSet) {
			set.StringVar(&d.cloud, "cloud", "fake", "the Google Cloud project: `fake|gcp`, one in memory or that of the application default credentials")
			set.StringVar(&d.project, "project", "acme-ml", "the `id` of the project")
			set.StringVar(&d.location, "location", "europe-west4", "the `region` of the cluster and the bucket")
			set.StringVar(&d.cluster, "cluster", "main", "the `name` of the GKE cluster")
			set.StringVar(&d.bucket, "bucket", "acme-flyte", "the `bucket` of Cloud Storage")
		},
		Prepare: d.prepare,
		Stack: func(world program.World) planewright.Stack {
			env := flyte.NewEnv(world.Clusters...).WithCharts(world.Charts).WithCloud("main", d.account.Cluster(d.cluster))
			return d.deployment(world.Secret("FLYTE_DB")).On(env)
		},
	}
}

// prepare opens the project. On the real one the cluster is reached with its
// credentials, unless a kubeconfig leads to it.
func (d *demo) prepare(ctx context.Context, world program.World) (program.World, error) {
	switch d.cloud {
	case "fake":
		google := gkefake.New(d.project, d.location, d.cluster)
		google.PutBucket(gkefake.Bucket{Name: d.bucket})
		d.account = google.Account()
		return world, nil
	case "gcp":
	default:
		return world, fmt.Errorf("-cloud %q: it is fake or gcp", d.cloud)
	}
	// The connections live as long as the program does.
	account, _, err := gke.Open(ctx, d.project, d.location)
	if d.account = account; err != nil || !world.Fakes {
		return world, err
	}
	access, err := d.account.Clusters.Access(ctx, d.cluster)
	if err != nil {
		return world, err
	}
	cluster, err := live.FromTokens("main", access.Endpoint, access.CA, d.account.Cluster(d.cluster).Token)
	return world.On(cluster), err
}

// deployment is what should exist: Flyte 1.16.8 with identities of its own.
func (d *demo) deployment(password planewright.Secret) flyte.Deployment {
	return flyte.NewSingleCluster("ml", flyte.V1_16_8, "main").
		WithStorage(flyte.GCS(d.bucket, d.project)).
		WithDatabase(flyte.Postgres("flyte-db.acme.example", "flyteadmin").WithPassword(password)).
		WithProjects(flyte.NewProject("team1")).
		WithIdentity(flyte.NewIdentity("flyte-backend")).
		WithUserIdentity(flyte.NewIdentity("flyte-user"))
}
