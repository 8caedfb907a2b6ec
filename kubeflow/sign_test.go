package kubeflow_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kubeflow"
	"github.com/planewright/planewright/kubeflow/kubeflowtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What an operator shows that gets no further, and what a user reads then.
func TestEachSignOfAnOperatorThatGetsNoFurtherIsATypedError(t *testing.T) {
	for _, tt := range []struct {
		fault    kubeflowtest.Fault
		sign     kubeflow.Sign
		sentinel error
		object   string
		cause    string
		fix      string
	}{
		{kubeflowtest.CatalogUnhealthy, kubeflow.SignCatalogUnhealthy, planewright.ErrUnavailable, "Subscription kfbase-operator/kfbase-operator in cluster workload",
			"targeted catalogsource cpaas-system/platform unhealthy", "kubectl get pods -n cpaas-system -l olm.catalogSource=platform"},
		{kubeflowtest.ResolutionFailed, kubeflow.SignResolutionFailed, planewright.ErrConflict, "Subscription kfbase-operator/kfbase-operator in cluster workload",
			"constraints not satisfiable: bundle kfbase-operator requires an operator with package: other", "kubectl get subscription,csv,operatorgroup -n kfbase-operator"},
		{kubeflowtest.OtherCatalogFailed, kubeflow.SignResolutionFailed, planewright.ErrConflict, "Subscription kfbase-operator/kfbase-operator in cluster workload",
			"failed to populate resolver cache from source partners/other-namespace", "a catalog does not answer, perhaps another one than platform: mend or delete the one that is named"},
		{kubeflowtest.OldPlan, kubeflow.SignForeignPlan, planewright.ErrConflict, "InstallPlan kfbase-operator/install-",
			"it would install kfbase-operator.v0.0.1; only kfbase-operator.v26.3.0 may be installed here", "a plan that is left over from an older catalog keeps newer ones away"},
		{kubeflowtest.BundleUnpackFailed, kubeflow.SignBundleUnpackFailed, planewright.ErrUnavailable, "Subscription kfbase-operator/kfbase-operator in cluster workload",
			"Back-off pulling image registry.acme.example/kfbase-operator-bundle:v1", "violet push kfbase-operator.v26.3.0.tgz"},
		{kubeflowtest.NoPlan, kubeflow.SignStalled, planewright.ErrTimeout, "Subscription kfbase-operator/kfbase-operator in cluster workload",
			"no install plan leads to kfbase-operator.v26.3.0", "delete the Subscription"},
		{kubeflowtest.ForeignPlan, kubeflow.SignForeignPlan, planewright.ErrConflict, "InstallPlan kfbase-operator/install-",
			"it would install kfbase-operator.v26.3.0, other-operator.v9.9.9; only kfbase-operator.v26.3.0 may be installed here, so it is not approved", "give the operator a namespace of its own"},
		{kubeflowtest.PlanFailed, kubeflow.SignPlanFailed, planewright.ErrUnavailable, "InstallPlan kfbase-operator/install-",
			"couldn't find unpacked step", "delete the Subscription, and install again"},
		{kubeflowtest.RequirementsNotMet, kubeflow.SignRequirements, planewright.ErrNotFound, "ClusterServiceVersion kfbase-operator/kfbase-operator.v26.3.0 in cluster workload",
			"ServiceAccount controller-manager: NotPresent", "provide what is missing"},
		{kubeflowtest.CSVFailed, kubeflow.SignFailed, planewright.ErrUnavailable, "ClusterServiceVersion kfbase-operator/kfbase-operator.v26.3.0 in cluster workload",
			"phase Failed, reason InstallCheckFailed: install timeout", "look at the operator's Deployment and events in namespace kfbase-operator"},
		{kubeflowtest.NeverAvailable, kubeflow.SignInstalling, planewright.ErrTimeout, "ClusterServiceVersion kfbase-operator/kfbase-operator.v26.3.0 in cluster workload",
			"waiting for deployment kfbase-operator to become ready", "look at why the operator's pods do not become ready"},
		{kubeflowtest.ReleaseFailed, kubeflow.SignReleaseFailed, planewright.ErrUnavailable, "KubeflowBase kfbase-operator/kubeflowbase in cluster workload",
			"failed to install release: admission webhook denied the request", "it goes on by itself"},
	} {
		t.Run(string(tt.fault), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.Break("kfbase-operator", tt.fault)
				_, err := bare().Install(t.Context(), w.Env(), planewright.WithStepTimeout(5*time.Minute))
				operator, ok := errors.AsType[*kubeflow.OperatorError](err)
				require.True(t, ok, "%v", err)
				assert.Equal(t, tt.sign, operator.Sign)
				require.ErrorIs(t, err, tt.sentinel)
				assert.Contains(t, operator.Object.String(), tt.object)
				assert.Contains(t, operator.Cause, tt.cause)
				assert.Contains(t, operator.Fix, tt.fix)
				run, ok := errors.AsType[*planewright.RunError](err)
				require.True(t, ok)
				assert.Len(t, run.Failed, 1, "the cause, not its echoes: %v", err)

				if tt.fault == kubeflowtest.PlanFailed {
					return // a failed plan stays failed
				}
				w.Mend("kfbase-operator")
				if tt.fault == kubeflowtest.ForeignPlan {
					return // the plan is there, and stays what it is
				}
				settle()
				install(t, w, bare())
			})
		})
	}
}

func TestAnInstallPlanOfSomebodyElsesIsNeverApproved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Break("kfbase-operator", kubeflowtest.ForeignPlan)
		_, err := bare().Install(t.Context(), w.Env())
		require.ErrorIs(t, err, planewright.ErrConflict)
		assert.Empty(t, w.Fleet.Calls(kubefake.Call("patch").Kind("InstallPlan")))
		reason := blocked(t, w, bare(), "kubeflow/ml/base/operator")
		assert.Contains(t, reason, "foreign-plan: it would install kfbase-operator.v26.3.0, other-operator.v9.9.9")
		_, err = bare().Install(t.Context(), w.Env())
		require.ErrorIs(t, err, planewright.ErrBlocked)
		assert.Empty(t, w.Fleet.Calls(kubefake.Call("patch").Kind("InstallPlan")))
		for _, o := range w.Fleet.Objects(kubeflowtest.Workload) {
			if o.GetKind() == "InstallPlan" {
				assert.Equal(t, false, field(t, o, "spec", "approved"))
			}
		}
	})
}

func TestAPlanThatMayNotBeApprovedSaysWhichPermissionIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Fleet.Fail(kubefake.Call("patch").Kind("InstallPlan"), kubefake.Denied)
		_, err := bare().Install(t.Context(), w.Env())
		operator, ok := errors.AsType[*kubeflow.OperatorError](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, kubeflow.SignNotApproved, operator.Sign)
		require.ErrorIs(t, err, planewright.ErrDenied)
		assert.Equal(t, "grant patch on installplans.operators.coreos.com in namespace kfbase-operator", operator.Fix)
	})
}

func TestSeveralOperatorGroupsBlockThePlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		group := func(name string) *unstructured.Unstructured {
			return manifest("operators.coreos.com/v1", "OperatorGroup", "kfbase-operator", name, nil)
		}
		w := newWorld(t, kubeflowtest.WithWorkloadObjects(manifest("v1", "Namespace", "", "kfbase-operator", nil)))
		w.Add("workload", group("a"))
		install(t, w, bare().WithPipelines(kubeflow.NewPipelines()))
		assert.Equal(t, []string{"kfbase-operator/a", "kfp-operator/kfp-operator"}, names(w, "workload", "OperatorGroup"), "the one that was there is used")

		w.Add("workload", group("b"))
		assert.Equal(t, "namespace kfbase-operator has the OperatorGroups a, b, and no operator is installed in a namespace with several; delete all but one, or use another namespace",
			blocked(t, w, bare(), "kubeflow/ml/base/operatorgroup"))
		settle()
		verified, err := bare().Verify(t.Context(), w.Env())
		require.NoError(t, err)
		assert.False(t, verified.OK())
		assert.Contains(t, verified.String(), "TooManyOperatorGroups")
	})
}

func TestAnOrphanOperatorIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, kubeflowtest.WithWorkloadObjects(
			manifest("v1", "Namespace", "", "kfbase-operator", nil),
			manifest("operators.coreos.com/v1alpha1", "ClusterServiceVersion", "kfbase-operator", "kfbase-operator.v26.2.0", nil)))
		found := findings(t, w, bare(), kubeflow.CodeOrphanCSV)
		require.Len(t, found, 1)
		assert.Equal(t, planewright.SeverityError, found[0].Severity)
		assert.Equal(t, "kubectl delete csv -n kfbase-operator kfbase-operator.v26.2.0", found[0].Fix)
	})
}

func TestASubscriptionThatIsThereIsUsedWhereverItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, kubeflowtest.WithWorkloadObjects(
			manifest("v1", "Namespace", "", "operators", nil),
			manifest("operators.coreos.com/v1", "OperatorGroup", "operators", "global", nil),
			manifest("operators.coreos.com/v1alpha1", "Subscription", "operators", "pipelines", map[string]any{"spec": map[string]any{
				"name": "kfp-operator", "channel": "alpha", "source": "platform", "sourceNamespace": "cpaas-system", "installPlanApproval": "Automatic", "startingCSV": "kfp-operator.v26.3.1"}})))
		settle()
		stack := bare().WithPipelines(kubeflow.NewPipelines().WithInstance("operators", "kubeflowpipelines"))
		found := findings(t, w, stack, kubeflow.CodeSubscription)
		require.Len(t, found, 1)
		assert.Equal(t, planewright.SeverityWarning, found[0].Severity)
		assert.Contains(t, found[0].Cause, "installPlanApproval is Automatic and not Manual")
		install(t, w, stack)
		assert.NotContains(t, names(w, "workload", "Namespace"), "kfp-operator")
		assert.Equal(t, []string{"kfbase-operator/kfbase-operator", "operators/pipelines"}, names(w, "workload", "Subscription"))

		_, err := stack.Uninstall(t.Context(), w.Env())
		require.NoError(t, err)
		assert.Equal(t, []string{"operators/pipelines"}, names(w, "workload", "Subscription"), "it was not the stack's")
	})
}

func TestAnOperatorStaysWhileSomebodyElsesObjectsNeedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		install(t, w, whole())
		w.Add("workload", manifest("operator.alauda.io/v1", "ModelRegistry", "default", "theirs", nil))
		_, err := whole().Uninstall(t.Context(), w.Env())
		require.ErrorIs(t, err, planewright.ErrBlocked)
		require.ErrorContains(t, err, "operator model-registry-operator.v0.3.0 stays: ModelRegistry default/theirs would be left without anybody to remove what holds them")
		assert.Equal(t, "operator model-registry-operator.v0.3.0 stays: ModelRegistry default/theirs would be left without anybody to remove what holds them; delete them first, or keep the component",
			blocked(t, w, bare(), "kubeflow/ml/modelregistry/subscription/pruned"), "nor does a stack that no longer names the component take it away")
		ref := kube.Ref{APIVersion: "operator.alauda.io/v1", Kind: "ModelRegistry", Namespace: "default", Name: "theirs"}
		require.NoError(t, w.Cluster("workload").Objects.Delete(t.Context(), ref, kube.DeleteOptions{}))
		settle()
		_, err = whole().Uninstall(t.Context(), w.Env())
		require.NoError(t, err)
	})
}

// bundling adds another operator to an install plan right before it is approved.
type bundling struct{ kube.Objects }

func (b bundling) Patch(ctx context.Context, ref kube.Ref, patch kube.Patch) (*unstructured.Unstructured, error) {
	if ref.Kind == "InstallPlan" {
		_, err := b.Objects.Patch(ctx, ref, kube.Patch{}.WithAdded("/spec/clusterServiceVersionNames/-", "other-operator.v9.9.9"))
		if err != nil {
			return nil, err
		}
	}
	return b.Objects.Patch(ctx, ref, patch)
}

func TestAPlanThatChangesBetweenTheLookAndTheApprovalIsNotApproved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		workload := w.Cluster("workload")
		workload.Objects = bundling{workload.Objects}
		_, err := bare().Install(t.Context(), w.Env().WithClusters(workload))
		operator, ok := errors.AsType[*kubeflow.OperatorError](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, kubeflow.SignForeignPlan, operator.Sign)
		assert.Contains(t, operator.Cause, "it would install kfbase-operator.v26.3.0, other-operator.v9.9.9")
		for _, o := range w.Fleet.Objects(kubeflowtest.Workload) {
			if o.GetKind() == "InstallPlan" {
				assert.Equal(t, false, field(t, o, "spec", "approved"))
			}
		}
	})
}

// What is approved in a namespace is approved for all of it: where somebody else
// has subscribed to something in the operator's namespace, OLM puts both into one
// plan, which is left to whoever can tell.
func TestAPlanThatAlsoInstallsWhatSomebodyElseSubscribedToIsNotApproved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other := kubeflowtest.Package{Name: "other-operator", Channel: "stable", Versions: []kubeflowtest.Version{{CSV: "other-operator.v1.0.0"}, {CSV: "other-operator.v1.1.0"}}}
		theirs := manifest("operators.coreos.com/v1alpha1", "Subscription", "kfbase-operator", "theirs", map[string]any{"spec": map[string]any{
			"name": "other-operator", "channel": "stable", "source": "platform", "sourceNamespace": "cpaas-system", "installPlanApproval": "Automatic", "startingCSV": "other-operator.v1.0.0"}})
		w := newWorld(t, kubeflowtest.WithPackages(append(kubeflowtest.Packages(), other)...),
			workloadWith(manifest("v1", "Namespace", "", "kfbase-operator", nil),
				manifest("operators.coreos.com/v1", "OperatorGroup", "kfbase-operator", "all", nil), theirs))
		settle()
		installed := names(w, "workload", "ClusterServiceVersion")
		require.Contains(t, installed, "kfbase-operator/other-operator.v1.1.0", "alone, it was upgraded by itself")
		other.Versions = append(other.Versions, kubeflowtest.Version{CSV: "other-operator.v1.2.0"})
		w.Break("other-operator", kubeflowtest.NoPlan) // until the stack has subscribed
		w.Offer(other)
		workload := w.Cluster("workload")
		workload.Objects = subscribing{workload.Objects, func() { w.Mend("other-operator") }}

		_, err := bare().Install(t.Context(), w.Env().WithClusters(workload))
		operator, ok := errors.AsType[*kubeflow.OperatorError](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, kubeflow.SignForeignPlan, operator.Sign)
		assert.Contains(t, operator.Cause, "kfbase-operator.v26.3.0")
		assert.Contains(t, operator.Cause, "other-operator.v1.2.0")
		assert.Equal(t, "give the operator a namespace of its own: what is approved in a namespace is approved for all of it", operator.Fix)
		settle()
		assert.Equal(t, installed, names(w, "workload", "ClusterServiceVersion"), "neither of the two came")
		assert.Greater(t, len(names(w, "workload", "InstallPlan")), 1, "older plans of the namespace stay beside it")

		stack := bare().WithBase(kubeflow.NewBase().WithOperatorNamespace("kubeflow-base"))
		require.NoError(t, w.Cluster("workload").Objects.Delete(t.Context(),
			kube.Ref{APIVersion: "operators.coreos.com/v1alpha1", Kind: "Subscription", Namespace: "kfbase-operator", Name: "kfbase-operator"}, kube.DeleteOptions{}))
		settle()
		install(t, w, stack)
	})
}

// subscribing tells when the stack subscribes.
type subscribing struct {
	kube.Objects
	then func()
}

func (s subscribing) Apply(ctx context.Context, obj *unstructured.Unstructured, opts kube.ApplyOptions) (*unstructured.Unstructured, error) {
	if obj.GetKind() == "Subscription" {
		s.then()
	}
	return s.Objects.Apply(ctx, obj, opts)
}
