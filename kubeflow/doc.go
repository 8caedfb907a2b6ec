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
// A stack is installed together with a Flyte, or with steps of your own, as one
// graph: planewright.Install(ctx, deployment.On(flyteEnv), stack.On(env)).
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
// New pins upgrade operators that are there: the base first, one at a time, by
// exactly the plans that lead to the pins. The plan tells which definitions and keys of
// custom resources change.
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
// An uninstall leaves profiles, namespaces, volumes and definitions, unless
// [KubeflowStack.WithProfilesDeleted] and the like name them, and refuses to take an
// operator away while custom resources of others' need it.
//
// # Errors
//
// What is wrong with a stack is a [*planewright.ValidationError], what is wrong with
// a platform are findings of the plan, with the codes of this package. An operator
// that gets no further is an [*OperatorError] with a [Sign]; see there for what each matches.
//
// # From the guide to this package
//
// The platform's guide installs Kubeflow by hand. Its steps, numbered in its
// order, and what became of each: a step, by the last parts of its id; a finding, by its
// code; an output; what the report advises to do next; or why it is not needed.
//
//	K01  Alauda AI 2.3 or newer                    finding platform
//	K02  Operators of OLM, not cluster plugins     step */package; step */operator; finding old-plugin
//	K03  The base and what it brings               step base/operator; step base/instance
//	K04  Which operator runs on which nodes        finding node-architecture
//	K05  The pipelines' operator                   step pipelines/operator; step pipelines/instance
//	K06  The trainer's operator, with JobSet       step trainer/operator; step trainer/instance
//	K07  The registries' operator, of no version   step modelregistry/operator; finding pin-missing
//	K08  The older training operator is retired    finding old-plugin
//	K09  The platform runs                         step platform-url; finding platform
//	K10  Alauda AI is deployed                     finding platform
//	K11  KServe is installed                       finding kserve
//	K12  A service mesh in the workload cluster    step mesh
//	K13  Its version 2 rather than 1               finding mesh-v1-deprecated
//	K14  LeaderWorkerSet, for the trainer alone    finding leaderworkerset
//	K15  The login's proxy is configured           step mesh; step base/instance
//	K16  The access URL before the base            step platform-url; step login-certificate
//	K17  Add the access URL                        step platform-url by WithManagedPlatformURL; finding platform-url
//	K18  The host is the same everywhere           step base/instance by WithHost
//	K19  Read the login's certificate              step login-certificate; output LoginFingerprint
//	K20  Mesh 1: overlays of the ServiceMesh       step mesh by ServiceMeshV1
//	K21  Keep authorities and providers there are  step mesh by WithTrustedCAAppended; finding mesh
//	K22  Mesh 1: refresh interval and authority    step mesh
//	K23  Mesh 1: the login as a provider           step mesh
//	K24  Webhooks of mesh 1 break the login        finding mesh-v1-webhook
//	K25  Delete them                               step mesh-webhooks by WithLegacyWebhooksDeleted
//	K26  Mesh 2: which Istio                       step mesh by WithIstio
//	K27  Mesh 2: interval, authority, provider     step mesh by ServiceMeshV2
//	K28  Upload the bundles, see them listed       step */package by WithPackageWait; finding package-not-offered
//	K29  Install the base for the host, and wait   step base/subscription; step base/operator; step base/instance
//	K30  Check the access URL again                finding platform-url
//	K31  Lead the host's name to the gateway       output GatewayAddress; next: make the DNS record; finding dns
//	K32  The entry under Tools                     next: under Tools in the platform
//	K33  Upgrade the operators                     step */operator by WithPin; finding newer-version-offered
//	K34  A profile with an owner                   step profiles/*/profile by WithProfiles
//	K35  Skip a profile that exists                finding profile
//	K36  Lower the pod security                    step profiles/*/security by WithLoweredPodSecurity
//	K37  A namespace that exists and is not shown  step namespaces/*/bindings/* by WithNamespaceBindings; finding binding-invisible
//	K38  Its default-editor and their role         step namespaces/*/editor
//	K39  A person's RoleBinding                    step namespaces/*/bindings/*; step profiles/*/bindings/*
//	K40  A person's AuthorizationPolicy            step namespaces/*/bindings/*; step profiles/*/bindings/*
//	K41  Principals of gateway and pipelines       step profiles/*/bindings/*; finding gateway-principal
//	K42  Pipelines, in the instances' namespace    step pipelines/instance by WithInstance
//	K43  Not on arm64 alone                        finding node-architecture
//	K44  They appear once reconciled               step pipelines/instance; next: pipelines appear in the dashboard
//	K45  The registries' operator and a registry   step modelregistry/operator; step modelregistry/registries/*/*
//	K46  Its namespace must have a profile         not needed: NewModelRegistry takes a profile, not a namespace
//	K47  Its storage class, size and names         step modelregistry/registries/*/* by WithStorage, WithDisplayName
//	K48  Its description                           step modelregistry/registries/*/* by WithDescription
//	K49  The page is empty before the first one    next: the page of model registries is empty
//	K50  Let other namespaces use it               step modelregistry/registries/*/*/access by WithAccessFrom
//	K51  Several independent ones                  step modelregistry/registries/*/* by WithModelRegistries
//	K52  Remove the older training operator        finding old-plugin
//	K53  LeaderWorkerSet before the trainer        finding leaderworkerset
//	K54  Pin the trainer, approve by hand          step trainer/subscription; step trainer/operator; finding newer-version-offered
//	K55  The trainer, with JobSet                  step trainer/instance by WithJobSet; finding jobset-twice
//
// # What is where
//
// The base operator's namespace holds the lock, a Lease, while the stack is being
// changed, and the inventory, a ConfigMap; both are called planewright-kubeflow-<name>.
package kubeflow
