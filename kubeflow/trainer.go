package kubeflow

import "github.com/planewright/planewright/kube"

// Trainer is Kubeflow Trainer, version 2. It needs the LeaderWorkerSet
// operator, and the old training operator (kftraining) must be gone.
type Trainer struct {
	operand
	jobSet *bool
}

// NewTrainer describes the component with its defaults: its operator runs in a
// namespace called like its package, and its custom resource is there, too, as kubeflowtrainer.
func NewTrainer() Trainer { return Trainer{operand: operand{name: "kubeflowtrainer"}} }

// WithOperatorNamespace sets the namespace that the operator runs in. Give it
// one of its own: what is approved in a namespace is approved for all operators there.
func (c Trainer) WithOperatorNamespace(namespace string) Trainer {
	c.operatorNamespace = namespace
	return c
}

// WithInstance sets namespace and name of the custom resource. An empty
// namespace is the operator's.
func (c Trainer) WithInstance(namespace, name string) Trainer {
	c.namespace, c.name = namespace, name
	return c
}

// WithValues lays values over the spec of the custom resource: maps merge, lists
// replace, null deletes. Later calls win. What the operator's own example says and
// these values do not mention stays. Values that contradict what the stack sets
// itself are a problem that [KubeflowStack.Validate] reports.
func (c Trainer) WithValues(values kube.Values) Trainer {
	c.operand = c.withValues(values)
	return c
}

// WithNodeLabel has the operator itself run on nodes with this label. Where
// the component's own pods run is said by its values.
func (c Trainer) WithNodeLabel(key, value string) Trainer {
	c.operand = c.withNodeSelector(key, value)
	return c
}

// WithJobSet has the trainer install JobSet, or leave that to another operator of
// the cluster: two of them fight. By default the operator's own example decides.
// Which key of the custom resource it is, is read out of the operator's CSV.
func (c Trainer) WithJobSet(installed bool) Trainer {
	c.jobSet = &installed
	return c
}
