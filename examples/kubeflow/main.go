// Command kubeflow installs Kubeflow: four operators at their pins, the login in
// the service mesh, a tenant with an owner and an editor, and a model registry.
//
// Without flags it runs on a platform in memory, where the operators are
// simulated; -fail has a call fail there, as in
//
//	kubeflow -fail 'patch InstallPlan kfp-operator/* denied'
//
// With -kubeconfig it runs on a real one, under a host of yours, with the pins
// that its catalog offers; an empty pin lists them:
//
//	kubeflow -kubeconfig ~/.kube/config -host kubeflow.acme.example -pin base= -dry-run
//
// See -help.
package main

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/examples/internal/program"
	"github.com/planewright/planewright/kubeflow"
	"github.com/planewright/planewright/kubeflow/kubeflowtest"
)

func main() { program.Main(new(demo).example()) }

// demo is one run of the program.
type demo struct {
	host string
	pins map[kubeflow.Component]string
}

func (d *demo) example() program.Example {
	return program.Example{
		Name:     "kubeflow",
		About:    "installs Kubeflow and a tenant",
		Clusters: []string{"global", "workload"},
		Simulate: simulate,
		Flags:    d.flags,
		Stack: func(world program.World) planewright.Stack {
			return stack(release(d.pins)).WithHost(d.host).On(kubeflow.NewEnv(world.Clusters...))
		},
	}
}

func (d *demo) flags(set *flag.FlagSet) {
	set.StringVar(&d.host, "host", kubeflowtest.Host, "the DNS `name` under which people reach Kubeflow")
	set.Func("pin", "install this version of a component's operator, as in `base=kfbase-operator.v26.3.0`;\nthe components are base, pipelines, modelregistry and trainer; an empty version lists what the catalog offers", func(text string) error {
		component, csv, ok := strings.Cut(text, "=")
		if !ok || !slices.Contains(kubeflow.Components(), kubeflow.Component(component)) {
			return fmt.Errorf("it is a component of %v, an equals sign, and the name of a ClusterServiceVersion", kubeflow.Components())
		}
		if d.pins == nil {
			d.pins = map[kubeflow.Component]string{}
		}
		d.pins[kubeflow.Component(component)] = csv
		return nil
	})
}

// simulate makes a whole platform in memory, and not only its clusters.
func simulate() program.Simulation {
	platform := kubeflowtest.NewWorld()
	return program.Simulation{Fleet: platform.Fleet, Settle: platform.Settle, Close: platform.Close}
}

// release is Kubeflow 26.03, with pins of one's own over those of the example.
// Which versions a catalog offers is told by a plan without the pins.
func release(pins map[kubeflow.Component]string) kubeflow.Release {
	release := kubeflow.Release2603().
		WithPin(kubeflow.ComponentBase, "kfbase-operator.v26.3.0").
		WithPin(kubeflow.ComponentPipelines, "kfp-operator.v26.3.1").
		WithPin(kubeflow.ComponentModelRegistry, "model-registry-operator.v0.3.0")
	for component, csv := range pins {
		release = release.WithPin(component, csv)
	}
	return release
}

// stack is what should exist.
func stack(release kubeflow.Release) kubeflow.KubeflowStack {
	team := kubeflow.NewProfile("team-a", "ana@acme.example").
		WithEditors("bo@acme.example").
		WithQuota("requests.nvidia.com/gpu", "4").
		WithPodSecurity(kubeflow.PodSecurityBaseline)
	return kubeflow.NewKubeflowStack("ml", release, "global", "workload").
		WithHost(kubeflowtest.Host).
		WithMesh(kubeflow.ServiceMeshV2()).
		WithPipelines(kubeflow.NewPipelines()).
		WithTrainer(kubeflow.NewTrainer().WithJobSet(true)).
		WithProfiles(team).
		WithModelRegistries(kubeflow.NewModelRegistry("models", team).
			WithStorage("standard", "20Gi").
			WithDisplayName("Models of team A"))
}
