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
// Flyte's deployment guide installs a single cluster by hand. What became of its steps:
//
//	Use the chart flyte-binary                      step release; the chart is pinned by Version
//	Have a cluster                                  Env; preflight findings of its nodes and version
//	Have at least one bucket                        WithStorage; its name is validated, the bucket is not made
//	Have a PostgreSQL database that is reachable    WithDatabase; the chart's pods wait for it
//	Make a role for the backend                     WithIdentity; ServiceAccount names whom it must trust
//	Make a second role for user code                WithUserIdentity, WithDomainIdentity
//	Cloud APIs change faster than guides            not needed: no cloud is called
//	Add the chart repository                        Env.WithCharts
//	Download the starter values                     not needed: they are read out of the chart
//	helm install                                    steps namespace and release
//	Do a dry run first                              planewright.Plan, Deployment.Render
//	The starter has no plugins                      WithPlugins
//	The starter has no DNS and no TLS               it has had an ingress since, which is switched off
//	The starter has no authentication               WithAuth
//	Forward ports 8088 and 8089                     done by Verify; the report says how to do it by hand
//	Open the console                                the report's "next"
//	Keep the old client configuration               not needed: no client configuration is written
//	Point the client to the endpoint                the report's "next", with the right port
//	Run a test workflow                             not done: Verify asks for Flyte's health
//	Go to production from a single cluster          the same Deployment with more said
//	Have an ingress controller                      WithIngress: ALB, NGINX, Traefik or GKE; by default there is no ingress
//	Ingress, DNS, NGINX, ALB                        WithHost and WithIngress; what is wrong with both is said at once
//	NGINX on Google Cloud with flyte-core           WithIngress(NGINX(…)) of a control plane
//	OAuth2 authentication                           raw values below configuration.auth
//	Flyte has no authorization                      as it is
//	Upgrade by helm upgrade                         Install with a newer Version
//	Minor upgrades may change a lot                 the plan shows what changes; findings tell of renamed values, of the database to save, of a downgrade
//	Upgrade the components together                 not needed: they are one process
//
// And of its steps for several clusters:
//
//	Make a policy and roles                         steps identity/…, of [NewIdentity] or by default
//	Make an OIDC provider for each cluster          step identity/…/oidc-provider/…
//	Trust the data planes                           exact ServiceAccounts of each cluster; the plan reckons the budget
//	Install a data plane                            steps dataplanes/…/namespace and release
//	Make a token and read it                        step dataplanes/…/access, which waits until it is filled
//	Put tokens and authorities into a Secret        step controlplane/credentials; others' keys stay
//	Write labelClusterMap and clusterConfigs        WithLabelMap and WithDataplanes; always all of them
//	Mount the credentials                           done; they are mounted where they are read
//	Upgrade the control plane                       step controlplane/release, installed once with its credentials
//	Make projects                                   step projects
//	Bind labels to projects and workflows           step labels
//	Run a workflow and look where it ran            WithCanary, with Verify
//	Add a data plane                                WithDataplanes with one more; old clusters are not touched
//
// [Discover] reads what the guide's reader has installed by hand into a
// [Deployment], whose plan shows what taking it over changes.
package flyte
