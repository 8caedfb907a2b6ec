package kubetest

import (
	"testing"
	"time"

	"github.com/planewright/planewright/kube"
)

// Option says what the clusters under test are like.
type Option func(*suite)

// WithoutContainers says that no container runs behind the clusters' pods: a
// port-forward must then be refused with ErrUnsupported.
func WithoutContainers() Option { return func(s *suite) { s.noContainers = true } }

// WithUnpullableImage names an image that the clusters cannot pull. Without
// it, waiting for such a pod is not tested.
func WithUnpullableImage(image string) Option { return func(s *suite) { s.unpullable = image } }

// WithReaction sets how long the clusters' controllers may take to show what is
// wrong with a workload: so long tests wait for what cannot happen. The default is 2 seconds.
func WithReaction(d time.Duration) Option { return func(s *suite) { s.vain = d } }

// Run tests the ports of the clusters that newCluster returns. It is called
// once a test, and may return the same cluster every time.
func Run(t *testing.T, newCluster func(t *testing.T) kube.Cluster, opts ...Option) {
	s := &suite{newCluster: newCluster, vain: 2 * time.Second}
	for _, o := range opts {
		o(s)
	}
	t.Run("Objects", s.objects)
	t.Run("Waits", s.waits)
	t.Run("Releases", s.releases)
	t.Run("Facts", s.facts)
	t.Run("Forwarder", s.forwarder)
}

type suite struct {
	newCluster   func(t *testing.T) kube.Cluster
	noContainers bool
	unpullable   string
	vain         time.Duration
}

// test runs one test in a namespace of its own, beside others.
func (s *suite) test(t *testing.T, name string, f func(s *scene)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		f(newScene(t, s))
	})
}
