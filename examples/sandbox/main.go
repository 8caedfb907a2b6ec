// Command sandbox runs a whole Flyte in one container on this machine, for
// trying workflows and for tests.
//
// Without flags it runs on a container engine in memory. With "-engine" it
// runs on the real one, Docker or Podman, found by DOCKER_HOST or at its usual
// socket, and writes the client configuration and the kubeconfig below .flyte in the
// home folder. "-uninstall" stops it. See -help.
package main

import (
	"context"
	"flag"
	"os"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/container/docker"
	"github.com/planewright/planewright/examples/internal/program"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/flyte/sandboxfake"
)

func main() { program.Main(new(demo).example()) }

// demo is one run of the program.
type demo struct {
	real bool
	home string
	port int
	env  flyte.SandboxEnv
	// scratch is a folder that is removed at the end.
	scratch string
}

func (d *demo) example() program.Example {
	return program.Example{
		Name:  "sandbox",
		About: "runs Flyte in a container on this machine",
		Flags: func(set *flag.FlagSet) {
			set.BoolVar(&d.real, "engine", false, "run on this machine's container engine instead of one in memory")
			set.StringVar(&d.home, "home", "", "the `folder` that .flyte is in\n(default: with -engine the home folder, otherwise one that is removed at the end)")
			set.IntVar(&d.port, "kubernetes-port", flyte.DefaultSandboxPort, "the `port` of the sandbox's Kubernetes API")
		},
		Prepare: d.prepare,
		Close:   func() { _ = os.RemoveAll(d.scratch) },
		Stack:   func(program.World) planewright.Stack { return d.sandbox().On(d.env) },
	}
}

// sandbox is what should exist.
func (d *demo) sandbox() flyte.Sandbox {
	return flyte.NewSandbox("lab", flyte.V1_16_8).WithKubernetesPort(d.port)
}

func (d *demo) prepare(_ context.Context, world program.World) (program.World, error) {
	home, err := d.homeFolder()
	if err != nil {
		return world, err
	}
	if d.real {
		d.env = flyte.NewSandboxEnv(docker.New(docker.Sockets(os.Getenv)...), home)
		return world.On(), nil
	}
	d.env = sandboxfake.Env(sandboxfake.New(d.sandbox()), home)
	return world, nil
}

// homeFolder is the folder for files.
func (d *demo) homeFolder() (string, error) {
	switch {
	case d.home != "":
		return d.home, nil
	case d.real:
		return os.UserHomeDir()
	}
	// The sandbox runs in memory: nothing is to be left of it.
	var err error
	d.scratch, err = os.MkdirTemp("", "sandbox")
	return d.scratch, err
}
