package kubeflow_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kubeflow"
	"github.com/planewright/planewright/kubeflow/kubeflowtest"
)

// Kubeflow with one tenant, on a platform in memory.
func Example() {
	ctx := context.Background()
	world := kubeflowtest.NewWorld()
	defer world.Close()

	team := kubeflow.NewProfile("team-a", "ana@acme.example").WithEditors("bo@acme.example")
	stack := kubeflow.NewKubeflowStack("ml", world.Release(), "global", "workload").
		WithHost("kubeflow.acme.example").
		WithProfiles(team)

	report, err := stack.Install(ctx, world.Env())
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range report.Changed() {
		fmt.Println(step)
	}
	again, err := stack.Install(ctx, world.Env())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("changed by a second install:", len(again.Changed()))
	// Output:
	// kubeflow/ml/mesh
	// kubeflow/ml/base/namespace
	// kubeflow/ml/base/operatorgroup
	// kubeflow/ml/base/subscription
	// kubeflow/ml/base/operator
	// kubeflow/ml/base/instance
	// kubeflow/ml/profiles/team-a/profile
	// kubeflow/ml/profiles/team-a/bindings/user-bo-acme-example-clusterrole-edit
	// changed by a second install: 0
}

// An operator that gets no further says by which sign.
func ExampleOperatorError() {
	world := kubeflowtest.NewWorld()
	defer world.Close()
	world.Break("kfbase-operator", kubeflowtest.BundleUnpackFailed)

	_, err := kubeflow.NewKubeflowStack("ml", world.Release(), "global", "workload").
		WithHost("kubeflow.acme.example").
		Install(context.Background(), world.Env())
	var operator *kubeflow.OperatorError
	if errors.As(err, &operator) {
		fmt.Println(operator.Sign, errors.Is(err, planewright.ErrUnavailable))
	}
	// Output: bundle-unpack-failed true
}

// The names under which the dashboard lets people in.
func ExampleBindingName() {
	fmt.Println(kubeflow.BindingName("ana@acme.example", kubeflow.RoleEdit))
	// Output: user-ana-acme-example-clusterrole-edit
}
