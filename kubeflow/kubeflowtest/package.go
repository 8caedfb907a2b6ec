package kubeflowtest

import (
	"encoding/json"
	"slices"
	"strings"
)

// Package is an operator in the catalog, with one channel.
type Package struct {
	Name, Channel string
	// Versions are the operator's versions, each replacing the one before it.
	Versions []Version
}

// Version is one version of an operator.
type Version struct {
	// CSV is the name of its ClusterServiceVersion: "kfbase-operator.v26.3.0".
	CSV string
	// Kinds are the custom resources that it brings.
	Kinds []Kind
}

// Kind is a custom resource, in the group operator.alauda.io at version v1.
type Kind struct {
	Kind string
	// Example is the spec in the operator's own example.
	Example map[string]any
	// Keys describes keys of the spec: their path and what people see.
	Keys map[string]string
}

// OperatorGroup and OperatorVersion are those of all simulated custom resources.
const (
	OperatorGroup   = "operator.alauda.io"
	OperatorVersion = "v1"
)

func (k Kind) plural() string {
	if stem, ok := strings.CutSuffix(lower(k.Kind), "y"); ok {
		return stem + "ies"
	}
	return strings.TrimSuffix(lower(k.Kind), "s") + "s"
}

// Packages returns what the catalog offers by default: Kubeflow 26.03, and a
// trainer newer than its pin.
func Packages() []Package {
	base := []Kind{{Kind: "KubeflowBase",
		Example: map[string]any{"global": map[string]any{"kubeflowHost": "kubeflow.example.com"}},
		Keys:    map[string]string{"global.kubeflowHost": "Kubeflow Host", "global.oidcAuthURL": "OIDC Auth URL"}}}
	pipelines := []Kind{{Kind: "KubeflowPipelines",
		Example: map[string]any{"global": map[string]any{}},
		Keys:    map[string]string{"global.images.kfpMetadataWriter.enabled": "Metadata Writer"}}}
	registry := []Kind{{Kind: "ModelRegistry",
		Example: map[string]any{"mysql": map[string]any{"storageSize": "10Gi"}},
		Keys: map[string]string{"mysql.storageClass": "MySQL Storage Class", "mysql.storageSize": "MySQL Storage Size",
			"displayName": "DisplayName", "description": "Description"}}}
	trainer := []Kind{{Kind: "KubeflowTrainer",
		Example: map[string]any{"jobset": map[string]any{"enabled": true}},
		Keys:    map[string]string{"jobset.enabled": "Enable JobSet"}}}
	return []Package{
		{Name: "kfbase-operator", Channel: "alpha", Versions: []Version{{"kfbase-operator.v26.3.0", base}}},
		{Name: "kfp-operator", Channel: "alpha", Versions: []Version{{"kfp-operator.v26.3.0", pipelines}, {"kfp-operator.v26.3.1", pipelines}}},
		{Name: "model-registry-operator", Channel: "alpha", Versions: []Version{{"model-registry-operator.v0.3.0", registry}}},
		{Name: "kubeflow-trainer-operator", Channel: "alpha", Versions: []Version{{"kubeflow-trainer-operator.v2.1.0", trainer}, {"kubeflow-trainer-operator.v2.2.0", trainer}}},
	}
}

func (p Package) version(csv string) (Version, bool) {
	i := slices.IndexFunc(p.Versions, func(v Version) bool { return v.CSV == csv })
	if i < 0 {
		return Version{}, false
	}
	return p.Versions[i], true
}

// next is the version that replaces the given one, empty if there is none.
func (p Package) next(csv string) string {
	i := slices.IndexFunc(p.Versions, func(v Version) bool { return v.CSV == csv })
	if i < 0 || i+1 == len(p.Versions) {
		return ""
	}
	return p.Versions[i+1].CSV
}

func (p Package) head() Version { return p.Versions[len(p.Versions)-1] }

// definitions is the part of a CSV that names its custom resources.
func (v Version) definitions() map[string]any {
	owned := []any{}
	for _, k := range v.Kinds {
		var descriptors []any
		for _, path := range sorted(k.Keys) {
			descriptors = append(descriptors, map[string]any{"path": path, "displayName": k.Keys[path]})
		}
		owned = append(owned, map[string]any{"name": k.plural() + "." + OperatorGroup, "kind": k.Kind, "version": OperatorVersion, "specDescriptors": descriptors})
	}
	return map[string]any{"owned": owned}
}

// examples is the annotation with the operator's own examples.
func (v Version) examples() string {
	list := []any{}
	for _, k := range v.Kinds {
		list = append(list, map[string]any{"apiVersion": OperatorGroup + "/" + OperatorVersion, "kind": k.Kind,
			"metadata": map[string]any{"name": "example"}, "spec": k.Example})
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic("kubeflowtest: " + err.Error())
	}
	return string(text)
}

// number is the version as a CSV states it.
func (v Version) number() string {
	_, n, _ := strings.Cut(v.CSV, ".v")
	return n
}

func (p Package) manifestStatus() map[string]any {
	var entries []any
	for i := len(p.Versions) - 1; i >= 0; i-- {
		entries = append(entries, map[string]any{"name": p.Versions[i].CSV, "version": p.Versions[i].number()})
	}
	return map[string]any{
		"catalogSource": "platform", "catalogSourceNamespace": platformNamespace, "packageName": p.Name, "defaultChannel": p.Channel,
		"channels": []any{map[string]any{
			"name": p.Channel, "currentCSV": p.head().CSV, "entries": entries,
			"currentCSVDesc": map[string]any{
				"version":                   p.head().number(),
				"annotations":               map[string]any{"alm-examples": p.head().examples()},
				"customresourcedefinitions": p.head().definitions(),
			},
		}},
	}
}
