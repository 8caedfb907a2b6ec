// Package flyte describes Flyte deployments as values, and turns them into
// steps that package planewright plans, installs, verifies and takes away.
//
//	deployment := flyte.NewSingleCluster("ml", flyte.V1_16_8, "main").
//		WithStorage(flyte.S3("acme-flyte", "us-east-1")).
//		WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").
//			WithPassword(planewright.SecretFromEnv("FLYTE_DB"))).
//		WithIdentity(flyte.AWSRole("arn:aws:iam::123456789012:role/flyte-backend")).
//		WithUserIdentity(flyte.AWSRole("arn:aws:iam::123456789012:role/flyte-user"))
//
//	env := flyte.NewEnv(cluster).WithCharts(charts)
//	report, err := deployment.Install(ctx, env)
//
// A [Deployment] says what should exist, an [Env] where: clusters by their
// names, and where charts come from. [Deployment.On] brings both together. Package
// kube/live makes clusters of kubeconfigs and finds charts; kube/kubefake makes clusters in memory.
//
// [NewDeployment] is a Flyte on several clusters: a [ControlPlane] that users
// talk to, and a [Dataplane] for each cluster that runs workflows. A [LabelMap]
// says which of them run what:
//
//	deployment := flyte.NewDeployment("ml", flyte.V1_16_8).
//		WithStorage(storage).WithDatabase(database).
//		WithControlPlane(flyte.NewControlPlane("control").
//			WithHost("flyte.acme.example").
//			WithIngress(flyte.ALB(certificateARN))).
//		WithDataplanes(
//			flyte.NewDataplane("dp-1", "one"),
//			flyte.NewDataplane("dp-2", "two")).
//		WithLabelMap(flyte.NewLabelMap().
//			WithLabel("cpu", flyte.Weight("dp-1", 1)).
//			WithLabel("gpu", flyte.Weight("dp-1", 30), flyte.Weight("dp-2", 70)).
//			WithDefault("cpu"))
//
// # Values
//
// The chart is given three layers of values, each merged over the one before
// with Helm's rules: the chart's own overlay for the storage (eks-starter.yaml,
// gke-starter.yaml), read out of the chart that is being installed; what the deployment
// says; and the raw values of [Deployment.WithValues]. Parts of the overlay that need a
// value which the deployment does not have are switched off: the ingress, links to logs, the
// annotations of ServiceAccounts. A placeholder that is left in a rendered object
// nevertheless is an error. Text of the deployment's that the chart renders as a template comes out as it is.
//
// # Secrets
//
// Passwords and keys are put into Secret objects that Flyte's pods mount, not
// into Helm values. Such a Secret counts its changes in an annotation, and the pods
// carry the number: so a plan knows that they will be replaced, and nothing that
// could be guessed from is written anywhere.
//
// # What is where
//
// The namespace also holds the lock, a Lease, while the deployment is being
// changed, and the inventory, a ConfigMap; both are called planewright-flyte-<name>.
// Objects that this package makes itself are labelled app.kubernetes.io/managed-by:
// planewright and planewright.dev/stack: flyte.<name>, and written by server-side
// apply as field manager planewright. Everything else is the Helm release's.
//
// Uninstall leaves the namespace, and what Flyte makes itself while it runs:
// projects' namespaces, its CustomResourceDefinition, its webhook. The report names each with the reason.
//
// # From the guide to this package
//
// Flyte's deployment guide installs by hand. Its steps, numbered in its order,
// and what became of each: a step, by the last parts of its id; a finding, by its
// code; an output, by the method that gives it; what the report advises to do next; or
// why it is not needed.
//
//	F01  A hosted Flyte                            step connection by Hosted; finding unreachable; finding no-discovery
//	F02  Everything in one image                   step sandbox/image; step sandbox/container by NewSandbox
//	F03  MinIO and PostgreSQL inside the sandbox   output Sandbox.Access
//	F04  The sandbox is not for production         finding tests-only
//	F05  One cluster with a cloud's services       step release by NewSingleCluster
//	F06  A cluster of one's own                    step release by S3Compatible, Postgres
//	F07  Production on one cluster                 step release by WithHost, WithIngress, WithAuth
//	F08  Several clusters                          step controlplane/release by NewDeployment; step dataplanes/dp-1/release
//	F09  The sandbox's chart                       not needed: it is in the image, and is not published
//	F10  Have kubectl                              not needed: clusters are reached by handles of package kube
//	F11  Have a container engine that answers      finding container-engine
//	F12  Have flytectl                             not needed: the container is made through the engine's API
//	F13  The image runs in other engines, too      not needed: an engine is a port, and Docker's API is spoken by Podman
//	F14  Kubernetes runs in the container          step sandbox/kubeconfig
//	F15  Start the sandbox                         step sandbox/container by Start; finding port-in-use
//	F16  Its registry, and the form of a tag       output SandboxAccess.ImageTag; next: push images for tasks to
//	F17  Its PostgreSQL                            output Sandbox.Access; next: the database is
//	F18  Its console                               output Sandbox.Access; next: open the console
//	F19  Have clients use it                       output ClientConfigFile.Export; next: have clients use the configuration
//	F20  Its MinIO and the login there             output Sandbox.Access; next: MinIO's S3 API is
//	F21  The clients' endpoint and login           output Deployment.ClientConfig by WithInsecure, WithLogin
//	F22  The clients' console and log              output ClientConfig.YAML by WithConsole, WithLogger
//	F23  Write the clients' configuration          step sandbox/client-config by NewClientConfigFile
//	F24  The chart flyte-binary                    step release by NewSingleCluster
//	F25  Have a cluster                            finding server-version; finding no-usable-node; finding permission-denied
//	F26  Have a bucket                             step release by WithStorage, WithCloud
//	F27  Have a PostgreSQL that is reached         step database-secret by WithDatabase, WithDialer
//	F28  A role for Flyte itself                   step release by WithIdentity, NewIdentity
//	F29  A second role for user code               step release by WithUserIdentity, WithDomainIdentity
//	F30  Clouds change faster than guides          not needed: the clouds' own libraries are called
//	F31  Add the chart repository                  not needed: Env.WithCharts says where charts come from
//	F32  Download the starter's values             not needed: they are read out of the chart that is installed
//	F33  Install the chart                         step namespace; step release
//	F34  Do a dry run first                        output Deployment.Plan; output Deployment.Render
//	F35  The starter has no plugins                step release by WithPlugins
//	F36  The starter has no DNS and no TLS         step release by WithHost, WithIngress
//	F37  The starter has no login                  step release by WithAuth
//	F38  Forward two ports                         next: reach the console at; next: reach the API at
//	F39  Open the console                          next: reach the console at http://localhost:8088/console
//	F40  Keep the old configuration                output ClientConfigFile.Step by WithMerge
//	F41  Point clients to the API's port           next: reach the API at dns:///localhost:8089
//	F42  Run a workflow                            step placement by WithCanary; finding health
//	F43  Production builds on one cluster          not needed: the same deployment says more
//	F44  Have an ingress controller                finding ingress-class; finding ingress-controller
//	F45  A host and its name                       finding ingress-address; finding dns; next: by the DNS record
//	F46  NGINX                                     step release by NGINX
//	F47  An Application Load Balancer              step controlplane/release by ALB, InternetFacing, WithGroup
//	F48  NGINX on Google Cloud                     step controlplane/release by NGINX, GCS
//	F49  It is flyte-core on one cluster           step controlplane/release by WithExecution
//	F50  A login by OAuth2                         step controlplane/release by WithAuth
//	F51  Flyte does not authorise                  finding no-authorization
//	F52  Upgrade                                   step release by WithVersion; finding version-change
//	F53  Minor versions may change a lot           finding version-change; finding database-backup; finding downgrade
//	F54  Upgrade the planes together               finding version-skew
//	F55  Control plane and data planes             step controlplane/release by WithControlPlane, WithDataplanes
//	F56  The least policy for buckets              step identity/*/*/policy
//	F57  A role for each kind of plane             step identity/*/*/role
//	F58  Keep to one's own policies                step controlplane/release by AWSRole
//	F59  An OIDC provider for each cluster         step identity/*/oidc-provider/*
//	F60  Trust each kind of cluster                step identity/*/*/role
//	F61  The control plane's role                  step identity/*/*/role
//	F62  Edit its trust policy                     step identity/*/*/role
//	F63  Trust the data catalog, too               step identity/*/*/role
//	F64  The catalog caches in the bucket          step controlplane/release by WithStorage
//	F65  The trust policy's text                   step identity/*/*/role
//	F66  The data planes' role                     step identity/*/*/role
//	F67  Trust user code in all namespaces         step identity/*/*/role by ForAnyProject
//	F68  Or in each namespace by name              step identity/*/*/role by WithNamespaceMapping
//	F69  Two clusters that are reached             finding server-version
//	F70  The chart flyte-core                      step controlplane/release
//	F71  Fetch the chart                           not needed: it is taken from where Env.WithCharts says
//	F72  Where data planes find flyteadmin         step dataplanes/dp-1/release by WithHost
//	F73  Where they find the catalog               step dataplanes/dp-1/release by CatalogAt; finding no-catalog
//	F74  An internal load balancer for it          step controlplane/catalog by InternalLoadBalancer
//	F75  Data planes report to flyteadmin          step dataplanes/dp-1/release by WithAuth
//	F76  Install data planes                       step dataplanes/dp-1/namespace; step dataplanes/dp-1/release
//	F77  A ServiceAccount and its token            step dataplanes/dp-1/access
//	F78  The token's Secret                        step dataplanes/dp-1/access by WithTokenGeneration
//	F79  All tokens and authorities in a Secret    step controlplane/credentials
//	F80  Read a token and an authority             step dataplanes/dp-1/access; finding token-refused
//	F81  Write them in the control plane           step controlplane/credentials
//	F82  Mount them                                step controlplane/release
//	F83  Labels and clusters for flyteadmin        step controlplane/release by WithLabelMap
//	F84  The API server of a cluster               step dataplanes/dp-1/access; finding endpoint-unreachable
//	F85  Weights that add up to one                step controlplane/release by Weight; finding weights
//	F86  User code's default role                  step controlplane/release by WithUserIdentity
//	F87  The control plane runs no workflows       finding executions-running
//	F88  Or it runs workflows, too                 step controlplane/release by WithExecution
//	F89  Upgrade the control plane                 step controlplane/release
//	F90  From one cluster to several               step predecessor/stop by WithPredecessor
//	F91  See that all pods run                     finding workload-not-ready
//	F92  Bind a label to a project's domain        step labels by WithProject
//	F93  The label must exist                      step labels by Validate
//	F94  A file for each binding                   not needed: a label map has all of them
//	F95  The project must exist                    step projects by WithProjects
//	F96  Run there                                 step placement by WithCanary
//	F97  Bind a label to a workflow                step labels by WithWorkflow
//	F98  It runs on the label's cluster            step placement; finding placement
//	F99  Add a cluster, again and again            step dataplanes/dp-2/release by WithDataplanes
//	F100 Make the cluster                          not needed: a cluster is made by others and then named in the Env
//	F101 Make its nodes                            not needed: as the cluster; finding no-usable-node
//	F102 Its OIDC provider                         step identity/*/oidc-provider/*
//	F103 A second statement of trust               step identity/*/*/role
//	F104 Install the data plane there              step dataplanes/dp-2/release
//	F105 Add its credentials                       step controlplane/credentials
//	F106 A new label, the old ones stay            step controlplane/release by WithLabel
//	F107 Upgrade the control plane                 step controlplane/release
//	F108 Bind the new label                        step labels by WithWorkflow
//	F109 Run there                                 step placement by WithCanary
//	F110 See that it ran there                     step placement; finding placement
//
// [Discover] reads what the guide's reader has installed by hand into a
// [Deployment], whose plan shows what taking it over changes.
package flyte
