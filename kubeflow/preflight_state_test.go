package kubeflow_test

import (
	"testing"
	"testing/synctest"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kubeflow"
	"github.com/planewright/planewright/kubeflow/kubeflowtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// set changes one field of an object of the workload cluster.
func set(t *testing.T, w *kubeflowtest.World, ref kube.Ref, value any, path ...string) {
	t.Helper()
	edit(t, w, "workload", ref, func(o *unstructured.Unstructured) {
		require.NoError(t, unstructured.SetNestedField(o.Object, value, path...))
	})
}

func conditions(kind, status, reason, message string) []any {
	return []any{map[string]any{"type": kind, "status": status, "reason": reason, "message": message}}
}

// What is there and does not work, or is there twice, and what a user reads then.
func TestEachThingThatDoesNotWorkIsAFinding(t *testing.T) {
	aml := kube.Ref{APIVersion: "amlclusters.aml.dev/v1alpha1", Kind: "AmlCluster", Name: "default"}
	catalog := kube.Ref{APIVersion: "operators.coreos.com/v1alpha1", Kind: "CatalogSource", Namespace: "cpaas-system", Name: "platform"}
	const fatal, warning = planewright.SeverityError, planewright.SeverityWarning
	const pod = "look at its pod: kubectl get pods -n cpaas-system -l olm.catalogSource=platform"
	registry := func(class string) kubeflow.KubeflowStack {
		return bare().WithProfiles(teamA()).WithModelRegistries(kubeflow.NewModelRegistry("models", teamA()).WithStorage(class, ""))
	}
	for name, tt := range map[string]struct {
		stack      kubeflow.KubeflowStack
		world      func(*testing.T, *kubeflowtest.World)
		code       string
		severity   planewright.Severity
		cause, fix string
	}{
		"Alauda AI is not ready": {bare(), func(t *testing.T, w *kubeflowtest.World) {
			set(t, w, aml, conditions("Ready", "False", "Reconciling", "waiting for kserve"), "status", "conditions")
		}, kubeflow.CodePlatform, fatal, "Alauda AI is not ready: Reconciling waiting for kserve", "wait until it is, or mend it"},
		"the clusters are of two platforms": {bare(), func(t *testing.T, w *kubeflowtest.World) {
			set(t, w, kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "kube-public", Name: "global-info"}, "https://other.acme.example", "data", "platformURL")
		}, kubeflow.CodePlatform, warning, "cluster workload says that it belongs to the platform https://other.acme.example, and the one in cluster global is https://acp.acme.example",
			"see whether the two clusters are of one platform: the login's certificate is taken from the global one"},
		"KServe is not deployed": {bare(), func(t *testing.T, w *kubeflowtest.World) {
			set(t, w, kube.Ref{APIVersion: "components.aml.dev/v1alpha1", Kind: "KServe", Namespace: "kserve-operator", Name: "default-kserve"},
				conditions("Deployed", "False", "InstallError", ""), "status", "conditions")
		}, kubeflow.CodeKServe, fatal, "KServe is not deployed", "wait until it is, or mend it"},
		"LeaderWorkerSet is switched off": {bare().WithTrainer(kubeflow.NewTrainer()), func(t *testing.T, w *kubeflowtest.World) {
			set(t, w, aml, "Removed", "spec", "components", "lws", "managementState")
		}, kubeflow.CodeLeaderWorkerSet, fatal, "Alauda AI does not manage LeaderWorkerSet: its managementState is Removed",
			"switch it on in Alauda AI: spec.components.lws.managementState: Managed in AmlCluster default, and wait until it is there"},
		"LeaderWorkerSet does not run": {bare().WithTrainer(kubeflow.NewTrainer()), func(t *testing.T, w *kubeflowtest.World) {
			w.Fleet.Configure("workload", kubefake.WithPullFailure("*/lws:*"))
			w.Add("workload", manifest("v1", "Namespace", "", "lws-system", nil))
			w.Add("workload", manifest("apps/v1", "Deployment", "lws-system", "lws-controller-manager", map[string]any{"spec": map[string]any{
				"replicas": int64(2), "selector": map[string]any{"matchLabels": map[string]any{"app": "lws"}},
				"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "lws"}},
					"spec": map[string]any{"containers": []any{map[string]any{"name": "lws", "image": "registry.acme.example/lws:v1"}}}}}}))
			settle()
		}, kubeflow.CodeLeaderWorkerSet, fatal, "the controller of LeaderWorkerSet does not run: Deployment lws-system/lws-controller-manager has 0 of 2 replicas",
			"switch it on in Alauda AI: spec.components.lws.managementState: Managed in AmlCluster default, and wait until it is there"},
		"two storage classes are the default": {bare(), func(_ *testing.T, w *kubeflowtest.World) {
			w.Fleet.Configure("workload", kubefake.WithStorageClasses(
				kube.StorageClass{Name: "slow", Provisioner: "disk.example", Default: true}, kube.StorageClass{Name: "fast", Provisioner: "disk.example", Default: true}))
		}, kubeflow.CodeStorageClass, warning, "several storage classes are the default: fast, slow", "keep one"},
		"a registry's storage class is missing": {registry("fast"), func(*testing.T, *kubeflowtest.World) {},
			kubeflow.CodeStorageClass, fatal, "model registry team-a/models asks for the storage class fast, which does not exist", "use WithStorage with one that does; there are standard"},
		"a registry has no storage class": {registry("").WithBase(kubeflow.NewBase().WithValues(kube.Values{}.Set("pgStorageClass", "slow"))), func(_ *testing.T, w *kubeflowtest.World) {
			w.Fleet.Configure("workload", kubefake.WithStorageClasses(kube.StorageClass{Name: "slow", Provisioner: "disk.example"}))
		}, kubeflow.CodeStorageClass, fatal, "model registry team-a/models names no storage class, and the cluster has no default", "use WithStorage with one that does; there are slow"},
		"the catalog's pod is there, and no connection to it yet": {bare(), func(t *testing.T, w *kubeflowtest.World) {
			edit(t, w, "workload", catalog, func(o *unstructured.Unstructured) { delete(o.Object, "status") })
		}, kubeflow.CodeCatalog, warning, `the catalog's state is "" and not READY; nothing can be installed from it meanwhile`, pod},
		"the catalog's connection fails": {bare(), func(t *testing.T, w *kubeflowtest.World) {
			set(t, w, catalog, "TRANSIENT_FAILURE", "status", "connectionState", "lastObservedState")
		}, kubeflow.CodeCatalog, warning, `the catalog's state is "TRANSIENT_FAILURE" and not READY; nothing can be installed from it meanwhile`, pod},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				tt.world(t, w)
				w.Fleet.ForgetCalls()
				found := findings(t, w, tt.stack, tt.code)
				require.Len(t, found, 1)
				assert.Equal(t, tt.severity, found[0].Severity)
				assert.Equal(t, tt.cause, found[0].Cause)
				assert.Equal(t, tt.fix, found[0].Fix)
				if tt.severity == fatal {
					_, err := tt.stack.Install(t.Context(), w.Env())
					require.ErrorIs(t, err, planewright.ErrBlocked)
				}
				assert.Zero(t, w.Fleet.Writes("workload"), "nothing is written")
			})
		})
	}
}

func TestAClusterWithoutAMeshBlocksThePlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, kubeflowtest.WithoutMesh())
		assert.Equal(t, "cluster workload has no Istio default; install the service mesh first, or name the one there is", blocked(t, w, bare(), "kubeflow/ml/mesh"))
		_, err := bare().Install(t.Context(), w.Env())
		require.ErrorIs(t, err, planewright.ErrBlocked)
	})
}

func TestANamespaceWhoseLabelsAskForTwoMeshesIsAFinding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		stack := bare().WithProfiles(teamA())
		install(t, w, stack)
		assert.Empty(t, findings(t, w, stack, kubeflow.CodeSidecar))
		edit(t, w, "workload", kube.Ref{APIVersion: "v1", Kind: "Namespace", Name: "team-a"}, func(o *unstructured.Unstructured) {
			labels := o.GetLabels()
			labels["istio.io/rev"] = "1-22"
			o.SetLabels(labels)
		})
		found := findings(t, w, stack, kubeflow.CodeSidecar)
		require.Len(t, found, 1)
		assert.Equal(t, planewright.SeverityWarning, found[0].Severity)
		assert.Equal(t, "Namespace team-a in cluster workload", found[0].Object.String())
		assert.Equal(t, "it has both labels istio-injection and istio.io/rev, and the first one wins", found[0].Cause)
		assert.Equal(t, "remove the one that does not belong to the mesh in use", found[0].Fix)
	})
}

func TestTheAccessURLIsCheckedAgainByAVerification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		install(t, w, bare())
		edit(t, w, "global", kube.Ref{APIVersion: "product.alauda.io/v1alpha2", Kind: "ProductBase", Name: "base"}, func(o *unstructured.Unstructured) {
			unstructured.RemoveNestedField(o.Object, "spec", "alternativeURLs")
		})
		verified, err := bare().Verify(t.Context(), w.Env())
		require.NoError(t, err)
		assert.False(t, verified.OK())
		require.Len(t, verified.Findings, 1)
		assert.Equal(t, kubeflow.CodePlatformURL, verified.Findings[0].Code)
	})
}
