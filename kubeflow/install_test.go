package kubeflow_test

import (
	"fmt"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kubeflow"
	"github.com/planewright/planewright/kubeflow/kubeflowtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInstallBringsEveryOperatorToItsPinAndASecondOnePersistsNothing(t *testing.T) {
	w := kubeflowtest.NewWorld()
	defer w.Close()
	stack := kubeflow.NewKubeflowStack("ml", w.Release(), kubeflowtest.Global, kubeflowtest.Workload).
		WithHost(kubeflowtest.Host).WithPipelines(kubeflow.NewPipelines()).WithTrainer(kubeflow.NewTrainer())
	plan, err := stack.Plan(t.Context(), w.Env())
	require.NoError(t, err)
	fmt.Println(plan)
	_, err = stack.Install(t.Context(), w.Env(), planewright.WithEvents(func(e planewright.Event) { fmt.Println(e.Kind, e.Step, e.Message, e.Err) }))
	require.NoError(t, err)
	w.Fleet.ForgetCalls()
	again, err := stack.Install(t.Context(), w.Env())
	require.NoError(t, err)
	assert.Empty(t, again.Changed())
	assert.Zero(t, w.Fleet.Writes("workload"))
}
