package kubeflow

import "github.com/planewright/planewright/kube"

// Pipelines is Kubeflow Pipelines.
type Pipelines struct{ operand }

// NewPipelines describes the component with its defaults: its operator runs in a
// namespace called like its package, and its custom resource is there, too, as kubeflowpipelines.
func NewPipelines() Pipelines { return Pipelines{operand{name: "kubeflowpipelines"}} }

// WithOperatorNamespace sets the namespace that the operator runs in. Give it
// one of its own: what is approved in a namespace is approved for all operators there.
func (c Pipelines) WithOperatorNamespace(namespace string) Pipelines {
	c.operatorNamespace = namespace
	return c
}

// WithInstance sets namespace and name of the custom resource. An empty
// namespace is the operator's.
func (c Pipelines) WithInstance(namespace, name string) Pipelines {
	c.namespace, c.name = namespace, name
	return c
}

// WithValues lays values over the spec of the custom resource: maps merge, lists
// replace, null deletes. Later calls win. What the operator's own example says and
// these values do not mention stays. Values that contradict what the stack sets
// itself are a problem that [KubeflowStack.Validate] reports.
func (c Pipelines) WithValues(values kube.Values) Pipelines {
	c.operand = c.withValues(values)
	return c
}

// WithNodeLabel has the operator itself run on nodes with this label. Where
// the component's own pods run is said by its values.
func (c Pipelines) WithNodeLabel(key, value string) Pipelines {
	c.operand = c.withNodeSelector(key, value)
	return c
}
