package kubeflow_test

import (
	"testing"
	"testing/synctest"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kubeflow"
	"github.com/planewright/planewright/kubeflow/kubeflowtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInstallBringsEveryOperatorToItsPinAndASecondOnePersistsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		report := install(t, w, whole())
		assert.Equal(t, []string{
			"kubeflow-trainer-operator/kubeflow-trainer-operator.v2.1.0",
			"kfbase-operator/kfbase-operator.v26.3.0",
			"kfp-operator/kfp-operator.v26.3.1",
			"model-registry-operator/model-registry-operator.v0.3.0",
		}, pinned(t, w))
		assert.Equal(t, []string{"team-a"}, names(w, "workload", "Profile"))
		address, err := whole().GatewayAddress().From(report)
		require.NoError(t, err)
		assert.Equal(t, "kubeflow-istio-ingressgateway.istio-system.workload.example", address)
		assert.Contains(t, report.Next, "make the DNS record kubeflow.acme.example CNAME kubeflow-istio-ingressgateway.istio-system.workload.example")

		w.Fleet.ForgetCalls()
		again := install(t, w, whole())
		assert.Empty(t, again.Changed())
		for _, cluster := range w.Fleet.Names() {
			assert.Zero(t, w.Fleet.Writes(cluster), "writes on %s: %v", cluster, w.Fleet.Calls())
		}

		verified, err := whole().Verify(t.Context(), w.Env())
		require.NoError(t, err)
		assert.True(t, verified.OK(), verified.String())
	})
}

// pinned lists the CSVs of Kubeflow's operators that have succeeded.
func pinned(t *testing.T, w *kubeflowtest.World) []string {
	t.Helper()
	var list []string
	for _, c := range []kubeflow.Component{kubeflow.ComponentTrainer, kubeflow.ComponentBase, kubeflow.ComponentPipelines, kubeflow.ComponentModelRegistry} {
		o, _ := kubeflowtest.Release().Operator(c)
		csv := get(t, w, "operators.coreos.com/v1alpha1", "ClusterServiceVersion", o.Package, o.CSV)
		require.Equal(t, "Succeeded", field(t, csv, "status", "phase"))
		list = append(list, o.Package+"/"+o.CSV)
	}
	return list
}

func TestUninstallLeavesProfilesAndDefinitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		install(t, w, whole())
		definitions := names(w, "workload", "CustomResourceDefinition")
		report, err := whole().Uninstall(t.Context(), w.Env())
		require.NoError(t, err)
		settle()
		assert.Equal(t, []string{"team-a"}, names(w, "workload", "Profile"))
		assert.Contains(t, names(w, "workload", "Namespace"), "team-a")
		assert.Equal(t, definitions, names(w, "workload", "CustomResourceDefinition"))
		for _, kind := range []string{"KubeflowBase", "KubeflowPipelines", "KubeflowTrainer", "ModelRegistry", "Subscription", "InstallPlan", "OperatorGroup", "Lease"} {
			assert.Empty(t, names(w, "workload", kind), kind)
		}
		assert.Equal(t, []string{"aml-operator/aml-operator.v2.3.0"}, names(w, "workload", "ClusterServiceVersion"))
		var kept []string
		for _, k := range report.Kept {
			kept = append(kept, k.Object.String()+": "+k.Reason)
		}
		assert.Contains(t, kept, "Profile team-a in cluster workload: deleting a profile deletes its namespace and all data in it")
		assert.Contains(t, kept, "CustomResourceDefinition profiles.kubeflow.org in cluster workload: definitions stay: deleting one deletes all objects of its kind")

		again, err := whole().Uninstall(t.Context(), w.Env())
		require.NoError(t, err)
		assert.NotNil(t, again)
	})
}

// Whatever write of an install is the last one of its process, whether it takes
// effect or not: the next install ends in the state of one that nothing ever
// disturbed, and the one after that changes nothing.
func TestAnInstallThatIsKilledAtAnyWriteIsFinishedByTheNext(t *testing.T) {
	stack := whole()
	if testing.Short() {
		stack = bare().WithProfiles(teamA())
	}
	var writes []write
	var want map[string]string
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		install(t, w, stack)
		settle()
		writes, want = writesOf(w), endState(w)
	})
	for i, at := range writes {
		for j, effect := range [][]kubefake.FaultOption{nil, {kubefake.AfterEffect()}} {
			if (i+j)%2 == 0 {
				continue // each write once, before and after in turn
			}
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.Fleet.Fail(at.match(), kubefake.Killed, append(effect, kubefake.After(at.nth), kubefake.Times(1))...)
				_, first := stack.Install(t.Context(), w.Env(), planewright.WithHolder("first"))
				w.Fleet.Heal()
				w.Fleet.Revive()
				_, err := stack.Install(t.Context(), w.Env(), planewright.WithHolder("second"))
				if err != nil {
					t.Fatalf("killed at %s: %v (the first one said %v)", at, err, first)
				}
				settle()
				assert.Empty(t, differences(want, endState(w)), "killed at %s", at)
				plan, err := stack.Plan(t.Context(), w.Env())
				require.NoError(t, err)
				planewright.AssertNoChanges(t, plan)
			})
			if t.Failed() {
				t.FailNow()
			}
		}
	}
	t.Logf("killed at each of %d writes", len(writes))
}
