package kubeflow

import (
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
)

// The API groups of the Operator Lifecycle Manager.
const (
	operatorsV1       = "operators.coreos.com/v1"
	operatorsV1alpha1 = "operators.coreos.com/v1alpha1"
	packagesV1        = "packages.operators.coreos.com/v1"
)

// operatorBinding is the operator of one component.
type operatorBinding struct {
	binding
	Operator
	operand operand
	// namespace is where the stack would install the operator.
	namespace string
	// offered is given by the package step, kinds by the operator step once the operator is there.
	offered planewright.Output[offer]
	kinds   planewright.Output[[]custom]
}

func (b binding) operator(component Component) operatorBinding {
	o := operatorBinding{binding: b, namespace: b.operatorNamespace(component)}
	o.Operator, _ = b.release.Operator(component)
	o.operand, _ = b.operand(component)
	o.offered = planewright.NewOutput[offer](o.step("package"), "offer")
	o.kinds = planewright.NewOutput[[]custom](o.step("operator"), "kinds")
	return o
}

// step is the id of one of the component's steps.
func (o operatorBinding) step(parts ...string) string {
	return o.binding.step(append([]string{string(o.Component)}, parts...)...)
}

// operatorSteps are the steps that bring the operator to its pin. The needs are
// those of the first step that writes.
func (o operatorBinding) operatorSteps(needs ...string) []planewright.Step {
	offered := packageStep{o}.step()
	namespace := namespaceStep{o}.step()
	group := groupStep{o}.step(namespace.ID)
	subscription := subscriptionStep{o}.step(append(needsOf(o.unkeptSteps()...), offered.ID, group.ID)...)
	installed := csvStep{o}.step(append([]string{subscription.ID}, needs...)...)
	return []planewright.Step{offered, namespace, group, subscription, installed}
}

func (o operatorBinding) subscriptionRef(namespace string) kube.Ref {
	return kube.Ref{APIVersion: operatorsV1alpha1, Kind: "Subscription", Namespace: namespace, Name: o.Package}
}

func (o operatorBinding) csvRef(namespace, name string) kube.Ref {
	return kube.Ref{APIVersion: operatorsV1alpha1, Kind: "ClusterServiceVersion", Namespace: namespace, Name: name}
}
