package kubeflow

// Release2603 is Kubeflow 26.03: Pipelines 2.16, Trainer 2.1 with JobSet 0.10.
//
// Its trainer is pinned. The exact versions of the other operators are published
// in catalogs only, so their pins are yours to give, with [Release.WithPin];
// a plan without them lists what the catalog offers.
func Release2603() Release {
	return NewRelease("26.03",
		Operator{
			Component:   ComponentBase,
			Package:     "kfbase-operator",
			Kind:        "KubeflowBase",
			Definitions: []string{"profiles.kubeflow.org"},
		},
		Operator{
			Component: ComponentPipelines,
			Package:   "kfp-operator",
			Kind:      "KubeflowPipelines",
			Supports: []Support{
				{CSV: "kfp-operator.v26.3.0", Architectures: []string{"amd64"}},
				{CSV: "kfp-operator.v26.3.1", Architectures: []string{"amd64"}},
				{CSV: "kfp-operator.v26.3.1", Architectures: []string{"arm64"}, Setting: "global.images.kfpMetadataWriter.enabled", Value: false},
			},
		},
		Operator{
			Component: ComponentModelRegistry,
			Package:   "model-registry-operator",
			Kind:      "ModelRegistry",
		},
		Operator{
			Component:   ComponentTrainer,
			Package:     "kubeflow-trainer-operator",
			CSV:         "kubeflow-trainer-operator.v2.1.0",
			Kind:        "KubeflowTrainer",
			Kubernetes:  "1.32.3",
			Definitions: []string{"trainjobs.trainer.kubeflow.org", "trainingruntimes.trainer.kubeflow.org", "clustertrainingruntimes.trainer.kubeflow.org"},
		},
	)
}
