package kubefake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
	"github.com/planewright/planewright/kube/kubefake/internal/controller"
	"k8s.io/apimachinery/pkg/runtime"
)

// ClusterOption says what one cluster is like. The default is a cluster of
// version [DefaultVersion] with three linux/amd64 nodes, a default storage
// class, all permissions, and no latency.
type ClusterOption func(*cluster)

func (c *cluster) configure(opts []ClusterOption) {
	for _, o := range opts {
		o(c)
	}
}

// set changes what the fleet's lock guards.
func (c *cluster) set(change func(*settings)) {
	c.fleet.mu.Lock()
	defer c.fleet.mu.Unlock()
	change(&c.settings)
}

// WithVersion sets the API server's version: "v1.34.1". What is served does
// not change with it.
func WithVersion(version string) ClusterOption {
	return func(c *cluster) { c.server.SetVersion(version) }
}

// WithLatency has every call take at least so long.
func WithLatency(d time.Duration) ClusterOption {
	return func(c *cluster) { c.set(func(s *settings) { s.latency = d }) }
}

// WithDenied takes permissions away from everybody, in addition to those
// taken away before. "*" stands for any verb, group or resource, an empty
// namespace for all of them and for what is in none.
func WithDenied(accesses ...kube.Access) ClusterOption {
	return func(c *cluster) {
		c.set(func(s *settings) { s.denied = append(s.denied[:len(s.denied):len(s.denied)], accesses...) })
	}
}

// WithAllAllowed gives back what [WithDenied] took.
func WithAllAllowed() ClusterOption {
	return func(c *cluster) { c.set(func(s *settings) { s.denied = nil }) }
}

// WithReadyDelay sets how long a pod that has a node takes to become ready.
func WithReadyDelay(d time.Duration) ClusterOption {
	return func(c *cluster) { c.controllers.Configure(func(s *controller.Config) { s.Ready = d }) }
}

// WithTokenDelay sets how long the token Secret of a service account stays empty.
func WithTokenDelay(d time.Duration) ClusterOption {
	return func(c *cluster) { c.controllers.Configure(func(s *controller.Config) { s.Token = d }) }
}

// WithLoadBalancers gives each Service of type LoadBalancer an address after so
// long: "<name>.<namespace>.<cluster>.example", and each Ingress whose IngressClass is
// there "ingress.<namespace>.<cluster>.example". Without it they wait for ever, as
// where no cloud is.
func WithLoadBalancers(after time.Duration) ClusterOption {
	return func(c *cluster) {
		c.controllers.Configure(func(s *controller.Config) {
			s.BalancerDelay = after
			s.Balancer = func(namespace, name string) string { return name + "." + namespace + "." + c.name + ".example" }
		})
	}
}

// WithPullFailure leaves pods in ImagePullBackOff whose image matches one of
// the patterns, in which * stands for any run of characters. No pattern lets
// all images be pulled again by pods that start from then on.
func WithPullFailure(images ...string) ClusterOption {
	return func(c *cluster) {
		c.controllers.Configure(func(s *controller.Config) {
			s.PullFails = func(image string) bool {
				for _, pattern := range images {
					if glob(pattern, image) {
						return true
					}
				}
				return false
			}
		})
	}
}

// WithHealth has the handler answer on forwarded ports. The default answers
// 200 to everything.
func WithHealth(handler http.Handler) ClusterOption {
	return func(c *cluster) { c.set(func(s *settings) { s.health = handler }) }
}

// WithoutContainers makes it a cluster whose pods are ready without that
// anything runs in them, so that there is nothing to forward ports to.
func WithoutContainers() ClusterOption {
	return func(c *cluster) { c.set(func(s *settings) { s.unforwarded = true }) }
}

// WithObjects creates objects, typed or unstructured, with their apiVersion
// and kind set, in the order given. An object that the cluster refuses is a panic.
func WithObjects(objects ...runtime.Object) ClusterOption {
	return func(c *cluster) {
		for _, obj := range objects {
			encoded, err := json.Marshal(obj)
			if err == nil {
				err = c.server.Seed(encoded, obj.GetObjectKind().GroupVersionKind(), apiserver.Administrator)
			}
			if err != nil {
				panic(fmt.Sprintf("kubefake: cluster %s: %T: %v", c.name, obj, err))
			}
		}
	}
}
