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
// # From the guide to this package
//
// The platform's guide installs Kubeflow by hand. What became of its steps:
//
//	Have the platform, Alauda AI 2.3 and KServe      preflight findings
//	Operators of OLM, not cluster plugins            steps package to operator; old plugins are a finding
//	What each operator brings, and its version       Release
//	Architectures of each operator                   Operator.Supports; a preflight finding
//	Have a service mesh, version 2 rather than 1     WithMesh; version 1 is a finding
//	Have LeaderWorkerSet, for the trainer            a preflight finding
//	Configure the access URL before the base         step platform-url; verified, or managed by WithManagedPlatformURL
//	The host is the same everywhere                  WithHost, from which the rest follows
//	Read the login's certificate                     step login-certificate
//	Mesh version 1: overlays of the ServiceMesh      step mesh, with ServiceMeshV1
//	Mesh version 2: values of the Istio              step mesh, with ServiceMeshV2
//	Keep what is in the mesh already                 merged by name, noted, taken away by an uninstall
//	Delete webhooks of version 1                     a finding; WithLegacyWebhooksDeleted
//	Upload the bundles                               a finding with the command; WithPackageWait; Render writes the commands
//	Install an operator and its custom resource      steps namespace to instance
//	Check the access URL again after the base        Verify
//	Lead the host's name to the gateway              the report's "next"; GatewayAddress
//	The entry under Tools                            the report's "next"
//	Upgrade the operators                            new pins; Operator.Through for versions on the way
//	Make a profile with an owner                     WithProfiles
//	Skip a profile that exists                       one of the same owner is left alone
//	Lower the pod security                           WithPodSecurity, WithLoweredPodSecurity
//	Bind a namespace that exists                     WithNamespaceBindings: its four objects
//	Principals of the gateway and the pipelines      read from the profile controller; compared by Verify
//	Pipelines, not on arm64 alone                    WithPipelines; a preflight finding
//	Pipelines appear after a while                   the step waits; the report's "next"
//	Model registries in profiles' namespaces         WithModelRegistries takes profiles; several may be made
//	Storage class, size, names of a registry         WithStorage, WithDisplayName, WithDescription
//	The page of registries is empty at first         the report's "next"
//	Let other namespaces use a registry              WithAccessFrom
//	Remove the old training operator first           a finding
//	Pin the trainer, approve by hand                 Manual and pinned, for every operator
//	A trainer with JobSet                            WithJobSet
//
// # What is where
//
// The base operator's namespace holds the lock, a Lease, while the stack is being
// changed, and the inventory, a ConfigMap; both are called planewright-kubeflow-<name>.
package kubeflow
