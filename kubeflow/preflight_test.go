package kubeflow_test

import (
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
	"k8s.io/apimachinery/pkg/runtime"
)

// crd is a definition that takes anything, of what is in namespaces or is not.
func crd(group, version, kind, plural, scope string) *unstructured.Unstructured {
	return manifest("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", plural+"."+group, map[string]any{"spec": map[string]any{
		"group": group, "scope": scope, "names": map[string]any{"kind": kind, "listKind": kind + "List", "plural": plural, "singular": plural[:len(plural)-1]},
		"versions": []any{map[string]any{"name": version, "served": true, "storage": true, "schema": map[string]any{
			"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}},
	}})
}

func workloadWith(objects ...runtime.Object) kubeflowtest.Option {
	return kubeflowtest.WithWorkloadObjects(objects...)
}

// oldPlugin is a cluster plugin of a release before 2.3.
func oldPlugin(name string) *unstructured.Unstructured {
	return manifest("cluster.alauda.io/v1alpha1", "ModuleInfo", "", "", map[string]any{"metadata": map[string]any{
		"name": "workload-" + name, "labels": map[string]any{"cpaas.io/cluster-name": "workload", "cpaas.io/module-name": name}}})
}

// nodes are nodes of the given architectures.
func nodes(architectures ...string) kubefake.ClusterOption {
	var all []kube.Node
	for i, a := range architectures {
		all = append(all, kube.Node{Name: "node-" + string(rune('a'+i)), Architecture: a, Ready: true, Schedulable: true})
	}
	return kubefake.WithNodes(all...)
}

// What is wrong with a platform, and what a user reads then, before anything is written.
func TestEachThingThatIsWrongWithAPlatformIsAFinding(t *testing.T) {
	pipelines := bare().WithPipelines(kubeflow.NewPipelines())
	trainer := bare().WithTrainer(kubeflow.NewTrainer())
	type (
		options = []kubeflowtest.Option
		cluster = []kubefake.ClusterOption
	)
	const fatal, warning = planewright.SeverityError, planewright.SeverityWarning
	for name, tt := range map[string]struct {
		stack      kubeflow.KubeflowStack
		world      options
		workload   cluster
		code       string
		severity   planewright.Severity
		cause, fix string
	}{
		"no OLM": {bare(), options{kubeflowtest.WithoutDefinition("installplans.operators.coreos.com")}, nil, kubeflow.CodeNoOLM, fatal,
			"cluster workload does not serve InstallPlan of operators.coreos.com/v1alpha1",
			"install the Operator Lifecycle Manager, or give the right workload cluster"},
		"no Alauda AI": {bare(), options{kubeflowtest.WithoutDefinition("amlclusters.amlclusters.aml.dev")}, nil, kubeflow.CodePlatform, fatal,
			"cluster workload has no Alauda AI: AmlCluster default does not exist",
			"install Alauda AI 2.3.0 or newer"},
		"an old Alauda AI": {bare(), options{workloadWith(manifest("operators.coreos.com/v1alpha1", "ClusterServiceVersion", "aml-operator", "aml-operator.v2.2.1",
			map[string]any{"spec": map[string]any{"version": "2.2.1"}}))}, nil, kubeflow.CodePlatform, fatal,
			"Alauda AI is 2.2.1; Kubeflow's operators need 2.3.0",
			"upgrade Alauda AI first"},
		"no KServe": {bare(), options{kubeflowtest.WithoutDefinition("kserves.components.aml.dev")}, nil, kubeflow.CodeKServe, fatal,
			"cluster workload has no KServe: kserve default-kserve does not exist",
			"install KServe in Alauda AI"},
		"no LeaderWorkerSet": {trainer, options{kubeflowtest.WithoutDefinition("leaderworkersets.leaderworkerset.x-k8s.io")}, nil, kubeflow.CodeLeaderWorkerSet, fatal,
			"the trainer needs LeaderWorkerSet, and its definition leaderworkersets.leaderworkerset.x-k8s.io is not in the cluster",
			"switch it on in Alauda AI: spec.components.lws.managementState: Managed in AmlCluster default, and wait until it is there"},
		"JobSet twice": {trainer, options{workloadWith(crd("jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets", "Namespaced"))}, nil, kubeflow.CodeJobSet, fatal,
			"JobSet is in the cluster already (jobsets.jobset.x-k8s.io), and the trainer would bring a second one; their webhooks fight",
			"use WithJobSet(false), or uninstall the other one"},
		"Kueue": {trainer, options{workloadWith(crd("kueue.x-k8s.io", "v1beta1", "ClusterQueue", "clusterqueues", "Cluster"))}, nil, kubeflow.CodeKueue, warning,
			"Kueue is in the cluster; newer versions of it expect trainer 2.2.0 and leave jobs of kubeflow-trainer-operator.v2.1.0 suspended for ever",
			"try a TrainJob in a queue; if it stays suspended, keep Kueue at the version that was tested with this trainer"},
		"an old Kubernetes": {trainer, nil, cluster{kubefake.WithVersion("v1.32.2")}, kubeflow.CodeServerVersion, fatal,
			"the API server is v1.32.2, and kubeflow-trainer-operator.v2.1.0 needs 1.32.3",
			"upgrade the cluster, or leave the component out"},
		"a Kubernetes too new for the mesh": {bare(), nil, cluster{kubefake.WithVersion("v1.37.2")}, kubeflow.CodeServerVersion, warning,
			"Istio 1.30 supports Kubernetes 1.32 to 1.36, and the API server is v1.37.2",
			"upgrade the one that is behind"},
		"two meshes": {bare(), options{kubeflowtest.WithMeshV1(), workloadWith(crd("sailoperator.io", "v1", "Istio", "istios", "Cluster"),
			manifest("sailoperator.io/v1", "Istio", "", "default", map[string]any{"spec": map[string]any{"namespace": "istio-system"}}))}, nil, kubeflow.CodeMesh, fatal,
			"cluster workload has a service mesh of version 1 and one of version 2; they exclude each other",
			"uninstall version 1"},
		"a deprecated mesh": {bare().WithMesh(kubeflow.ServiceMeshV1()), options{kubeflowtest.WithMeshV1()}, nil, kubeflow.CodeMeshDeprecated, warning,
			"service mesh version 1 is deprecated",
			"move to version 2, and use ServiceMeshV2"},
		"an old plugin": {bare(), options{kubeflowtest.WithGlobalObjects(oldPlugin("kfbase"))}, nil, kubeflow.CodeOldPlugin, fatal,
			"the cluster plugin kfbase is installed; the operators cannot take over from it",
			"back up the pipelines' database and object store, and list profiles and their people (kubectl get profiles,rolebindings -A -o yaml); uninstall the plugins in the platform, kfp before kfbase; then install"},
		"the old trainer": {trainer, options{kubeflowtest.WithGlobalObjects(oldPlugin("kftraining"))}, nil, kubeflow.CodeOldPlugin, fatal,
			"the cluster plugin kftraining is installed; the operators cannot take over from it",
			"let the training jobs end and back up what describes them (kubectl get pytorchjobs,tfjobs -A -o yaml); uninstall the plugin in the platform; then install"},
		"other pipelines": {pipelines, options{workloadWith(crd("opendatahub.io", "v1", "DataSciencePipelinesApplication", "datasciencepipelinesapplications", "Namespaced"))}, nil, kubeflow.CodeOtherPipelines, fatal,
			"the Data Science Pipelines operator is in this cluster (datasciencepipelinesapplications.opendatahub.io); it and the Kubeflow Pipelines operator exclude each other",
			"uninstall it and delete its definition, or leave out WithPipelines"},
		"arm64 alone": {pipelines, nil, cluster{nodes("arm64")}, kubeflow.CodeArchitecture, fatal,
			"kfp-operator.v26.3.1 runs on amd64, and the nodes are arm64",
			"set global.images.kfpMetadataWriter.enabled to false by WithValues"},
		"mixed nodes": {pipelines, nil, cluster{nodes("amd64", "arm64")}, kubeflow.CodeArchitecture, warning,
			"kfp-operator.v26.3.1 runs on amd64, and the nodes are amd64 or arm64",
			"set global.images.kfpMetadataWriter.enabled to false by WithValues"},
		"no default storage class": {bare(), nil, cluster{kubefake.WithStorageClasses(kube.StorageClass{Name: "slow", Provisioner: "disk.example"})}, kubeflow.CodeStorageClass, fatal,
			"cluster workload has no default storage class, and the base's values name none; its database would wait for a volume for ever",
			"make one the default, or set the base's key for it (pgStorageClass) by WithValues; there are slow"},
		"no access URL": {bare(), options{kubeflowtest.WithAccessURLs("https://other.acme.example")}, nil, kubeflow.CodePlatformURL, fatal,
			"https://kubeflow.acme.example is not among the platform's access URLs, so the login will not send anybody back to it",
			`add it in the platform's settings, or: kubectl patch productbase base --type=json -p '[{"op":"add","path":"/spec/alternativeURLs/-","value":"https://kubeflow.acme.example"}]'; or have it done by WithManagedPlatformURL`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, tt.world...)
				w.Fleet.Configure("workload", tt.workload...)
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
				assert.Zero(t, w.Fleet.Writes("workload")+w.Fleet.Writes("global"), "nothing is written")
			})
		})
	}
}

func TestPipelinesRunOnArm64WithTheSettingThatTheirVersionNeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Fleet.Configure("workload", nodes("arm64"))
		set := kubeflow.NewPipelines().WithValues(kube.Values{}.Set("global.images.kfpMetadataWriter.enabled", false))
		assert.Empty(t, findings(t, w, bare().WithPipelines(set), kubeflow.CodeArchitecture))
		older := kubeflow.NewKubeflowStack("ml", kubeflowtest.Release().WithPin(kubeflow.ComponentPipelines, "kfp-operator.v26.3.0"), "global", "workload").
			WithHost(kubeflowtest.Host).WithPipelines(set)
		found := findings(t, w, older, kubeflow.CodeArchitecture)
		require.Len(t, found, 1)
		assert.Equal(t, "add nodes that fit, or leave the component out", found[0].Fix)
	})
}

func TestAllThatIsWrongIsToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, kubeflowtest.WithAccessURLs(), kubeflowtest.WithGlobalObjects(oldPlugin("kfp")),
			kubeflowtest.WithoutDefinition("leaderworkersets.leaderworkerset.x-k8s.io"), kubeflowtest.WithPackages(kubeflowtest.Packages()[1:]...))
		_, err := whole().Install(t.Context(), w.Env())
		require.ErrorIs(t, err, planewright.ErrBlocked)
		for _, code := range []string{kubeflow.CodePlatformURL, kubeflow.CodeOldPlugin, kubeflow.CodeLeaderWorkerSet, kubeflow.CodeNotOffered} {
			require.ErrorContains(t, err, "["+code+"]")
		}
		assert.Zero(t, w.Fleet.Writes("workload"))
		assert.Zero(t, w.Fleet.Writes("global"))
	})
}

func TestTheWrongClusterIsTakenForWhatItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		stack := kubeflow.NewKubeflowStack("ml", kubeflowtest.Release(), "workload", "workload").WithHost(kubeflowtest.Host)
		found := findings(t, w, stack, kubeflow.CodePlatform)
		require.Len(t, found, 1)
		assert.Equal(t, "give NewKubeflowStack the platform's global cluster; a usual mistake is the workload cluster's kubeconfig", found[0].Fix)
		found = findings(t, w, stack, kubeflow.CodeCertificate)
		require.Len(t, found, 1)
		assert.Equal(t, "the Secret of the login's certificate does not exist", found[0].Cause)
	})
}

func TestACertificateThatEndsIsAFinding(t *testing.T) {
	for name, tt := range map[string]struct {
		left     time.Duration
		severity planewright.Severity
	}{"soon": {10 * 24 * time.Hour, planewright.SeverityWarning}, "already": {-time.Hour, planewright.SeverityError}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				<-time.After(48 * time.Hour) // the certificate begins when virtual time does
				w := newWorld(t)
				text := kubeflowtest.CertificateUntil("acp.acme.example", 3, time.Now().Add(tt.left))
				edit(t, w, "global", kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "cpaas-system", Name: "dex.tls"}, func(o *unstructured.Unstructured) {
					_ = unstructured.SetNestedField(o.Object, encoded(text), "data", "tls.crt")
				})
				found := findings(t, w, bare(), kubeflow.CodeCertificate)
				require.Len(t, found, 1)
				assert.Equal(t, tt.severity, found[0].Severity)
			})
		})
	}
}

func TestMissingPermissionsAreAllNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Fleet.Configure("workload", kubefake.WithDenied(
			kube.Access{Verb: "patch", Group: "operators.coreos.com", Resource: "installplans"},
			kube.Access{Verb: "update", Group: "sailoperator.io", Resource: "istios"}))
		w.Fleet.Configure("global", kubefake.WithDenied(kube.Access{Verb: "get", Resource: "secrets", Namespace: "cpaas-system"}))
		var causes []string
		for _, f := range findings(t, w, bare(), kubeflow.CodeDenied) {
			causes = append(causes, f.Cause)
		}
		assert.Equal(t, []string{
			"the credentials for cluster workload may not patch installplans.operators.coreos.com in namespace kfbase-operator",
			"the credentials for cluster workload may not update istios.sailoperator.io in all namespaces",
			"the credentials for cluster global may not get secrets in namespace cpaas-system",
		}, causes)
		assert.Contains(t, blocked(t, w, bare(), "kubeflow/ml/login-certificate"), "denied")
	})
}

func TestTheAccessURLIsAddedOnRequestAndTakenAwayAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, kubeflowtest.WithAccessURLs("https://other.acme.example"))
		base := kube.Ref{APIVersion: "product.alauda.io/v1alpha2", Kind: "ProductBase", Name: "base"}
		before := spec(t, w, "global", base)
		stack := bare().WithManagedPlatformURL()
		install(t, w, stack)
		assert.Equal(t, []any{"https://other.acme.example", "https://kubeflow.acme.example"}, spec(t, w, "global", base)["alternativeURLs"])
		plan, err := stack.Plan(t.Context(), w.Env())
		require.NoError(t, err)
		planewright.AssertNoChanges(t, plan)

		_, err = stack.Uninstall(t.Context(), w.Env())
		require.NoError(t, err)
		assert.Equal(t, before, spec(t, w, "global", base))
	})
}
