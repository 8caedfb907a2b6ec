// Command multicluster installs Flyte on three clusters: a control plane and
// two data planes, with their cloud identities, their credentials in the
// control plane, an internal load balancer for the catalog, projects, and the labels
// that say which data plane runs what.
//
// Without flags it runs on clusters and an AWS account in memory. With "-cloud
// aws" or "-cloud gcp" it runs on real ones, with nothing but the credentials of the
// cloud's SDK; with "-kubeconfig" alone it runs on real clusters and calls no
// cloud. The database password comes from the environment variable FLYTE_DB. See -help.
package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/eks"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/planewright/planewright/cloud/gke"
	"github.com/planewright/planewright/examples/internal/program"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kube/live"
	"k8s.io/apimachinery/pkg/runtime"
)

func main() { program.Main(new(demo).example()) }

// names are the clusters, by what they are in the spec.
func names() []string { return []string{"control", "dp-1", "dp-2"} }

// demo is one run of the program.
type demo struct {
	// cloud is "fake", "aws" or "gcp"; clusters are the clusters' names there.
	cloud, clusters string
	// project is the project on Google Cloud, location where its clusters are.
	project, location string
	bucket, region    string
	host, certificate string
	// admin and catalog say how flyteadmin and datacatalog are reached.
	admin, catalog string

	account cloud.Account
	// inCloud is set where the cloud is known.
	inCloud bool
}

func (d *demo) example() program.Example {
	return program.Example{
		Name:     "multicluster",
		About:    "installs Flyte on a control plane and two data planes",
		Clusters: names(),
		OnFakes:  []runtime.Object{program.Webhook("flyte-pod-webhook")},
		Fakes:    fakes,
		Flags:    d.flags,
		Prepare:  d.prepare,
		Stack: func(world program.World) planewright.Stack {
			return d.deployment(world).On(d.env(world))
		},
	}
}

func (d *demo) flags(set *flag.FlagSet) {
	set.StringVar(&d.cloud, "cloud", "fake", "where the clusters are: `fake|aws|gcp`; fake is an AWS account in memory,\nand no cloud at all with -kubeconfig")
	set.StringVar(&d.clusters, "clusters", "flyte-control,flyte-dp-1,flyte-dp-2", "the `names` of the clusters in the cloud: control plane, first and second data plane")
	set.StringVar(&d.project, "project", "", "the Google Cloud `project`")
	set.StringVar(&d.location, "location", "", "the `location` of the GKE clusters, such as europe-west4")
	set.StringVar(&d.bucket, "bucket", "acme-flyte", "the `bucket` for all data")
	set.StringVar(&d.region, "region", "us-east-1", "the `region` of the S3 bucket, where no cloud says it")
	set.StringVar(&d.host, "host", "flyte.acme.example", "the `host` that users and data planes reach Flyte by")
	set.StringVar(&d.certificate, "certificate", "", "the `ARN` of the host's certificate on AWS\n(default: a made-up one on clusters in memory, NGINX with the Secret flyte-tls elsewhere)")
	set.StringVar(&d.admin, "admin", "", "the `URL` of flyteadmin's API (default: a port-forward)")
	set.StringVar(&d.catalog, "catalog", "", "the `host:port` of datacatalog for data planes\n(default: an internal load balancer where there is a cloud)")
}

// fakes are what the control plane in memory has: a flyteadmin that answers,
// load balancers and an ingress controller.
func fakes(cluster string) []kubefake.ClusterOption {
	if cluster != "control" {
		return nil
	}
	return []kubefake.ClusterOption{
		kubefake.WithHealth(adminfake.New()),
		kubefake.WithLoadBalancers(20 * time.Millisecond),
		kubefake.WithObjects(program.IngressClass("alb", "ingress.k8s.aws/alb")),
	}
}

// prepare opens the account. On a real one the clusters are reached with its
// own credentials, unless a kubeconfig leads to them.
func (d *demo) prepare(ctx context.Context, world program.World) (program.World, error) {
	clusters := strings.Split(d.clusters, ",")
	if len(clusters) != len(names()) {
		return world, fmt.Errorf("-clusters %q: it names three clusters", d.clusters)
	}
	var err error
	switch d.cloud {
	case "fake":
		if world.Fakes {
			aws := eksfake.New("123456789012", "us-east-1", clusters...)
			aws.PutBucket(eksfake.Bucket{Name: d.bucket})
			d.account, d.inCloud = aws.Account(), true
		}
		return world, nil
	case "aws":
		configuration, err := config.LoadDefaultConfig(ctx)
		if err != nil {
			return world, err
		}
		if d.account, err = eks.Open(ctx, configuration); err != nil {
			return world, err
		}
	case "gcp":
		if d.account, _, err = gke.Open(ctx, d.project, d.location); err != nil {
			return world, err
		}
	default:
		return world, fmt.Errorf("-cloud %q: it is fake, aws or gcp", d.cloud)
	}
	d.inCloud = true
	if !world.Fakes {
		return world, nil
	}
	return d.connect(ctx, world, clusters)
}

// connect reaches the clusters with the cloud's credentials.
func (d *demo) connect(ctx context.Context, world program.World, clusters []string) (program.World, error) {
	var handles []kube.Cluster
	for i, name := range names() {
		access, err := d.account.Clusters.Access(ctx, clusters[i])
		if err != nil {
			return world, err
		}
		handle, err := live.FromTokens(name, access.Endpoint, access.CA, d.account.Cluster(clusters[i]).Token)
		if err != nil {
			return world, err
		}
		handles = append(handles, handle)
	}
	return world.On(handles...), nil
}

func (d *demo) env(world program.World) flyte.Env {
	env := flyte.NewEnv(world.Clusters...).WithCharts(world.Charts)
	if d.inCloud {
		for i, cluster := range strings.Split(d.clusters, ",") {
			env = env.WithCloud(names()[i], d.account.Cluster(cluster))
		}
	}
	if d.admin != "" {
		env = env.WithAdmin(func(context.Context) (*admin.Client, func(), error) {
			client, err := admin.New(d.admin)
			return client, nil, err
		})
	}
	return env
}

// deployment is what should exist: Flyte 1.16.8 on three clusters.
func (d *demo) deployment(world program.World) flyte.Deployment {
	return flyte.NewDeployment("ml", flyte.V1_16_8).
		WithStorage(d.storage()).
		WithDatabase(flyte.Postgres("flyte-db.acme.example", "flyteadmin").WithPassword(world.Secret("FLYTE_DB"))).
		WithProjects(
			flyte.NewProject("team1").WithDescription("Vision"),
			flyte.NewProject("team2").WithDescription("Speech")).
		WithControlPlane(flyte.NewControlPlane("control").
			WithHost(d.host).
			WithIngress(d.ingress(world)).
			WithCatalog(d.catalogOf())).
		WithDataplanes(
			flyte.NewDataplane("dp-1", "dp-1"),
			flyte.NewDataplane("dp-2", "dp-2")).
		WithLabelMap(flyte.NewLabelMap().
			WithLabel("cpu", flyte.Weight("dp-1", 1)).
			WithLabel("gpu", flyte.Weight("dp-1", 30), flyte.Weight("dp-2", 70)).
			WithDefault("cpu").
			WithProject("team1", "development", "cpu").
			WithWorkflow("team1", "production", "train.main", "gpu"))
}

func (d *demo) storage() flyte.Storage {
	switch {
	case d.inCloud && d.account.Provider == cloud.GCP:
		return flyte.GCS(d.bucket, d.account.ID)
	case d.inCloud:
		return flyte.S3(d.bucket, d.account.Location)
	}
	return flyte.S3(d.bucket, d.region)
}

func (d *demo) ingress(world program.World) flyte.Ingress {
	switch {
	case d.certificate != "":
		return flyte.ALB(d.certificate)
	case world.Fakes:
		return flyte.ALB("arn:aws:acm:us-east-1:123456789012:certificate/flyte")
	}
	return flyte.NGINX("flyte-tls")
}

func (d *demo) catalogOf() flyte.Catalog {
	switch {
	case d.catalog != "":
		return flyte.CatalogAt(d.catalog)
	case d.inCloud:
		return flyte.InternalLoadBalancer()
	}
	return flyte.Catalog{}
}
