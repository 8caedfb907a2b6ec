package program

import (
	"os"
	"strings"

	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/live"
)

// publicCharts is the chart repository that Flyte's project publishes to. What
// is taken from it is pinned by digest, see flyte.Version.
const publicCharts = "https://flyteorg.github.io/flyte"

// world makes what the example runs on: clusters in memory, or those of a kubeconfig.
func (f flags) world(e Example) (World, *fakes, error) {
	if f.kubeconfig == "" {
		world, fakes, err := f.fakeWorld(e)
		if err == nil && f.charts != "" {
			world.Charts, world.chosen = charts(f.charts), true
		}
		return world, fakes, err
	}
	world := World{Charts: live.ChartRepository(publicCharts)}
	if f.charts != "" {
		world.Charts, world.chosen = charts(f.charts), true
	}
	for i, name := range e.Clusters {
		context := name
		if len(f.contexts) > 0 {
			context = f.contexts[i]
		}
		cluster, err := live.FromKubeconfig(f.kubeconfig, context, live.WithName(name))
		if err != nil {
			return World{}, nil, err
		}
		world.Clusters = append(world.Clusters, cluster)
	}
	return world, nil, nil
}

// charts makes a source of what -charts names.
func charts(from string) kube.ChartSource {
	if strings.Contains(from, "://") {
		return live.ChartRepository(from)
	}
	if info, err := os.Stat(from); err == nil && info.IsDir() {
		return live.ChartFolder(from)
	}
	return live.ChartArchive(from)
}
