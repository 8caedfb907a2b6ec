package kubeflow

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// meshKey is one of the three settings of a mesh that Kubeflow needs.
type meshKey string

const (
	meshInterval  meshKey = "spec.values.pilot.env.PILOT_JWT_PUB_KEY_REFRESH_INTERVAL"
	meshCA        meshKey = "spec.values.pilot.jwksResolverExtraRootCA"
	meshProviders meshKey = "spec.values.meshConfig.extensionProviders"
	// meshProvidersV1 is the path of the providers in a patch of version 1.
	meshProvidersV1 = "spec.meshConfig.extensionProviders"
)

// fields is the key as a path in an Istio.
func (k meshKey) fields() []string {
	switch k {
	case meshInterval:
		return []string{"spec", "values", "pilot", "env", "PILOT_JWT_PUB_KEY_REFRESH_INTERVAL"}
	case meshCA:
		return []string{"spec", "values", "pilot", "jwksResolverExtraRootCA"}
	case meshProviders:
	}
	return []string{"spec", "values", "meshConfig", "extensionProviders"}
}

// patchPath is the key as the path of a patch of version 1.
func (k meshKey) patchPath() string {
	if k == meshProviders {
		return meshProvidersV1
	}
	return string(k)
}

// meshDocument reads and writes the settings in the object that holds them. A
// value that is nil is not there.
type meshDocument interface {
	get(key meshKey) any
	set(key meshKey, value any)
}

// istioDocument is an Istio of version 2: the settings are its values.
type istioDocument struct{ obj *unstructured.Unstructured }

func (d istioDocument) get(key meshKey) any {
	v, _, _ := unstructured.NestedFieldNoCopy(d.obj.Object, key.fields()...)
	return v
}

func (d istioDocument) set(key meshKey, value any) {
	if value == nil {
		d.remove(key.fields())
		return
	}
	_ = unstructured.SetNestedField(d.obj.Object, value, key.fields()...)
}

// remove takes a field away, and the maps that it leaves empty below the values.
func (d istioDocument) remove(path []string) {
	unstructured.RemoveNestedField(d.obj.Object, path...)
	for n := len(path) - 1; n > 2; n-- {
		if m := mapAt(d.obj.Object, path[:n]...); m == nil || len(m) > 0 {
			return
		}
		unstructured.RemoveNestedField(d.obj.Object, path[:n]...)
	}
}

// overlayDocument is a ServiceMesh of version 1: the settings are patches of the
// overlay of the kind IstioOperator.
type overlayDocument struct{ obj *unstructured.Unstructured }

const overlayKind = "IstioOperator"

// overlays returns the overlays, the index of the one that counts (-1 if there is none), and its patches.
func (d overlayDocument) overlays() (overlays []any, at int, patches []any) {
	overlays, _, _ = unstructured.NestedSlice(d.obj.Object, "spec", "overlays")
	at = slices.IndexFunc(overlays, func(o any) bool {
		m, ok := o.(map[string]any)
		return ok && m["kind"] == overlayKind
	})
	if at >= 0 {
		patches, _, _ = unstructured.NestedSlice(overlays[at].(map[string]any), "patches")
	}
	return overlays, at, patches
}

func patchIndex(patches []any, key meshKey) int {
	return slices.IndexFunc(patches, func(p any) bool {
		m, ok := p.(map[string]any)
		return ok && m["path"] == key.patchPath()
	})
}

func (d overlayDocument) get(key meshKey) any {
	_, _, patches := d.overlays()
	if i := patchIndex(patches, key); i >= 0 {
		return patches[i].(map[string]any)["value"]
	}
	return nil
}

func (d overlayDocument) set(key meshKey, value any) {
	overlays, at, patches := d.overlays()
	i := patchIndex(patches, key)
	switch {
	case value == nil && i < 0:
		return
	case value == nil:
		patches = slices.Delete(patches, i, i+1)
	case i < 0:
		patches = append(patches, map[string]any{"path": key.patchPath(), "value": value})
	default:
		patches[i].(map[string]any)["value"] = value
	}
	switch {
	case at < 0:
		overlays = append(overlays, map[string]any{"kind": overlayKind, "patches": patches})
	case len(patches) == 0:
		overlays = slices.Delete(overlays, at, at+1)
	default:
		overlays[at].(map[string]any)["patches"] = patches
	}
	if len(overlays) == 0 {
		unstructured.RemoveNestedField(d.obj.Object, "spec", "overlays")
		return
	}
	_ = unstructured.SetNestedSlice(d.obj.Object, overlays, "spec", "overlays")
}
