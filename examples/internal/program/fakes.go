package program

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/planewright/planewright/internal/testcharts"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kube/live"
)

// Simulation is clusters in memory with more in them than bare clusters have.
type Simulation struct {
	// Fleet are the clusters, under the names of [Example.Clusters].
	Fleet *kubefake.Fleet
	// Settle waits until what is simulated has nothing more to do. May be nil.
	Settle func()
	// Close ends the simulation and the fleet. May be nil.
	Close func()
}

// fakes are the clusters in memory that an example runs on by default. A nil
// *fakes stands for real clusters.
type fakes struct{ Simulation }

func (f *fakes) close() {
	if f.Close != nil {
		f.Close()
		return
	}
	f.Fleet.Close()
}

// writes counts the calls that persisted something, on all clusters.
func (f *fakes) writes() int {
	if f == nil {
		return 0
	}
	if f.Settle != nil {
		f.Settle()
	}
	n := 0
	for _, name := range f.Fleet.Names() {
		n += f.Fleet.Writes(name)
	}
	return n
}

// fakeWorld makes clusters in memory, with the faults that the flags ask for.
func (f flags) fakeWorld(e Example) (World, *fakes, error) {
	made := &fakes{e.simulate()}
	for _, call := range f.fail {
		if err := inject(made.Fleet, call); err != nil {
			made.close()
			return World{}, nil, err
		}
	}
	world := World{Fakes: true, Charts: everyVersion{}}
	for _, name := range e.Clusters {
		world.Clusters = append(world.Clusters, made.Fleet.Cluster(name))
	}
	return world, made, nil
}

// simulate makes the clusters in memory.
func (e Example) simulate() Simulation {
	if e.Simulate != nil {
		return e.Simulate()
	}
	fleet := kubefake.NewFleet()
	for _, name := range e.Clusters {
		options := []kubefake.ClusterOption{kubefake.WithObjects(e.OnFakes...)}
		if e.Fakes != nil {
			options = append(options, e.Fakes(name)...)
		}
		fleet.Add(name, options...)
	}
	return Simulation{Fleet: fleet}
}

// everyVersion gives out the charts of our own as those of whatever version is asked for.
type everyVersion struct{}

func (everyVersion) Chart(ctx context.Context, ref kube.ChartRef) (*kube.Chart, error) {
	return live.ChartFS(testcharts.At(ref.Version), ".").Chart(ctx, ref)
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
