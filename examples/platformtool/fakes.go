package main

import (
	"time"

	"github.com/planewright/planewright/cloud/eks"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/planewright/planewright/internal/testcharts"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kube/live"
)

// Fakes are the platform's clusters and its AWS account in memory: what the
// tests run on, and the example too. A real tool has its own clusters here, see
// the example multicluster.
type Fakes struct {
	Fleet *kubefake.Fleet
	AWS   *eksfake.Fake
	Admin *adminfake.Fake
	Env   flyte.Env
}

// NewFakes makes the clusters that a platform names.
func NewFakes(p Platform) *Fakes {
	f := &Fakes{Fleet: kubefake.NewFleet(), Admin: adminfake.New()}
	f.AWS = eksfake.New("123456789012", p.Region)
	f.AWS.PutBucket(eksfake.Bucket{Name: p.Bucket})
	f.Env = flyte.NewEnv().WithCharts(live.ChartFS(testcharts.FS(), "."))
	f.add(p.Control, kubefake.WithHealth(f.Admin), kubefake.WithLoadBalancers(5*time.Millisecond))
	for _, c := range p.Clusters {
		f.add(c.Name)
	}
	return f
}

// Add adds a cluster, as the platform grows.
func (f *Fakes) Add(name string) { f.add(name) }

func (f *Fakes) add(name string, options ...kubefake.ClusterOption) {
	f.Fleet.Add(name, options...)
	f.AWS.AddCluster(name)
	// With an OIDC provider for each cluster, one trust policy holds two or three.
	f.Env = f.Env.WithClusters(f.Fleet.Cluster(name)).WithCloud(name, f.AWS.Account(eks.WithIdentityMode(eks.PodIdentity)).Cluster(name))
}

// Close ends the clusters.
func (f *Fakes) Close() { f.Fleet.Close() }
