package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kube/live"
	"k8s.io/apimachinery/pkg/runtime"
)

// Example is one example program.
type Example struct {
	// Name is the program's name, About what it does, in a few words.
	Name, About string
	// Clusters are the names that the example's spec uses, the control
	// plane's first.
	Clusters []string
	// OnFakes are objects that the software itself makes once it runs. In
	// memory nothing runs, so they are there from the start.
	OnFakes []runtime.Object
	// Fakes are further options of a cluster in memory, by its name. May be nil.
	Fakes func(cluster string) []kubefake.ClusterOption
	// Simulate makes the clusters in memory in place of bare ones. May be nil.
	Simulate func() Simulation
	// Flags adds flags of the example's own. May be nil.
	Flags func(*flag.FlagSet)
	// Prepare is called before the run, to connect to a cloud, say, and may
	// change the world. May be nil.
	Prepare func(context.Context, World) (World, error)
	// Close is called after the run, to take away what Prepare made. May be nil.
	Close func()
	// Before makes what is there already when the program begins. In memory
	// it is installed first, without a word; on real clusters it is taken to
	// be there, unless -from-scratch says otherwise. May be nil.
	Before func(World) planewright.Stack
	// ByHand is Before for what is not of this library's making. It is called
	// before Prepare. May be nil.
	ByHand func(context.Context, World) error
	// Tell writes what a person should know first. May be nil.
	Tell func(context.Context, World, io.Writer) error
	// Stack makes what is installed. It is called for each run.
	Stack func(World) planewright.Stack
}

// World is what an example is installed on.
type World struct {
	// Clusters are the clusters by the names of [Example.Clusters], in that order.
	Clusters []kube.Cluster
	// Charts is where charts come from.
	Charts kube.ChartSource
	// Fakes is set when the clusters are in memory.
	Fakes bool
	// chosen is set when -charts was given.
	chosen bool
}

// On returns the world with real clusters in the place of those it has, and
// with the public charts unless others were chosen.
func (w World) On(clusters ...kube.Cluster) World {
	w.Clusters, w.Fakes = clusters, false
	if !w.chosen {
		w.Charts = live.ChartRepository(publicCharts)
	}
	return w
}

// Secret refers to a secret in the environment. On clusters in memory, where
// nothing checks it, it is made up, so that the example runs without any setting.
func (w World) Secret(variable string) planewright.Secret {
	if _, set := os.LookupEnv(variable); w.Fakes && !set {
		return planewright.SecretValue("made-up-" + variable)
	}
	return planewright.SecretFromEnv(variable)
}

// The exit codes of an example.
const (
	// ExitOK: all went well.
	ExitOK = 0
	// ExitFailed: something failed; the error stream says what.
	ExitFailed = 1
	// ExitUsage: the flags were wrong.
	ExitUsage = 2
)

// Main runs the example with the process's arguments and ends the process.
// An interrupt cancels the run; a second one ends it at once.
func Main(e Example) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(e.Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Run runs the example and returns its exit code.
func (e Example) Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	f, err := parseFlags(e, args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return ExitOK
	}
	if err != nil {
		return ExitUsage
	}
	s := &screen{out: stdout, log: stdout, json: f.output == "json"}
	if s.json {
		s.log = stderr
	}
	if err := e.run(ctx, f, s); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", e.Name, err)
		return ExitFailed
	}
	return ExitOK
}

func (e Example) run(ctx context.Context, f flags, s *screen) error {
	world, fakes, err := f.world(e)
	if err != nil {
		return err
	}
	if fakes != nil {
		defer fakes.close()
	}
	scratch := fakes != nil || f.scratch
	if e.ByHand != nil && scratch {
		if err := e.ByHand(ctx, world); err != nil {
			return fmt.Errorf("installing what is there before: %w", err)
		}
	}
	if e.Close != nil {
		defer e.Close()
	}
	if e.Prepare != nil {
		if world, err = e.Prepare(ctx, world); err != nil {
			return err
		}
		if !world.Fakes {
			fakes = nil
		}
	}
	if e.Before != nil && scratch && f.render == "" {
		if _, err := planewright.Install(ctx, e.Before(world)); err != nil {
			return fmt.Errorf("installing what is there before: %w", err)
		}
	}
	if e.Tell != nil && !s.json {
		if err := e.Tell(ctx, world, s.log); err != nil {
			return err
		}
	}
	stack := e.Stack(world)
	switch {
	case f.render != "":
		return s.render(ctx, stack, f.render)
	case f.dryRun:
		return s.plan(ctx, stack)
	case f.uninstall:
		return s.uninstall(ctx, stack)
	}
	return s.mainJob(ctx, stack, fakes)
}
