package program

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/planewright/planewright/internal/testcharts"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kube/live"
)

// fakes are the clusters in memory that an example runs on by default. A nil
// *fakes stands for real clusters.
type fakes struct {
	*kubefake.Fleet
}

// writes counts the calls that persisted something, on all clusters.
func (f *fakes) writes() int {
	n := 0
	if f != nil {
		for _, name := range f.Names() {
			n += f.Writes(name)
		}
	}
	return n
}

// fakeWorld makes clusters in memory, with the faults that the flags ask for.
func (f flags) fakeWorld(e Example) (World, *fakes, error) {
	fleet := kubefake.NewFleet()
	for _, name := range e.Clusters {
		options := []kubefake.ClusterOption{kubefake.WithObjects(e.OnFakes...)}
		if e.Fakes != nil {
			options = append(options, e.Fakes(name)...)
		}
		fleet.Add(name, options...)
	}
	for _, call := range f.fail {
		if err := inject(fleet, call); err != nil {
			fleet.Close()
			return World{}, nil, err
		}
	}
	world := World{Fakes: true, Charts: live.ChartFS(testcharts.FS(), ".")}
	for _, name := range e.Clusters {
		world.Clusters = append(world.Clusters, fleet.Cluster(name))
	}
	return world, &fakes{fleet}, nil
}

// inject makes a call fail as said by -fail: verb, kind, name, and behind them
// how (unavailable if not said) and how often (always if not said).
func inject(fleet *kubefake.Fleet, call string) error {
	words := strings.Fields(call)
	fault := kubefake.Unavailable
	var options []kubefake.FaultOption
	for len(words) > 1 {
		last := words[len(words)-1]
		if times, err := strconv.Atoi(last); err == nil {
			options = append(options, kubefake.Times(times))
		} else if slices.Contains(kubefake.Faults(), kubefake.Fault(last)) {
			fault = kubefake.Fault(last)
		} else {
			break
		}
		words = words[:len(words)-1]
	}
	if len(words) == 0 || len(words) > 3 {
		return fmt.Errorf("-fail %q: it is a verb, and perhaps a kind, a name, a fault (one of %v), and how often", call, kubefake.Faults())
	}
	match := kubefake.Call(words[0])
	if len(words) > 1 {
		match = match.Kind(words[1])
	}
	if len(words) > 2 {
		match = match.Named(words[2])
	}
	fleet.Fail(match, fault, options...)
	return nil
}
