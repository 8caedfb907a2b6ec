package kubeflow

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
)

// Env is what stacks are installed on: clusters by their names. It is a value;
// its methods return changed copies.
type Env struct {
	clusters  []kube.Cluster
	locker    planewright.Locker
	inventory planewright.Inventory
	resolver  Resolver
	transport http.RoundTripper
}

// Resolver finds the addresses of a host name. A [net.Resolver] is one.
type Resolver interface {
	LookupHost(ctx context.Context, host string) ([]string, error)
}

// NewEnv makes an Env of clusters. They are found by their names; the order means nothing.
func NewEnv(clusters ...kube.Cluster) Env { return Env{clusters: slices.Clone(clusters)} }

// WithClusters adds clusters. One with the name of a cluster that is there takes its place.
func (e Env) WithClusters(clusters ...kube.Cluster) Env {
	e.clusters = slices.Clone(e.clusters)
	for _, c := range clusters {
		if i := slices.IndexFunc(e.clusters, func(have kube.Cluster) bool { return have.Name == c.Name }); i >= 0 {
			e.clusters[i] = c
		} else {
			e.clusters = append(e.clusters, c)
		}
	}
	return e
}

// WithLocker sets the lock that is held while a stack is changed. By default it
// is a Lease in the base operator's namespace, see [kube.NewLeaseLocker].
func (e Env) WithLocker(locker planewright.Locker) Env {
	e.locker = locker
	return e
}

// WithInventory sets where a stack remembers what it made. By default it is a
// ConfigMap in the base operator's namespace, see [kube.NewInventory].
func (e Env) WithInventory(inventory planewright.Inventory) Env {
	e.inventory = inventory
	return e
}

// WithResolver has a verification ask whether the host's name leads to the
// gateway. By default it is not asked: names are often known inside a company only.
func (e Env) WithResolver(resolver Resolver) Env {
	e.resolver = resolver
	return e
}

// WithTransport has a verification open the host's page and expect to be sent
// to the login. Redirects are not followed. By default it is not opened.
func (e Env) WithTransport(transport http.RoundTripper) Env {
	e.transport = transport
	return e
}

func (e Env) cluster(name string) (kube.Cluster, bool) {
	i := slices.IndexFunc(e.clusters, func(c kube.Cluster) bool { return c.Name == name })
	if i < 0 {
		return kube.Cluster{}, false
	}
	return e.clusters[i], true
}

// names returns the clusters' names, sorted.
func (e Env) names() []string {
	names := make([]string, len(e.clusters))
	for i, c := range e.clusters {
		names[i] = c.Name
	}
	slices.Sort(names)
	return names
}

// validate checks that the stack's clusters are there.
func (e Env) validate(p *planewright.Problems, clusters ...string) {
	for _, cluster := range clusters {
		if c, ok := e.cluster(cluster); !ok {
			fix := "give NewEnv a cluster of that name"
			if len(e.clusters) > 0 {
				fix = "use one of " + strings.Join(e.names(), ", ") + ", or " + fix
			}
			p.Add("env.clusters", cluster, "the stack's cluster must be in the Env", fix)
		} else if c.Objects == nil || c.Facts == nil {
			p.Add("env.clusters", cluster, "a cluster handle has its ports Objects and Facts", "make it with package kube/live or kube/kubefake")
		}
	}
	for i, name := range e.names() {
		if i > 0 && name == e.names()[i-1] {
			p.Add("env.clusters", name, "a cluster's name is its own", "name each cluster once")
		}
	}
}
