package kubetest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// manifest reads an object from YAML. A mistake in it is one of this package's.
func manifest(text string) *unstructured.Unstructured {
	encoded, err := yaml.YAMLToJSON([]byte(text))
	obj := &unstructured.Unstructured{}
	if err == nil {
		err = obj.UnmarshalJSON(encoded)
	}
	if err != nil {
		panic(fmt.Sprintf("kubetest: manifest %s: %v", text, err))
	}
	return obj
}

// field reads a field of an object, nil if it is not there.
func field(obj *unstructured.Unstructured, path ...string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(obj.Object, path...)
	return value
}

// deployment is a manifest of a Deployment with one pod.
func deployment(name, image string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  replicas: 1
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      containers: [{name: main, image: "%[2]s", ports: [{containerPort: 8080}]}]
`, name, image)
}

// definition is a manifest of a CustomResourceDefinition of a namespaced kind.
func definition(group, kind, plural string) string {
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[3]s.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: %[2]s, plural: %[3]s}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer, minimum: 1}}}
`, group, kind, plural)
}
