package kubeflow

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/planewright/planewright"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// render writes objects as files below the step's id, without the stack's part of it.
func (b binding) render(id string, objects ...*unstructured.Unstructured) ([]planewright.File, error) {
	folder := strings.TrimPrefix(id, b.id()+"/")
	var files []planewright.File
	for _, obj := range objects {
		data, err := yaml.Marshal(obj.Object)
		if err != nil {
			return nil, fmt.Errorf("%s %s cannot be written as YAML: %w", obj.GetKind(), obj.GetName(), err)
		}
		name := strings.ToLower(obj.GetKind()) + "-" + strings.ReplaceAll(obj.GetName(), ":", "-") + ".yaml"
		files = append(files, planewright.File{Name: folder + "/" + name, Data: bytes.Clone(data)})
	}
	return files, nil
}
