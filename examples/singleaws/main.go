// Command singleaws installs Flyte in one EKS cluster, and makes the IAM roles
// of Flyte and of user code too: their policies for the bucket, and the trust
// policies that name exactly the ServiceAccounts which use them.
//
// Without flags it runs on a cluster and an AWS account in memory. With
// "-cloud aws" it runs on the real ones: credentials and region are those of
// the AWS SDK (AWS_PROFILE, AWS_REGION), the cluster is reached with nothing
// else, and the database password comes from the environment variable FLYTE_DB.
// See -help.
package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/eks"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/planewright/planewright/examples/internal/program"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/kube/live"
	"k8s.io/apimachinery/pkg/runtime"
)

func main() { program.Main(new(demo).example()) }

// demo is one run of the program.
type demo struct {
	// cloud is "fake" or "aws", cluster the cluster's name there, bucket the bucket.
	cloud, cluster, bucket string
	account                cloud.Account
}

func (d *demo) example() program.Example {
	return program.Example{
		Name:     "singleaws",
		About:    "installs Flyte in one EKS cluster, with its IAM roles",
		Clusters: []string{"main"},
		OnFakes:  []runtime.Object{program.Webhook("flyte-backend-flyte-binary-webhook")},
		Flags: func(set *flag.FlagSet) {
			set.StringVar(&d.cloud, "cloud", "fake", "the AWS account: `fake|aws`, one in memory or that of the AWS SDK's credentials")
			set.StringVar(&d.cluster, "cluster", "main", "the `name` of the EKS cluster")
			set.StringVar(&d.bucket, "bucket", "acme-flyte", "the S3 `bucket`, in the cluster's region")
		},
		Prepare: d.prepare,
		Stack: func(world program.World) planewright.Stack {
			env := flyte.NewEnv(world.Clusters...).WithCharts(world.Charts).WithCloud("main", d.account.Cluster(d.cluster))
			return d.deployment(world.Secret("FLYTE_DB")).On(env)
		},
	}
}

// prepare opens the account. On the real one the cluster is reached with the
// account's own credentials, unless a kubeconfig leads to it.
func (d *demo) prepare(ctx context.Context, world program.World) (program.World, error) {
	switch d.cloud {
	case "fake":
		aws := eksfake.New("123456789012", "us-east-1", d.cluster)
		aws.PutBucket(eksfake.Bucket{Name: d.bucket})
		d.account = aws.Account()
		return world, nil
	case "aws":
	default:
		return world, fmt.Errorf("-cloud %q: it is fake or aws", d.cloud)
	}
	configuration, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return world, err
	}
	if d.account, err = eks.Open(ctx, configuration); err != nil || !world.Fakes {
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
		WithStorage(flyte.S3(d.bucket, d.account.Location)).
		WithDatabase(flyte.Postgres("flyte-db.acme.example", "flyteadmin").WithPassword(password)).
		WithProjects(flyte.NewProject("team1")).
		WithIdentity(flyte.NewIdentity("flyte-backend")).
		WithUserIdentity(flyte.NewIdentity("flyte-user"))
}
