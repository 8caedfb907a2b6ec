package kubefake

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/planewright/planewright/kube"
	"k8s.io/client-go/rest"
)

// Fleet is a number of clusters in memory, found by name. It is safe for
// concurrent use. It starts no goroutines of its own.
type Fleet struct {
	mu       sync.Mutex
	clusters map[string]*cluster
	rules    []*Rule
	hooks    []func(CallRecord)
	calls    []CallRecord
	killed   bool
}

// NewFleet makes clusters with the given names, each with the defaults of
// [ClusterOption]. It panics if a name is given twice.
func NewFleet(clusters ...string) *Fleet {
	f := &Fleet{clusters: map[string]*cluster{}}
	for _, name := range clusters {
		f.Add(name)
	}
	return f
}

// Add adds a cluster to the fleet. It panics if there is one of that name.
func (f *Fleet) Add(name string, opts ...ClusterOption) *Fleet {
	c := newCluster(f, name)
	f.mu.Lock()
	if f.clusters[name] != nil {
		f.mu.Unlock()
		panic(fmt.Sprintf("kubefake: the fleet has a cluster %q already", name))
	}
	f.clusters[name] = c
	f.mu.Unlock()
	c.configure([]ClusterOption{
		WithNodes(Nodes(3, "amd64")...),
		WithStorageClasses(kube.StorageClass{Name: "standard", Provisioner: "kubefake.invalid/disk", Default: true}),
	})
	c.configure(opts)
	return f
}

// Configure changes what a cluster is, at any time. It panics if there is no
// cluster of that name, or if an option cannot be.
func (f *Fleet) Configure(cluster string, opts ...ClusterOption) *Fleet {
	f.cluster(cluster).configure(opts)
	return f
}

// Names returns the names of the clusters, sorted.
func (f *Fleet) Names() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	names := make([]string, 0, len(f.clusters))
	for name := range f.clusters {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Config returns what a client needs to reach a cluster: any client-go client
// works on it. Requests are not limited on the client's side. It panics if
// there is no cluster of that name.
func (f *Fleet) Config(name string) *rest.Config {
	c := f.cluster(name)
	return &rest.Config{Host: c.url(), Transport: &transport{c}, QPS: -1}
}

// Close ends the watches and the controllers of all clusters. Calls after it fail.
func (f *Fleet) Close() {
	f.mu.Lock()
	clusters := slices.Collect(maps.Values(f.clusters))
	f.mu.Unlock()
	for _, c := range clusters {
		c.close()
	}
}

// cluster finds a cluster; asking for one that does not exist is a mistake in
// the program that nothing later would tell as clearly.
func (f *Fleet) cluster(name string) *cluster {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.clusters[name]
	if c == nil {
		names := make([]string, 0, len(f.clusters))
		for n := range f.clusters {
			names = append(names, n)
		}
		slices.Sort(names)
		panic(fmt.Sprintf("kubefake: the fleet has no cluster %q, only %s", name, strings.Join(names, ", ")))
	}
	return c
}
