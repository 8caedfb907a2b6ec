// Command production installs Flyte for users: behind an ingress, under a host,
// with TLS. Before the install it asks for the ingress controller and the
// certificate; after it, it says which DNS record to create, and verifies that
// the host leads to Flyte by HTTP and by gRPC.
//
// Without flags it runs on a cluster in memory, with an ingress-nginx and a load
// balancer there. With "-kubeconfig" it runs on a real one: "-ingress" chooses the
// controller, "-core" the chart flyte-core instead of flyte-binary. The database
// password comes from the environment variable FLYTE_DB. See -help.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/examples/internal/program"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/kube/kubefake"
	"k8s.io/apimachinery/pkg/runtime"
)

func main() { program.Main(new(demo).example()) }

// demo is one run of the program.
type demo struct {
	host, kind         string
	certificate        string
	tlsSecret, issuer  string
	class              string
	internetFacing     bool
	core               bool
	front              *program.Front
	ingress            flyte.Ingress
	databaseHost, data string
}

func (d *demo) example() program.Example {
	return program.Example{
		Name:     "production",
		About:    "installs Flyte behind an ingress",
		Clusters: []string{"main"},
		OnFakes: []runtime.Object{
			program.Webhook("flyte-backend-flyte-binary-webhook"), program.Webhook("flyte-pod-webhook"),
			program.IngressClass("nginx", "k8s.io/ingress-nginx"), program.IngressClass("alb", "ingress.k8s.aws/alb"),
			program.IngressClass("traefik", "traefik.io/ingress-controller"),
		},
		Fakes: func(string) []kubefake.ClusterOption {
			return []kubefake.ClusterOption{kubefake.WithLoadBalancers(20 * time.Millisecond)}
		},
		Flags:   d.flags,
		Prepare: d.prepare,
		Close: func() {
			if d.front != nil {
				d.front.Close()
			}
		},
		Stack: func(world program.World) planewright.Stack {
			return d.deployment(world).On(d.env(world))
		},
	}
}

func (d *demo) flags(set *flag.FlagSet) {
	set.StringVar(&d.host, "host", "flyte.acme.example", "the `host` that users reach Flyte by")
	set.StringVar(&d.kind, "ingress", "nginx", "the ingress `controller`: nginx, alb, traefik or gke")
	set.StringVar(&d.class, "class", "", "the IngressClass, if it is not called as usual")
	set.StringVar(&d.certificate, "certificate", "arn:aws:acm:us-east-1:123456789012:certificate/flyte", "the `ARN` of the host's certificate, for alb")
	set.StringVar(&d.tlsSecret, "tls-secret", "flyte-tls", "the Secret with the host's certificate, for all but alb")
	set.StringVar(&d.issuer, "issuer", "", "the ClusterIssuer by which cert-manager makes that `Secret`")
	set.BoolVar(&d.internetFacing, "internet-facing", false, "give the load balancer of alb or gke public addresses")
	set.BoolVar(&d.core, "core", false, "install the chart flyte-core, whose components scale, instead of flyte-binary")
	set.StringVar(&d.databaseHost, "database", "flyte-db.acme.example", "the database's `host`")
	set.StringVar(&d.data, "bucket", "acme-flyte", "the S3 `bucket` for all data, in us-east-1")
}

// prepare chooses the ingress, and what a verification goes through.
func (d *demo) prepare(ctx context.Context, world program.World) (program.World, error) {
	switch d.kind {
	case "nginx":
		d.ingress = flyte.NGINX(d.tlsSecret)
	case "traefik":
		d.ingress = flyte.Traefik(d.tlsSecret)
	case "gke":
		d.ingress = flyte.GKE(d.tlsSecret)
	case "alb":
		d.ingress = flyte.ALB(d.certificate)
	default:
		return world, fmt.Errorf("-ingress %q: it is nginx, alb, traefik or gke", d.kind)
	}
	if d.class != "" {
		d.ingress = d.ingress.WithClass(d.class)
	}
	if d.issuer != "" {
		d.ingress = d.ingress.WithClusterIssuer(d.issuer)
	}
	if d.internetFacing {
		d.ingress = d.ingress.InternetFacing()
	}
	var err error
	if world.Fakes {
		d.front, err = program.NewFront(ctx, d.host)
	}
	return world, err
}

func (d *demo) env(world program.World) flyte.Env {
	env := flyte.NewEnv(world.Clusters...).WithCharts(world.Charts).WithoutAdmin()
	if d.front != nil {
		return env.WithResolver(d.front).WithDialer(d.front)
	}
	return env.WithResolver(net.DefaultResolver).WithDialer(&net.Dialer{})
}

// deployment is what should exist: Flyte 1.16.8 under a host.
func (d *demo) deployment(world program.World) flyte.Deployment {
	storage := flyte.S3(d.data, "us-east-1")
	database := flyte.Postgres(d.databaseHost, "flyteadmin").WithPassword(world.Secret("FLYTE_DB"))
	if d.core {
		return flyte.NewDeployment("ml", flyte.V1_16_8).WithStorage(storage).WithDatabase(database).
			WithControlPlane(flyte.NewControlPlane("main").
				WithExecution("main").
				WithHost(d.host).
				WithIngress(d.ingress))
	}
	return flyte.NewSingleCluster("ml", flyte.V1_16_8, "main").WithStorage(storage).WithDatabase(database).
		WithHost(d.host).
		WithIngress(d.ingress)
}
