// Command kubeflow installs Kubeflow: four operators at their pins, the login in
// the service mesh, a tenant with an owner and an editor, and a model registry.
//
// Without flags it runs on a platform in memory, where the operators are
// simulated; -fail has a call fail there, as in
//
//	kubeflow -fail 'patch InstallPlan kfp-operator/* denied'
//
// With -kubeconfig it runs on a real one. See -help.
package main

import (
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/examples/internal/program"
	"github.com/planewright/planewright/kubeflow"
	"github.com/planewright/planewright/kubeflow/kubeflowtest"
)

func main() { program.Main(example()) }

func example() program.Example {
	return program.Example{
		Name:     "kubeflow",
		About:    "installs Kubeflow and a tenant",
		Clusters: []string{"global", "workload"},
		Simulate: simulate,
		Stack: func(world program.World) planewright.Stack {
			return stack(release()).On(kubeflow.NewEnv(world.Clusters...))
		},
	}
}

// simulate makes a whole platform in memory, and not only its clusters.
func simulate() program.Simulation {
	platform := kubeflowtest.NewWorld()
	return program.Simulation{Fleet: platform.Fleet, Settle: platform.Settle, Close: platform.Close}
}

// release is Kubeflow 26.03. Which versions of the operators a catalog offers
// is told by a plan without the pins.
func release() kubeflow.Release {
	return kubeflow.Release2603().
		WithPin(kubeflow.ComponentBase, "kfbase-operator.v26.3.0").
		WithPin(kubeflow.ComponentPipelines, "kfp-operator.v26.3.1").
		WithPin(kubeflow.ComponentModelRegistry, "model-registry-operator.v0.3.0")
}

// stack is what should exist.
func stack(release kubeflow.Release) kubeflow.KubeflowStack {
	team := kubeflow.NewProfile("team-a", "ana@acme.example").
		WithEditors("bo@acme.example").
		WithQuota("requests.nvidia.com/gpu", "4").
		WithPodSecurity(kubeflow.PodSecurityBaseline)
	return kubeflow.NewKubeflowStack("ml", release, "global", "workload").
		WithHost("kubeflow.acme.example").
		WithMesh(kubeflow.ServiceMeshV2()).
		WithPipelines(kubeflow.NewPipelines()).
		WithTrainer(kubeflow.NewTrainer().WithJobSet(true)).
		WithProfiles(team).
		WithModelRegistries(kubeflow.NewModelRegistry("models", team).
			WithStorage("standard", "20Gi").
			WithDisplayName("Models of team A"))
}
