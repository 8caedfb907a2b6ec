package kubefake

import (
	"context"
	"slices"

	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/live"
)

// Cluster returns a handle on a cluster as [live.FromConfig] makes it for a
// real one. Its port-forwards lead to the handler of [WithHealth]. Every call
// makes a new handle, which knows nothing of what others have seen: a new
// process, so to speak. It panics if there is no cluster of that name.
func (f *Fleet) Cluster(name string, opts ...live.Option) kube.Cluster {
	c := f.cluster(name)
	handle, err := live.FromConfig(name, f.Config(name), opts...)
	if err != nil {
		panic("kubefake: " + err.Error())
	}
	handle.Facts = facts{handle.Facts, c}
	handle.Ports = &forwarder{c}
	return handle
}

// Clusters returns handles on all clusters, by name.
func (f *Fleet) Clusters(opts ...live.Option) map[string]kube.Cluster {
	all := map[string]kube.Cluster{}
	for _, name := range f.Names() {
		all[name] = f.Cluster(name, opts...)
	}
	return all
}

// facts adds the certificate authority, which the configuration of a client
// that brings its own transport cannot hold.
type facts struct {
	kube.Facts
	cluster *cluster
}

// Endpoint implements [kube.Facts].
func (f facts) Endpoint(context.Context) (kube.Endpoint, error) {
	return kube.Endpoint{URL: f.cluster.url(), CA: slices.Clone(f.cluster.identity.ca())}, nil
}

// CA returns the certificate authority of a cluster, as PEM: the one in token
// Secrets and in the ConfigMap kube-root-ca.crt of each namespace. It panics
// if there is no cluster of that name.
func (f *Fleet) CA(name string) []byte { return slices.Clone(f.cluster(name).identity.ca()) }
