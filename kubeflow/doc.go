// Package kubeflow describes Kubeflow stacks as values, and turns them into
// steps that package planewright plans, installs, verifies and takes away. It
// installs Kubeflow as Alauda AI distributes it: as operators of the Operator
// Lifecycle Manager (OLM), on a platform with a global and a workload cluster.
//
//	team := kubeflow.NewProfile("team-a", "ana@acme.example").
//		WithEditors("bo@acme.example")
//
//	stack := kubeflow.NewKubeflowStack("ml", release, "global", "workload").
//		WithHost("kubeflow.acme.example").
//		WithPipelines(kubeflow.NewPipelines()).
//		WithTrainer(kubeflow.NewTrainer()).
//		WithProfiles(team).
//		WithModelRegistries(kubeflow.NewModelRegistry("models", team))
//
//	env := kubeflow.NewEnv(global, workload)
//	report, err := stack.Install(ctx, env)
//
// A [KubeflowStack] says what should exist, an [Env] where: clusters by their
// names. [KubeflowStack.On] brings both together, and lists the steps. Package
// kube/live makes clusters of kubeconfigs; package kubeflow/kubeflowtest holds a
// whole platform in memory, for tests and for trying things out.
//
// # Pins
//
// A [Release] pins each operator by the name of its ClusterServiceVersion (CSV).
// [Release2603] knows the pin of the trainer; those of the others are published in
// catalogs only and are yours to give by [Release.WithPin]. Without one, a plan
// lists what the catalog offers.
//
// Subscriptions are Manual, and exactly the install plans are approved whose CSVs
// are the pin, or named in [Operator.Through]. A plan with anything else in it is
// refused, and named. A newer version on offer is information.
//
// Every operator has a namespace of its own, called like its package if nothing
// else is said: what OLM approves in a namespace, it approves for all of it. The base comes
// first; the others follow independently of each other.
//
// # Custom resources
//
// The operators' custom resources have no published schemas. Their group and
// version are read out of the CSV of the pin; their spec is the operator's own
// example, with your values over it, and the stack's own settings over those.
// Values that contradict a setting are an error, and keys that neither the
// example nor the CSV's descriptions have are a finding. If the catalog describes a newer
// version than the pin, the custom resource is unknown in a plan until the operator is there.
//
// # What others own
//
// The platform's access URLs, the service mesh and a registry's policy are
// shared. They are read, changed in the one place that counts, and written with
// the version that was read. An annotation (planewright.dev/kubeflow.<name>) says
// what was put there, and an uninstall takes away just that. Subscriptions to the
// same package, profiles of the same owner, and people that the dashboard has let in
// are left as they are.
//
// An uninstall leaves profiles, namespaces and definitions, and refuses to take
// an operator away while custom resources of its kinds exist.
//
// # Errors
//
// What is wrong with a stack is a [*planewright.ValidationError], what is wrong with
// a platform are findings of the plan, with the codes of this package. An operator
// that gets no further is an [*OperatorError] with a [Sign]; see there for what each matches.
//
// # What is where
//
// The base operator's namespace holds the lock, a Lease, while the stack is being
// changed, and the inventory, a ConfigMap; both are called planewright-kubeflow-<name>.
package kubeflow
