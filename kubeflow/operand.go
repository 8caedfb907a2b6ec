package kubeflow

import (
	"maps"
	"slices"

	"github.com/planewright/planewright/kube"
)

// operand is what the components have in common: where their operator runs and
// what their custom resource says.
type operand struct {
	// operatorNamespace is where the operator runs, its package's name if empty.
	operatorNamespace string
	// name and namespace are the custom resource's; empty means the defaults.
	name, namespace string
	values          []kube.Values
	nodeSelector    map[string]string
}

func (o operand) withValues(values kube.Values) operand {
	o.values = append(slices.Clip(o.values), kube.Values{}.Merge(values))
	return o
}

func (o operand) withNodeSelector(key, value string) operand {
	o.nodeSelector = maps.Clone(o.nodeSelector)
	if o.nodeSelector == nil {
		o.nodeSelector = map[string]string{}
	}
	o.nodeSelector[key] = value
	return o
}

// raw are the user's values, later ones over earlier ones.
func (o operand) raw() kube.Values {
	all := kube.Values{}
	for _, values := range o.values {
		all = all.Merge(values)
	}
	return all
}
