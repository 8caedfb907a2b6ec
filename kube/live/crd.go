package live

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/planewright/planewright/kube"
	"helm.sh/helm/v3/pkg/chart"
	helmkube "helm.sh/helm/v3/pkg/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// justInstalled is how long a kind may not be found though it is defined: API
// servers learn of definitions one by one.
const justInstalled = 2 * time.Minute

// keepCRDs marks the definitions in a manifest as to be kept by Helm.
func keepCRDs(manifest []byte) (*bytes.Buffer, error) {
	out := &bytes.Buffer{}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(manifest)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(document)) == 0 {
			continue
		}
		out.WriteString("---\n")
		if document, err = keepIfCRD(document); err != nil {
			return nil, err
		}
		out.Write(document)
	}
}

func keepIfCRD(document []byte) ([]byte, error) {
	if !bytes.Contains(document, []byte("CustomResourceDefinition")) {
		return document, nil
	}
	obj := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(document, &obj.Object); err != nil {
		return nil, err
	}
	if !isCRD(obj) || obj.GetAnnotations()[helmkube.ResourcePolicyAnno] != "" {
		return document, nil
	}
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[helmkube.ResourcePolicyAnno] = helmkube.KeepPolicy
	obj.SetAnnotations(annotations)
	marked, err := yaml.Marshal(obj.Object)
	if err != nil {
		return nil, err
	}
	// The line that says which template it came from is worth keeping.
	if source, _, ok := bytes.Cut(document, []byte("\n")); ok && bytes.HasPrefix(source, []byte("# Source: ")) {
		marked = append(append(bytes.Clone(source), '\n'), marked...)
	}
	return marked, nil
}

func isCRD(obj *unstructured.Unstructured) bool {
	return obj.GetKind() == "CustomResourceDefinition" && obj.GroupVersionKind().Group == "apiextensions.k8s.io"
}

// isKept reports whether Helm leaves an object in place when its release drops it.
func isKept(obj *unstructured.Unstructured) bool {
	return strings.EqualFold(strings.TrimSpace(obj.GetAnnotations()[helmkube.ResourcePolicyAnno]), helmkube.KeepPolicy)
}

// definedKind is a kind that a definition brings.
type definedKind struct {
	group, kind string
	versions    []string
	namespaced  bool
}

// kinds are the kinds that definitions among objects bring.
func kinds(objects []*unstructured.Unstructured) []definedKind {
	var defined []definedKind
	for _, obj := range objects {
		if !isCRD(obj) {
			continue
		}
		var d definedKind
		d.group, _, _ = unstructured.NestedString(obj.Object, "spec", "group")
		d.kind, _, _ = unstructured.NestedString(obj.Object, "spec", "names", "kind")
		scope, _, _ := unstructured.NestedString(obj.Object, "spec", "scope")
		d.namespaced = scope == "Namespaced"
		versions, _, _ := unstructured.NestedSlice(obj.Object, "spec", "versions")
		for _, v := range versions {
			if m, ok := v.(map[string]any); ok && m["served"] == true {
				name, _ := m["name"].(string)
				d.versions = append(d.versions, name)
			}
		}
		defined = append(defined, d)
	}
	return defined
}

// brings reports whether one of the definitions brings the kind.
func brings(defined []definedKind, gvk schema.GroupVersionKind) (definedKind, bool) {
	for _, d := range defined {
		if d.group != gvk.Group || d.kind != gvk.Kind {
			continue
		}
		for _, v := range d.versions {
			if v == gvk.Version {
				return d, true
			}
		}
	}
	return definedKind{}, false
}

// crdFiles are the definitions in a chart's crds/, which Helm installs before
// anything else and never touches again.
func crdFiles(ch *chart.Chart) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, crd := range ch.CRDObjects() {
		objects, err := parseManifest(string(crd.File.Data))
		if err != nil {
			return nil, err
		}
		all = append(all, objects...)
	}
	return all, nil
}

// justDefined reports whether a definition of the kind was made lately.
func (c *connection) justDefined(ctx context.Context, gvk schema.GroupVersionKind) bool {
	definition := kube.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}
	if _, err := c.apis.mapping(ctx, definition.GroupVersionKind()); err != nil {
		return false
	}
	items, _, err := c.list(ctx, definition)
	if err != nil {
		return false
	}
	for _, crd := range items {
		if _, ok := brings(kinds([]*unstructured.Unstructured{crd}), gvk); ok {
			return time.Since(crd.GetCreationTimestamp().Time) < justInstalled
		}
	}
	return false
}
