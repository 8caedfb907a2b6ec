package kubeflow

import "github.com/planewright/planewright/kube"

// Base is what all other components stand on: the login, the dashboard,
// profiles and notebooks. Every stack has it.
type Base struct{ operand }

// NewBase describes the component with its defaults: its operator runs in a
// namespace called like its package, and its custom resource is there, too, as kubeflowbase.
func NewBase() Base { return Base{operand{name: "kubeflowbase"}} }

// WithOperatorNamespace sets the namespace that the operator runs in. Give it
// one of its own: what is approved in a namespace is approved for all operators there.
func (c Base) WithOperatorNamespace(namespace string) Base {
	c.operatorNamespace = namespace
	return c
}

// WithInstance sets namespace and name of the custom resource. An empty
// namespace is the operator's.
func (c Base) WithInstance(namespace, name string) Base {
	c.namespace, c.name = namespace, name
	return c
}

// WithValues lays values over the spec of the custom resource: maps merge, lists
// replace, null deletes. Later calls win. What the operator's own example says and
// these values do not mention stays. Values that contradict what the stack sets
// itself are a problem that [KubeflowStack.Validate] reports.
func (c Base) WithValues(values kube.Values) Base {
	c.operand = c.withValues(values)
	return c
}

// WithNodeLabel has the operator itself run on nodes with this label. Where
// the component's own pods run is said by its values.
func (c Base) WithNodeLabel(key, value string) Base {
	c.operand = c.withNodeSelector(key, value)
	return c
}
