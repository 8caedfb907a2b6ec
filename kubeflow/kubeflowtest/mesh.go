package kubeflowtest

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// istios does what the Sail operator does.
func (r *round) istios() {
	for _, i := range r.all("sailoperator.io", "Istio") {
		ns := textAt(i.Object, "spec", "namespace")
		mesh, _, _ := unstructured.NestedMap(i.Object, "spec", "values", "meshConfig")
		if !r.meshConfig(ns, "istio", mesh) {
			continue
		}
		d := r.ensure(deployment(ns, "istiod", "registry.acme.example/pilot:v1"))
		if !available(d) {
			r.waiting = true
			continue
		}
		r.setStatus(i, map[string]any{"observedGeneration": i.GetGeneration(), "state": "Healthy", "activeRevisionName": i.GetName(), "conditions": []any{
			condition("Reconciled", true, "Healthy", ""), condition("Ready", true, "Healthy", ""),
		}})
	}
}

// meshConfig keeps the ConfigMap that istiod reads, and reports whether it is as it should be.
func (r *round) meshConfig(namespace, name string, mesh map[string]any) bool {
	if mesh == nil {
		mesh = map[string]any{}
	}
	text, err := yaml.Marshal(mesh)
	if err != nil {
		return false
	}
	have := r.ensure(newObject("v1", "ConfigMap", namespace, name, map[string]any{"data": map[string]any{"mesh": string(text)}}))
	if have == nil {
		return false
	}
	if textAt(have.Object, "data", "mesh") == string(text) {
		return true
	}
	_ = unstructured.SetNestedField(have.Object, string(text), "data", "mesh")
	r.update(have)
	return false
}

// serviceMeshes does what the controller of service mesh version 1 does: it
// brings what the ServiceMesh says into the workload cluster.
func (r *round) serviceMeshes() {
	for _, m := range r.all("asm.alauda.io", "ServiceMesh") {
		var mesh map[string]any
		overlays, _, _ := unstructured.NestedSlice(m.Object, "spec", "overlays")
		for _, o := range overlays {
			overlay, _ := o.(map[string]any)
			patches, _, _ := unstructured.NestedSlice(overlay, "patches")
			for _, p := range patches {
				patch, _ := p.(map[string]any)
				if patch["path"] == "spec.meshConfig.extensionProviders" {
					mesh = map[string]any{"extensionProviders": patch["value"]}
				}
			}
		}
		status := map[string]any{"observedGeneration": m.GetGeneration()}
		if !reflect.DeepEqual(m.Object["status"], status) {
			r.setStatus(m, status)
		}
		cluster, objects := r.cluster, r.objects
		r.look(Workload)
		// Without a patch, what the control plane came with stays.
		if mesh == nil && r.get("", "ConfigMap", "istio-system", "istio-1-22") != nil || r.meshConfig("istio-system", "istio-1-22", mesh) {
			r.ensure(deployment("istio-system", "istiod-1-22", "registry.acme.example/pilot:1.22"))
		}
		r.cluster, r.objects = cluster, objects
	}
}
