package live

import (
	"errors"
	"fmt"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/client-go/rest"
)

// FromConfig returns the cluster that the config leads to, under the name by
// which specs, plans and events call it. The config is copied. Nothing is sent
// to the API server yet. A config that cannot be used is an error that matches
// [planewright.ErrInvalid].
func FromConfig(name string, config *rest.Config, opts ...Option) (kube.Cluster, error) {
	var p planewright.Problems
	if name == "" {
		p.Add("name", "", "a cluster needs a name", `the name that specs use, for example "ml-prod"`)
	}
	if config == nil {
		p.Add("config", "", "there is no configuration", "a rest.Config with at least a host")
	}
	if err := p.Err("cluster"); err != nil {
		return kube.Cluster{}, err
	}
	c, err := newConnection(name, config, newOptions(opts))
	if err != nil {
		return kube.Cluster{}, err
	}
	return kube.Cluster{
		Name:     name,
		Objects:  &objects{c},
		Releases: &releases{c},
		Facts:    &facts{c},
		Ports:    &forwarder{c},
	}, nil
}

// InCluster returns the cluster that this process runs in as a pod, through
// its service account. Outside of a pod it is an error that matches
// [planewright.ErrNotFound].
func InCluster(name string, opts ...Option) (kube.Cluster, error) {
	config, err := rest.InClusterConfig()
	if errors.Is(err, rest.ErrNotInCluster) {
		return kube.Cluster{}, fmt.Errorf("cluster %s: this process does not run in a pod with a service account: %w", name, planewright.ErrNotFound)
	}
	if err != nil {
		return kube.Cluster{}, fmt.Errorf("cluster %s: service account: %w: %w", name, planewright.ErrDenied, err)
	}
	return FromConfig(name, config, opts...)
}
