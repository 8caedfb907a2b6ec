package kubeflowtest

import (
	"encoding/base64"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// platformNamespace is where the platform's own objects are.
const platformNamespace = "cpaas-system"

// globalObjects are what the global cluster has from the start.
func (s settings) globalObjects() []runtime.Object {
	objects := []runtime.Object{
		namespace(platformNamespace),
		definition("product.alauda.io", "v1alpha2", "ProductBase", "productbases", false, false),
		definition("cluster.alauda.io", "v1alpha1", "ModuleInfo", "moduleinfoes", false, false),
		newObject("product.alauda.io/v1alpha2", "ProductBase", "", "base", map[string]any{
			"spec": map[string]any{"version": "v4.3.0", "platformURL": "https://acp.acme.example", "alternativeURLs": s.platformURL}}),
		newObject("v1", "Secret", platformNamespace, "dex.tls", map[string]any{
			"type": "kubernetes.io/tls",
			"data": map[string]any{"tls.crt": base64.StdEncoding.EncodeToString(PlatformCertificate()), "tls.key": base64.StdEncoding.EncodeToString([]byte("private"))}}),
	}
	if s.meshV1 {
		objects = append(objects,
			definition("asm.alauda.io", "v1alpha1", "ServiceMesh", "servicemeshes", true, true),
			newObject("asm.alauda.io/v1alpha1", "ServiceMesh", platformNamespace, Workload, map[string]any{
				"spec": map[string]any{"cluster": Workload, "istioVersion": "1.22", "withoutIstio": false}}))
	}
	return append(objects, s.global...)
}

// workloadObjects are what the workload cluster has from the start.
func (s settings) workloadObjects() []runtime.Object {
	objects := []runtime.Object{
		namespace(platformNamespace), namespace("istio-system"), namespace("kserve-operator"), namespace("aml-operator"),
		definition("operators.coreos.com", "v1alpha1", "Subscription", "subscriptions", true, true),
		definition("operators.coreos.com", "v1alpha1", "InstallPlan", "installplans", true, true),
		definition("operators.coreos.com", "v1alpha1", "ClusterServiceVersion", "clusterserviceversions", true, true),
		definition("operators.coreos.com", "v1alpha1", "CatalogSource", "catalogsources", true, false),
		definition("operators.coreos.com", "v1", "OperatorGroup", "operatorgroups", true, true),
		definition("packages.operators.coreos.com", "v1", "PackageManifest", "packagemanifests", true, false),
		definition("amlclusters.aml.dev", "v1alpha1", "AmlCluster", "amlclusters", false, false),
		definition("components.aml.dev", "v1alpha1", "KServe", "kserves", true, false),
		definition("security.istio.io", "v1", "AuthorizationPolicy", "authorizationpolicies", true, true, "v1beta1"),
		definition("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets", true, true),
		newObject("v1", "ConfigMap", "kube-public", "global-info", map[string]any{"data": map[string]any{"platformURL": "https://acp.acme.example"}}),
		newObject("operators.coreos.com/v1alpha1", "CatalogSource", platformNamespace, "platform", map[string]any{
			"spec": map[string]any{"sourceType": "grpc"}, "status": map[string]any{"connectionState": map[string]any{"lastObservedState": "READY"}}}),
		newObject("amlclusters.aml.dev/v1alpha1", "AmlCluster", "", "default", map[string]any{
			"spec":   map[string]any{"components": map[string]any{"lws": map[string]any{"managementState": "Managed"}}},
			"status": map[string]any{"conditions": []any{condition("Ready", true, "Reconciled", "")}}}),
		newObject("components.aml.dev/v1alpha1", "KServe", "kserve-operator", "default-kserve", map[string]any{
			"status": map[string]any{"conditions": []any{condition("Deployed", true, "InstallSuccessful", "")}}}),
	}
	objects = append(objects, newObject("operators.coreos.com/v1alpha1", "ClusterServiceVersion", "aml-operator", "aml-operator.v2.3.0", map[string]any{
		"spec": map[string]any{"version": "2.3.0"}}))
	if !s.noMesh && !s.meshV1 {
		objects = append(objects,
			definition("sailoperator.io", "v1", "Istio", "istios", false, true),
			newObject("sailoperator.io/v1", "Istio", "", "default", map[string]any{"spec": map[string]any{
				"version": "v1.30.1", "namespace": "istio-system", "values": map[string]any{}}}))
	}
	objects = append(objects, s.workload...)
	dropped := map[string]bool{}
	for _, crd := range s.without {
		dropped[textAt(definitionOf(objects, crd).Object, "spec", "names", "kind")] = true
	}
	return slices.DeleteFunc(objects, func(o runtime.Object) bool {
		u, ok := o.(*object)
		return ok && (dropped[u.GetKind()] || slices.Contains(s.without, u.GetName()))
	})
}

// definitionOf finds a definition among objects, an empty one if it is not there.
func definitionOf(objects []runtime.Object, name string) *object {
	for _, o := range objects {
		if u, ok := o.(*object); ok && u.GetKind() == "CustomResourceDefinition" && u.GetName() == name {
			return u
		}
	}
	return &object{Object: map[string]any{}}
}
