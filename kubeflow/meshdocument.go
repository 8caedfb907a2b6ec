package kubeflow

import (
	"slices"
	"strings"

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

// meshDocument reads and writes the settings in the object that holds them.
type meshDocument interface {
	// get returns a value, nil if it is not there.
	get(key meshKey) any
	// set gives a key a value, and returns what it made for it that was not
	// there: the key itself, and what is around it.
	set(key meshKey, value any) (made []string)
	// clear takes a key away, and of what is around it what was made and is empty.
	clear(key meshKey, made []string)
}

// istioDocument is an Istio of version 2: the settings are its values.
type istioDocument struct{ obj *unstructured.Unstructured }

func (d istioDocument) get(key meshKey) any {
	v, _, _ := unstructured.NestedFieldNoCopy(d.obj.Object, key.fields()...)
	return v
}

func (d istioDocument) set(key meshKey, value any) (made []string) {
	path := key.fields()
	for n := range path {
		if _, ok, _ := unstructured.NestedFieldNoCopy(d.obj.Object, path[:n+1]...); !ok {
			made = append(made, strings.Join(path[:n+1], "."))
		}
	}
	_ = unstructured.SetNestedField(d.obj.Object, value, path...)
	return made
}

func (d istioDocument) clear(key meshKey, made []string) {
	path := key.fields()
	unstructured.RemoveNestedField(d.obj.Object, path...)
	for n := len(path) - 1; n > 0; n-- {
		m := mapAt(d.obj.Object, path[:n]...)
		if m == nil || len(m) > 0 || !slices.Contains(made, strings.Join(path[:n], ".")) {
			return
		}
		unstructured.RemoveNestedField(d.obj.Object, path[:n]...)
	}
}

// overlayDocument is a ServiceMesh of version 1: the settings are patches of the
// overlay of the kind IstioOperator.
type overlayDocument struct{ obj *unstructured.Unstructured }

const overlayKind = "IstioOperator"

// What is around a patch, as notes call it.
const (
	madeOverlays = "overlays"
	madeOverlay  = "overlay"
	madePatches  = "patches"
)

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

func (d overlayDocument) set(key meshKey, value any) (made []string) {
	overlays, at, patches := d.overlays()
	if _, ok, _ := unstructured.NestedFieldNoCopy(d.obj.Object, "spec", "overlays"); !ok {
		made = append(made, madeOverlays)
	}
	if at < 0 {
		made = append(made, madeOverlay)
		overlays, at = append(overlays, map[string]any{"kind": overlayKind}), len(overlays)
	}
	overlay := overlays[at].(map[string]any)
	if _, ok := overlay["patches"]; !ok {
		made = append(made, madePatches)
	}
	if i := patchIndex(patches, key); i >= 0 {
		patches[i].(map[string]any)["value"] = value
	} else {
		made = append(made, string(key))
		patches = append(patches, map[string]any{"path": key.patchPath(), "value": value})
	}
	overlay["patches"] = patches
	_ = unstructured.SetNestedSlice(d.obj.Object, overlays, "spec", "overlays")
	return made
}

func (d overlayDocument) clear(key meshKey, made []string) {
	overlays, at, patches := d.overlays()
	i := patchIndex(patches, key)
	if i < 0 {
		return
	}
	overlay := overlays[at].(map[string]any)
	overlay["patches"] = slices.Delete(patches, i, i+1)
	if len(patches) == 1 && slices.Contains(made, madePatches) {
		delete(overlay, "patches")
	}
	if len(overlay) == 1 && slices.Contains(made, madeOverlay) {
		overlays = slices.Delete(overlays, at, at+1)
	}
	if len(overlays) == 0 && slices.Contains(made, madeOverlays) {
		unstructured.RemoveNestedField(d.obj.Object, "spec", "overlays")
		return
	}
	_ = unstructured.SetNestedSlice(d.obj.Object, overlays, "spec", "overlays")
}
