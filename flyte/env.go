package flyte

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/kube"
)

// Env is what deployments are installed on: clusters by their names, and
// where charts come from. It is a value; its methods return changed copies.
type Env struct {
	clusters  []kube.Cluster
	charts    kube.ChartSource
	locker    planewright.Locker
	inventory planewright.Inventory
	clouds    map[string]cloud.ClusterRef
	dialer    cloud.Dialer
	resolver  Resolver
	http      *http.Client
	admin     AdminDialer
	noAdmin   bool
	lost      []string
	clock     func() time.Time
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

// WithLostClusters says that clusters do not exist any more: what deployments
// made in them is forgotten. A cluster that a deployment no longer uses and that
// exists stays in the Env until what was made in it has been taken away.
func (e Env) WithLostClusters(names ...string) Env {
	e.lost = append(slices.Clip(e.lost), names...)
	return e
}

// WithCharts sets where charts come from. There is no default: a program says
// whether it goes to a chart repository, a folder or an archive.
func (e Env) WithCharts(source kube.ChartSource) Env {
	e.charts = source
	return e
}

// WithLocker sets the lock that is held while a deployment is changed. By
// default it is a Lease in the deployment's namespace, see [kube.NewLeaseLocker].
func (e Env) WithLocker(locker planewright.Locker) Env {
	e.locker = locker
	return e
}

// WithInventory sets where a deployment remembers what it made. By default it
// is a ConfigMap in the deployment's namespace, see [kube.NewInventory].
func (e Env) WithInventory(inventory planewright.Inventory) Env {
	e.inventory = inventory
	return e
}

// WithCloud says where in a cloud a cluster is. Identities made by
// [NewIdentity] need it, and the buckets are looked at before an install.
func (e Env) WithCloud(cluster string, where cloud.ClusterRef) Env {
	e.clouds = maps.Clone(e.clouds)
	if e.clouds == nil {
		e.clouds = map[string]cloud.ClusterRef{}
	}
	e.clouds[cluster] = where
	return e
}

// WithDialer has the database asked before an install whether it is there,
// through the dialer, which may be a [net.Dialer]. By default it is not asked:
// a database is often reached from its cluster only.
func (e Env) WithDialer(dialer cloud.Dialer) Env {
	e.dialer = dialer
	return e
}

// WithAdmin says how flyteadmin's API is reached, for projects and labels. By
// default it is by a port-forward to its Service in the control plane's cluster.
func (e Env) WithAdmin(dial AdminDialer) Env {
	e.admin, e.noAdmin = dial, false
	return e
}

// WithoutAdmin leaves out what needs flyteadmin's API: projects beyond those
// that flyteadmin makes when it starts, and the labels that they are bound to.
func (e Env) WithoutAdmin() Env {
	e.admin, e.noAdmin = nil, true
	return e
}

// WithClock sets what tells the time, by which certificates are judged. By
// default it is [time.Now].
func (e Env) WithClock(now func() time.Time) Env {
	e.clock = now
	return e
}

func (e Env) time() func() time.Time {
	if e.clock == nil {
		return time.Now
	}
	return e.clock
}

// cluster returns the cluster of the given name.
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

// validate checks that the deployment's clusters and the charts are there.
func (e Env) validate(p *planewright.Problems, clusters ...string) {
	for _, cluster := range clusters {
		if c, ok := e.cluster(cluster); !ok {
			fix := "give NewEnv a cluster of that name"
			if len(e.clusters) > 0 {
				fix = "use one of " + joinAnd(e.names()) + ", or " + fix
			}
			p.Add("env.clusters", cluster, "the deployment's cluster must be in the Env", fix)
		} else if c.Objects == nil || c.Releases == nil || c.Facts == nil || c.Ports == nil {
			p.Add("env.clusters", cluster, "a cluster handle has all its ports", "make it with package kube/live or kube/kubefake")
		}
	}
	for i, name := range e.names() {
		if i > 0 && name == e.names()[i-1] {
			p.Add("env.clusters", name, "a cluster's name is its own", "name each cluster once")
		}
	}
	if e.charts == nil {
		p.Add("env.charts", "", "charts must come from somewhere", "use WithCharts with a repository, a folder or an archive")
	}
}
