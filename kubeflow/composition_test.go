package kubeflow_test

import (
	"context"
	"fmt"
	"log"
	"testing"
	"testing/synctest"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/internal/testcharts"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kube/live"
	"github.com/planewright/planewright/kubeflow"
	"github.com/planewright/planewright/kubeflow/kubeflowtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// flyteOn is a Flyte in the cluster that Kubeflow comes into.
func flyteOn(w *kubeflowtest.World) planewright.Stack {
	return flyte.NewSingleCluster("ml", flyte.V1_16_8, "workload").
		WithStorage(flyte.S3("acme-flyte", "us-east-1")).
		WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("hunter2"))).
		On(flyte.NewEnv(w.Cluster("workload")).WithCharts(live.ChartFS(testcharts.FS(), ".")))
}

// handover is a step of a user's own that needs something of both.
func handover(done *bool) planewright.Stack {
	return planewright.NewStack("handover").WithSteps(planewright.Step{
		ID:    "handover/tell",
		Needs: []string{"flyte/ml/release", "kubeflow/ml/pipelines/instance"},
		Check: func(context.Context, *planewright.Run) (planewright.Change, error) {
			if *done {
				return planewright.Change{}, nil
			}
			return planewright.Change{Action: planewright.ActionCreate}, nil
		},
		Apply: func(context.Context, *planewright.Run) error {
			*done = true
			return nil
		},
	})
}

func TestFlyteAndKubeflowAreInstalledAsOneGraph(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		told := false
		stacks := func() []planewright.Argument {
			return []planewright.Argument{flyteOn(w), whole().On(w.Env()), handover(&told)}
		}
		plan, err := planewright.Plan(t.Context(), stacks()...)
		require.NoError(t, err)
		assert.True(t, plan.Touches("flyte/ml/*") && plan.Touches("kubeflow/ml/*/*"))

		report, err := planewright.Install(t.Context(), stacks()...)
		require.NoError(t, err)
		assert.True(t, told)
		step := func(id string) planewright.StepReport {
			s, ok := report.Step(id)
			require.True(t, ok, id)
			assert.Equal(t, planewright.OutcomeDone, s.Outcome, id)
			return s
		}
		release, base := step("flyte/ml/release"), step("kubeflow/ml/base/operator")
		assert.True(t, release.Started.Before(base.Ended), "neither waits for the other")
		last := step("handover/tell")
		assert.False(t, last.Started.Before(release.Ended) || last.Started.Before(step("kubeflow/ml/pipelines/instance").Ended), "what needs both does")

		w.Settle()
		w.Fleet.ForgetCalls()
		again, err := planewright.Install(t.Context(), stacks()...)
		require.NoError(t, err)
		assert.Empty(t, again.Changed())
		assert.Zero(t, w.Fleet.Writes("workload")+w.Fleet.Writes("global"))

		gone, err := planewright.Uninstall(t.Context(), stacks()...)
		require.NoError(t, err)
		assert.NotContains(t, names(w, "workload", "Deployment"), "flyte/flyte-backend-flyte-binary")
		assert.Empty(t, names(w, "workload", "Subscription"))
		assert.NotEmpty(t, gone.Kept)
	})
}

func TestWhatFailsInFlyteDoesNotStopKubeflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		told := false
		w.Fleet.Fail(kubefake.Call("write").Named("flyte/*").Kind("Deployment"), kubefake.Denied)
		report, err := planewright.Install(t.Context(), flyteOn(w), whole().On(w.Env()), handover(&told))
		require.ErrorIs(t, err, planewright.ErrDenied)
		for id, outcome := range map[string]planewright.Outcome{
			"flyte/ml/release":                    planewright.OutcomeFailed,
			"kubeflow/ml/pipelines/instance":      planewright.OutcomeDone,
			"kubeflow/ml/trainer/instance":        planewright.OutcomeDone,
			"kubeflow/ml/profiles/team-a/profile": planewright.OutcomeDone,
			"handover/tell":                       planewright.OutcomeNotTried,
		} {
			s, _ := report.Step(id)
			assert.Equal(t, outcome, s.Outcome, id)
		}
		w.Fleet.Heal()
		_, err = planewright.Install(t.Context(), flyteOn(w), whole().On(w.Env()), handover(&told))
		require.NoError(t, err)
		assert.True(t, told)
	})
}

// Flyte and Kubeflow in one install: their steps run beside each other, and the
// report is one.
func Example_withFlyte() {
	ctx := context.Background()
	world := kubeflowtest.NewWorld()
	defer world.Close()

	deployment := flyte.NewSingleCluster("ml", flyte.V1_16_8, "workload").
		WithStorage(flyte.S3("acme-flyte", "us-east-1")).
		WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("hunter2")))
	stack := kubeflow.NewKubeflowStack("ml", world.Release(), "global", "workload").WithHost("kubeflow.acme.example")

	report, err := planewright.Install(ctx,
		deployment.On(flyte.NewEnv(world.Cluster("workload")).WithCharts(live.ChartFS(testcharts.FS(), "."))),
		stack.On(world.Env()))
	if err != nil {
		log.Fatal(err)
	}
	for _, id := range []string{"flyte/ml/release", "kubeflow/ml/base/instance"} {
		step, _ := report.Step(id)
		fmt.Println(step.Outcome, step.Title)
	}
	// Output:
	// done Helm release flyte/flyte-backend of flyte-binary v1.16.8
	// done KubeflowBase kfbase-operator/kubeflowbase
}
