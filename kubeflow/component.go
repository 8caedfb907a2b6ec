package kubeflow

// Component names one of the parts that Kubeflow is installed in, each by an
// operator of its own.
type Component string

// The components. Their values are part of step ids.
const (
	// ComponentBase is what all others stand on: authentication, dashboard,
	// profiles, notebooks.
	ComponentBase Component = "base"
	// ComponentPipelines is Kubeflow Pipelines.
	ComponentPipelines Component = "pipelines"
	// ComponentModelRegistry is the model registry.
	ComponentModelRegistry Component = "modelregistry"
	// ComponentTrainer is Kubeflow Trainer, version 2.
	ComponentTrainer Component = "trainer"
)

// Components returns all components, in the order in which they are installed.
func Components() []Component {
	return []Component{ComponentBase, ComponentPipelines, ComponentModelRegistry, ComponentTrainer}
}
