package flyte

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// redacted stands for what is secret in rendered files.
const redacted = "[redacted]"

// renderObjects writes each object to a file of its own, in a folder. What is
// in Secrets is left out.
func renderObjects(folder string, objects []*unstructured.Unstructured) ([]planewright.File, error) {
	var files []planewright.File
	names := map[string]int{}
	for _, obj := range objects {
		base := strings.ToLower(obj.GetKind()) + "-" + strings.ReplaceAll(obj.GetName(), ":", "-")
		names[base]++
		if n := names[base]; n > 1 {
			base = fmt.Sprintf("%s-%d", base, n)
		}
		var text bytes.Buffer
		if obj.GetKind() == "Secret" && obj.GroupVersionKind().Group == "" {
			text.WriteString("# What this Secret holds is left out here.\n")
			obj = withoutContent(obj)
		}
		data, err := yaml.Marshal(obj.Object)
		if err != nil {
			return nil, fmt.Errorf("%s %s cannot be written as YAML: %w", obj.GetKind(), obj.GetName(), err)
		}
		text.Write(data)
		files = append(files, planewright.File{Name: folder + "/" + base + ".yaml", Data: text.Bytes()})
	}
	return files, nil
}

// withoutContent returns a Secret with its keys and without what they hold.
func withoutContent(secret *unstructured.Unstructured) *unstructured.Unstructured {
	secret = secret.DeepCopy()
	for _, field := range []string{"data", "stringData"} {
		content, ok := secret.Object[field].(map[string]any)
		if !ok {
			continue
		}
		delete(secret.Object, field)
		for key := range content {
			_ = unstructured.SetNestedField(secret.Object, redacted, "stringData", key)
		}
	}
	return secret
}

// redactValues returns the values without those that the chart keeps as secrets.
func redactValues(values kube.Values, facts Chart) kube.Values {
	for _, value := range facts.Values {
		// A placeholder of the overlay's is no secret.
		if v, ok := values.Get(value.Path); ok && value.Secret && v != nil && v != "" && v != placeholderIn(fmt.Sprint(v)) {
			values = values.Set(value.Path, redacted)
		}
	}
	return values
}
