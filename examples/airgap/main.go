// Command airgap installs Kubeflow where nothing comes in by itself: it prints
// by which commands the operators' bundles are uploaded, waits until the
// catalog offers them, and goes on.
//
//	airgap              in memory: somebody uploads the bundles while it waits
//	airgap -no-wait     a bundle that is missing forbids the install
//	airgap -render dir  the commands and all that is known before, as files
//
// With -kubeconfig it runs on a real platform. See -help.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/examples/internal/program"
	"github.com/planewright/planewright/kubeflow"
	"github.com/planewright/planewright/kubeflow/kubeflowtest"
)

func main() { program.Main(new(demo).example()) }

// demo is one run of the program.
type demo struct {
	noWait bool
	// uploads are given to the catalog in memory while the program runs.
	uploads []kubeflowtest.Package
}

func (d *demo) example() program.Example {
	d.uploads = kubeflowtest.Packages()
	return program.Example{
		Name:     "airgap",
		About:    "installs Kubeflow once its bundles have been uploaded",
		Clusters: []string{"global", "workload"},
		Simulate: d.simulate,
		Flags:    d.flags,
		Tell:     d.tell,
		Stack:    d.stack,
	}
}

func (d *demo) flags(set *flag.FlagSet) {
	set.BoolVar(&d.noWait, "no-wait", false, "refuse to install while a bundle is missing")
}

// stack is a Kubeflow that waits for what is missing. How long is said by
// planewright.WithStepTimeout.
func (d *demo) stack(world program.World) planewright.Stack {
	release := kubeflow.Release2603().
		WithPin(kubeflow.ComponentBase, "kfbase-operator.v26.3.0").
		WithPin(kubeflow.ComponentPipelines, "kfp-operator.v26.3.1")
	stack := kubeflow.NewKubeflowStack("ml", release, "global", "workload").
		WithHost("kubeflow.acme.example").
		WithPipelines(kubeflow.NewPipelines()).
		WithTrainer(kubeflow.NewTrainer())
	if !d.noWait {
		stack = stack.WithPackageWait()
	}
	return stack.On(kubeflow.NewEnv(world.Clusters...))
}

// commands prints the files that say what is to be uploaded.
type commands struct{ out io.Writer }

// WriteFile implements planewright.FileWriter.
func (c commands) WriteFile(name string, data []byte) error {
	if path.Base(name) != "upload.txt" {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		if _, err := fmt.Fprintf(c.out, "  %s", line); err != nil {
			return err
		}
	}
	return nil
}

// tell prints what is to be uploaded: the stack's own rendering has it.
func (d *demo) tell(ctx context.Context, world program.World, out io.Writer) error {
	fmt.Fprintln(out, "to be uploaded, unless the catalog has it:")
	return d.stack(world).Render(ctx, commands{out})
}

// simulate makes a platform in memory whose catalog has nothing.
func (d *demo) simulate() program.Simulation {
	platform := kubeflowtest.NewWorld(kubeflowtest.WithPackages())
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.upload(ctx, platform)
	}()
	return program.Simulation{Fleet: platform.Fleet, Settle: platform.Settle, Close: func() {
		stop()
		<-ended
		platform.Close()
	}}
}

// upload is the colleague with the bundles: once the install has begun, one
// after the other finds its way into the catalog.
func (d *demo) upload(ctx context.Context, platform *kubeflowtest.World) {
	const pause = 150 * time.Millisecond
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for uploads := d.uploads; len(uploads) > 0; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if platform.Fleet.Writes("workload") > 0 {
			platform.Offer(uploads[0])
			uploads = uploads[1:]
		}
	}
}
