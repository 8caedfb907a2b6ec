package kubeflow_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kubeflow"
	"github.com/planewright/planewright/kubeflow/kubeflowtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// withTrainer is a stack of base and trainer, the trainer at a pin.
func withTrainer(pin string, through ...string) kubeflow.KubeflowStack {
	release := kubeflowtest.Release()
	o, _ := release.Operator(kubeflow.ComponentTrainer)
	o.CSV, o.Through = pin, through
	return kubeflow.NewKubeflowStack("ml", release.WithOperators(o), "global", "workload").WithHost(kubeflowtest.Host).WithTrainer(kubeflow.NewTrainer())
}

func trainers(versions ...string) kubeflowtest.Package {
	var p kubeflowtest.Package
	for _, have := range kubeflowtest.Packages() {
		if have.Name == "kubeflow-trainer-operator" {
			p = have
		}
	}
	kinds := p.Versions[0].Kinds
	p.Versions = nil
	for _, v := range versions {
		p.Versions = append(p.Versions, kubeflowtest.Version{CSV: "kubeflow-trainer-operator." + v, Kinds: kinds})
	}
	return p
}

func TestAnOperatorIsUpgradedToItsNewPinAndNoFurther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Offer(trainers("v2.1.0", "v2.2.0", "v2.3.0"))
		settle()
		install(t, w, withTrainer("kubeflow-trainer-operator.v2.1.0"))
		next := withTrainer("kubeflow-trainer-operator.v2.2.0")
		plan, err := next.Plan(t.Context(), w.Env())
		require.NoError(t, err)
		step, _ := plan.Step("kubeflow/ml/trainer/operator")
		assert.Equal(t, planewright.ActionUpdate, step.Change.Action)
		assert.Equal(t, []planewright.FieldDiff{{Path: "installedCSV", Before: "kubeflow-trainer-operator.v2.1.0", After: "kubeflow-trainer-operator.v2.2.0"}}, step.Change.Diff)

		install(t, w, next)
		settle()
		sub := get(t, w, "operators.coreos.com/v1alpha1", "Subscription", "kubeflow-trainer-operator", "kubeflow-trainer-operator")
		assert.Equal(t, "kubeflow-trainer-operator.v2.2.0", field(t, sub, "status", "installedCSV"))
		assert.Equal(t, "UpgradePending", field(t, sub, "status", "state"), "v2.3.0 waits for an approval that does not come")
		w.Fleet.ForgetCalls()
		assert.Empty(t, install(t, w, next).Changed())
		assert.Zero(t, w.Fleet.Writes("workload"))
		assert.Contains(t, blocked(t, w, withTrainer("kubeflow-trainer-operator.v2.1.0"), "kubeflow/ml/trainer/operator"), "an operator cannot go back")
	})
}

func TestAPlanTellsWhatAnUpgradeChangesInCustomResources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		offered := trainers("v2.1.0", "v2.2.0")
		offered.Versions[1].Kinds = []kubeflowtest.Kind{
			{Kind: "KubeflowTrainer", Example: map[string]any{"jobset": map[string]any{"enabled": false}, "runtimes": map[string]any{"torch": true}},
				Keys: map[string]string{"jobset.enabled": "Enable JobSet", "replicas": "Replicas"}},
			{Kind: "TrainerProfile"},
		}
		w.Offer(offered)
		w.Settle()
		install(t, w, withTrainer("kubeflow-trainer-operator.v2.1.0"))
		plan, err := withTrainer("kubeflow-trainer-operator.v2.2.0").Plan(t.Context(), w.Env())
		require.NoError(t, err)
		step, _ := plan.Step("kubeflow/ml/trainer/operator")
		assert.Equal(t, []planewright.FieldDiff{
			{Path: "installedCSV", Before: "kubeflow-trainer-operator.v2.1.0", After: "kubeflow-trainer-operator.v2.2.0"},
			{Path: "KubeflowTrainer: spec.jobset.enabled", Before: "true", After: "false"},
			{Path: "KubeflowTrainer: spec.replicas", After: "Replicas"},
			{Path: "KubeflowTrainer: spec.runtimes.torch", After: "true"},
			{Path: "definition trainerprofiles.operator.alauda.io", After: "operator.alauda.io/v1"},
		}, step.Change.Diff)

		w.Offer(trainers("v2.1.0", "v2.2.0", "v2.3.0"))
		w.Settle()
		plan, err = withTrainer("kubeflow-trainer-operator.v2.2.0").Plan(t.Context(), w.Env())
		require.NoError(t, err)
		step, _ = plan.Step("kubeflow/ml/trainer/operator")
		assert.Contains(t, step.Change.Reason, "the catalog describes kubeflow-trainer-operator.v2.3.0 alone, so what changes in custom resources is known once the operator is there")
	})
}

// approving looks at the other operators whenever an install plan is approved.
type approving struct {
	kube.Objects
	look func(approved string)
}

func (a approving) Patch(ctx context.Context, ref kube.Ref, patch kube.Patch) (*unstructured.Unstructured, error) {
	if ref.Kind == "InstallPlan" {
		a.look(ref.Namespace)
	}
	return a.Objects.Patch(ctx, ref, patch)
}

func TestOperatorsAreUpgradedOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		pinned := func(trainer, pipelines string) kubeflow.KubeflowStack {
			release := kubeflowtest.Release().WithPin(kubeflow.ComponentTrainer, trainer).WithPin(kubeflow.ComponentPipelines, pipelines)
			return kubeflow.NewKubeflowStack("ml", release, "global", "workload").WithHost(kubeflowtest.Host).
				WithPipelines(kubeflow.NewPipelines()).WithTrainer(kubeflow.NewTrainer())
		}
		install(t, w, pinned("kubeflow-trainer-operator.v2.1.0", "kfp-operator.v26.3.0"))
		w.Settle()
		var order []string
		workload := w.Cluster("workload")
		workload.Objects = approving{workload.Objects, func(approved string) {
			order = append(order, approved)
			for _, o := range w.Fleet.Objects("workload") {
				if o.GetKind() == "ClusterServiceVersion" && o.GetNamespace() != "aml-operator" {
					assert.Equal(t, "Succeeded", field(t, o, "status", "phase"), "%s while a plan in %s is approved", o.GetName(), approved)
				}
			}
		}}
		var waited bool
		_, err := pinned("kubeflow-trainer-operator.v2.2.0", "kfp-operator.v26.3.1").Install(t.Context(), w.Env().WithClusters(workload),
			planewright.WithEvents(func(e planewright.Event) {
				waited = waited || e.Message == "waits until another operator has been upgraded"
			}))
		require.NoError(t, err)
		assert.ElementsMatch(t, []string{"kfp-operator", "kubeflow-trainer-operator"}, order)
		assert.True(t, waited)
		for ns, csv := range map[string]string{"kfp-operator": "kfp-operator.v26.3.1", "kubeflow-trainer-operator": "kubeflow-trainer-operator.v2.2.0"} {
			get(t, w, "operators.coreos.com/v1alpha1", "ClusterServiceVersion", ns, csv)
		}
	})
}

func TestVersionsOnTheWayToAPinAreNamedOrNotInstalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Offer(trainers("v2.1.0", "v2.2.0", "v2.3.0"))
		settle()
		install(t, w, withTrainer("kubeflow-trainer-operator.v2.1.0"))
		settle()
		assert.Contains(t, blocked(t, w, withTrainer("kubeflow-trainer-operator.v2.3.0"), "kubeflow/ml/trainer/operator"),
			"it would install kubeflow-trainer-operator.v2.2.0; only kubeflow-trainer-operator.v2.3.0 may be installed here")
		install(t, w, withTrainer("kubeflow-trainer-operator.v2.3.0", "kubeflow-trainer-operator.v2.2.0"))
		get(t, w, "operators.coreos.com/v1alpha1", "ClusterServiceVersion", "kubeflow-trainer-operator", "kubeflow-trainer-operator.v2.3.0")
	})
}

func TestAPinThatChangesBeforeAnythingIsInstalledMakesTheSubscriptionAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Break("kubeflow-trainer-operator", kubeflowtest.NoPlan)
		_, err := withTrainer("kubeflow-trainer-operator.v2.1.0").Install(t.Context(), w.Env(), planewright.WithStepTimeout(time.Minute))
		require.ErrorIs(t, err, planewright.ErrTimeout)
		w.Mend("kubeflow-trainer-operator")
		settle()
		install(t, w, withTrainer("kubeflow-trainer-operator.v2.2.0"))
		get(t, w, "operators.coreos.com/v1alpha1", "ClusterServiceVersion", "kubeflow-trainer-operator", "kubeflow-trainer-operator.v2.2.0")
	})
}

func TestAPackageThatIsNotOfferedIsWaitedForOnRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, kubeflowtest.WithPackages(kubeflowtest.Packages()[1:]...))
		found := findings(t, w, bare(), kubeflow.CodeNotOffered)
		require.Len(t, found, 1)
		assert.Equal(t, "catalog cpaas-system/platform does not offer the package kfbase-operator", found[0].Cause)
		assert.Equal(t, "upload its bundle for the nodes' architecture: violet push kfbase-operator.v26.3.0.amd64.tgz --platform-address <address> --platform-token <token> --clusters workload --target-catalog-source platform", found[0].Fix)
		time.AfterFunc(3*time.Minute, func() { w.Offer(kubeflowtest.Packages()...) })
		install(t, w, bare().WithPackageWait())
		get(t, w, "operators.coreos.com/v1alpha1", "ClusterServiceVersion", "kfbase-operator", "kfbase-operator.v26.3.0")
	})
}

func TestAReleaseWithoutAPinListsWhatTheCatalogOffers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		stack := kubeflow.NewKubeflowStack("ml", kubeflow.Release2603(), "global", "workload").WithHost(kubeflowtest.Host).WithPipelines(kubeflow.NewPipelines())
		found := findings(t, w, stack, kubeflow.CodePinMissing)
		require.Len(t, found, 2)
		assert.Equal(t, "release 26.03 does not say which version of kfp-operator to install; the catalog offers alpha: kfp-operator.v26.3.1, kfp-operator.v26.3.0", found[1].Cause)
		assert.Equal(t, `choose one with Release.WithPin("pipelines", …)`, found[1].Fix)
	})
}

func TestABundleIsUploadedForEachArchitectureThatNodesHaveAndThePinRunsOn(t *testing.T) {
	for pin, want := range map[string]string{
		"kfp-operator.v26.3.0": "change the pin, or upload its bundle for the nodes' architecture: violet push kfp-operator.v26.3.0.amd64.tgz --platform-address <address> --platform-token <token> --clusters workload --target-catalog-source platform",
		"kfp-operator.v26.3.1": "change the pin, or upload its bundle for the nodes' architecture: violet push kfp-operator.v26.3.1.amd64.tgz --platform-address <address> --platform-token <token> --clusters workload --target-catalog-source platform; " +
			"violet push kfp-operator.v26.3.1.arm64.tgz --platform-address <address> --platform-token <token> --clusters workload --target-catalog-source platform",
	} {
		synctest.Test(t, func(t *testing.T) {
			pipelines := kubeflowtest.Packages()[1]
			pipelines.Versions = []kubeflowtest.Version{{CSV: "kfp-operator.v26.2.0", Kinds: pipelines.Versions[0].Kinds}}
			w := newWorld(t)
			w.Offer(pipelines)
			w.Settle()
			w.Fleet.Configure("workload", nodes("amd64", "arm64"))
			stack := kubeflow.NewKubeflowStack("ml", kubeflowtest.Release().WithPin(kubeflow.ComponentPipelines, pin), "global", "workload").
				WithHost(kubeflowtest.Host).WithPipelines(kubeflow.NewPipelines())
			found := findings(t, w, stack, kubeflow.CodeNotOffered)
			require.Len(t, found, 1)
			assert.Equal(t, want, found[0].Fix)
		})
	}
}
