package kubeflowtest

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// uninstallFinalizer is what keeps a custom resource until its chart is uninstalled.
const uninstallFinalizer = "uninstall-helm-release"

// customResources install what custom resources ask for, while their operator works.
func (r *round) customResources() {
	for _, csv := range r.all(olm, "ClusterServiceVersion") {
		pkg, ok := r.packageOf(csv.GetName())
		if !ok || textAt(csv.Object, "status", "phase") != "Succeeded" {
			continue
		}
		v, _ := pkg.version(csv.GetName())
		for _, k := range v.Kinds {
			for _, cr := range r.all(OperatorGroup, k.Kind) {
				r.customResource(pkg, cr)
			}
		}
	}
}

func (r *round) customResource(pkg Package, cr *object) {
	if cr.GetDeletionTimestamp() != nil {
		r.uninstall(cr)
		return
	}
	if !slices.Contains(cr.GetFinalizers(), uninstallFinalizer) {
		next := cr.DeepCopy()
		next.SetFinalizers(append(next.GetFinalizers(), uninstallFinalizer))
		r.update(next)
		return
	}
	if r.fault(pkg.Name) == ReleaseFailed {
		r.setStatus(cr, map[string]any{"conditions": []any{
			condition("Initialized", true, "", ""),
			condition("ReleaseFailed", true, "InstallError", "failed to install release: admission webhook denied the request"),
		}})
		return
	}
	for _, o := range r.chart(cr) {
		if r.ensure(o) == nil {
			return
		}
	}
	r.setStatus(cr, map[string]any{
		"conditions": []any{
			condition("Initialized", true, "", ""),
			condition("Deployed", true, "InstallSuccessful", "release was successfully installed"),
		},
		"deployedRelease": map[string]any{"name": cr.GetName()},
	})
}

// uninstall removes what the chart made, and lets the custom resource go.
func (r *round) uninstall(cr *object) {
	if !slices.Contains(cr.GetFinalizers(), uninstallFinalizer) {
		return
	}
	for _, o := range r.objects {
		annotations := o.GetAnnotations()
		if annotations["meta.helm.sh/release-name"] == cr.GetName() && annotations["meta.helm.sh/release-namespace"] == cr.GetNamespace() {
			r.remove(o)
		}
	}
	next := cr.DeepCopy()
	next.SetFinalizers(slices.DeleteFunc(next.GetFinalizers(), func(f string) bool { return f == uninstallFinalizer }))
	r.update(next)
}

// chart is what the operator makes of a custom resource. Namespaces and
// definitions are not the release's: they stay when it goes.
func (r *round) chart(cr *object) []*object {
	own := func(objects ...*object) []*object {
		for _, o := range objects {
			o.SetLabels(map[string]string{"app.kubernetes.io/managed-by": "Helm"})
			o.SetAnnotations(map[string]string{"meta.helm.sh/release-name": cr.GetName(), "meta.helm.sh/release-namespace": cr.GetNamespace()})
		}
		return objects
	}
	switch cr.GetKind() {
	case "KubeflowBase":
		profiles := deployment("kubeflow", "profiles-deployment", "registry.acme.example/kfam:v1")
		containers, _, _ := unstructured.NestedSlice(profiles.Object, "spec", "template", "spec", "containers")
		containers[0].(map[string]any)["env"] = []any{
			map[string]any{"name": "USERID_HEADER", "value": "kubeflow-userid"},
			map[string]any{"name": "USERID_PREFIX", "value": ""},
			map[string]any{"name": "ISTIO_INGRESS_GATEWAY_PRINCIPAL", "value": "cluster.local/ns/istio-system/sa/kubeflow-istio-ingressgateway-service-account"},
			map[string]any{"name": "KFP_UI_PRINCIPAL", "value": "cluster.local/ns/kubeflow/sa/ml-pipeline-ui"},
		}
		_ = unstructured.SetNestedSlice(profiles.Object, containers, "spec", "template", "spec", "containers")
		gateway := newObject("v1", "Service", "istio-system", "kubeflow-istio-ingressgateway", map[string]any{"spec": map[string]any{
			"type": "LoadBalancer", "selector": map[string]any{"app": "kubeflow-istio-ingressgateway"}, "ports": []any{map[string]any{"name": "https", "port": 443}}}})
		workload := deployment("istio-system", "kubeflow-istio-ingressgateway", "registry.acme.example/proxyv2:v1")
		_ = unstructured.SetNestedField(workload.Object, "kubeflow-istio-ingressgateway-service-account", "spec", "template", "spec", "serviceAccountName")
		account := newObject("v1", "ServiceAccount", "istio-system", "kubeflow-istio-ingressgateway-service-account", nil)
		return slices.Concat(
			[]*object{
				namespace("kubeflow"), namespace("kubeflow-oauth2-proxy"),
				definition("kubeflow.org", "v1", "Profile", "profiles", false, true, "v1beta1"),
			},
			own(account, profiles, deployment("kubeflow", "centraldashboard", "registry.acme.example/dashboard:v1"),
				deployment("kubeflow-oauth2-proxy", "oauth2-proxy", "registry.acme.example/oauth2-proxy:v1"), workload, gateway))
	case "KubeflowPipelines":
		return own(deployment("kubeflow", "ml-pipeline", "registry.acme.example/kfp:v1"), deployment("kubeflow", "ml-pipeline-ui", "registry.acme.example/kfp-ui:v1"))
	case "KubeflowTrainer":
		return slices.Concat([]*object{
			definition("trainer.kubeflow.org", "v1alpha1", "TrainJob", "trainjobs", true, true),
			definition("trainer.kubeflow.org", "v1alpha1", "TrainingRuntime", "trainingruntimes", true, false),
			definition("trainer.kubeflow.org", "v1alpha1", "ClusterTrainingRuntime", "clustertrainingruntimes", false, false),
		}, own(deployment(cr.GetNamespace(), "kubeflow-trainer-controller-manager", "registry.acme.example/trainer:v1")))
	case "ModelRegistry":
		service := newObject("v1", "Service", cr.GetNamespace(), cr.GetName(), map[string]any{"spec": map[string]any{
			"selector": map[string]any{"app": cr.GetName()}, "ports": []any{map[string]any{"name": "http", "port": 8080}}}})
		policy := newObject("security.istio.io/v1", "AuthorizationPolicy", cr.GetNamespace(), cr.GetName(), map[string]any{"spec": map[string]any{
			"rules": []any{map[string]any{"from": []any{map[string]any{"source": map[string]any{"namespaces": []any{cr.GetNamespace()}}}}}}}})
		return own(deployment(cr.GetNamespace(), cr.GetName(), "registry.acme.example/model-registry:v1"), service, policy)
	}
	return nil
}
