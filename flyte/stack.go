package flyte

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/kube"
)

// The labels and annotations of objects that this package makes itself.
const (
	managedByLabel     = "app.kubernetes.io/managed-by"
	managedByValue     = "planewright"
	stackLabel         = "planewright.dev/stack"
	revisionAnnotation = "planewright.dev/revision"
)

// On returns the deployment as a stack of steps on an Env, for the verbs of
// package planewright. Its steps are, for a deployment called ml:
//
//	flyte/ml/identity/…       what makes the identities of [NewIdentity], if there are any
//	flyte/ml/namespace        the namespace
//	flyte/ml/database-secret  the database's password and authorities, if there are any of ours
//	flyte/ml/storage-secret   the storage's keys, if there are any of ours
//	flyte/ml/auth-secret      what logins need, if there are any
//	flyte/ml/release          the Helm release
//	flyte/ml/ingress          what the ingress controller needs beside it, if anything
//
// and, for a deployment in planes:
//
//	flyte/ml/identity/ACCOUNT/…          identities, by the accounts that they are in
//	flyte/ml/controlplane/namespace      the control plane's namespace
//	flyte/ml/controlplane/catalog        the load balancer of the catalog, if there is one
//	flyte/ml/dataplanes/dp-1/namespace   each data plane's namespace
//	flyte/ml/dataplanes/dp-1/release     its Helm release
//	flyte/ml/dataplanes/dp-1/access      flyteadmin's token for it
//	flyte/ml/controlplane/credentials    the tokens and authorities of all data planes
//	flyte/ml/controlplane/release        the control plane's Helm release
//	flyte/ml/predecessor/stop            a predecessor's end, see [Deployment.WithPredecessor]
//	flyte/ml/predecessor/uninstall       and its removal, before
//	flyte/ml/controlplane/host           the control plane gets the host
//	flyte/ml/controlplane/ingress        what the ingress controller needs beside the release, if anything
//	flyte/ml/projects                    projects in flyteadmin
//	flyte/ml/labels                      the labels that they are bound to
//	flyte/ml/placement                   where executions run; it is only verified
//
// with database-secret, storage-secret and auth-secret beside the releases that need them. A
// data plane's name is in lower case there.
//
// What is wrong with the deployment or the Env is the error of every verb.
func (d Deployment) On(env Env) planewright.Stack {
	stack := planewright.NewStack(d.id())
	var p planewright.Problems
	d.validate(&p)
	env.validate(&p, d.clusterNames()...)
	if !d.inPlanes() {
		d.validateUses(&p, env)
	}
	d.validateCertificatePlace(&p, env)
	if err := p.Err(d.spec()); err != nil {
		return stack.WithError(err)
	}
	if d.inPlanes() {
		return d.onPlanes(stack, env)
	}
	d, identities := d.provisioned(env)
	if identities.Err != nil {
		return stack.WithError(identities.Err)
	}
	// Which annotations a new identity has is known only now.
	if d.validateSameIdentities(&p); p.Err(d.spec()) != nil {
		return stack.WithError(p.Err(d.spec()))
	}
	b := newBinding(d, env)
	b.identities = identities
	locker, inventory := env.locker, env.inventory
	if locker == nil {
		locker = kube.NewLeaseLocker(b.cluster, d.namespace, "planewright-flyte-"+d.name)
	}
	if inventory == nil {
		inventory = kube.NewInventory(b.cluster, d.namespace, "planewright-flyte-"+d.name)
	}
	return stack.
		WithSteps(env.afterClusters(b.steps())...).
		WithProbes(b.probes()...).
		WithProbes(b.presupposed(env)...).
		WithLocker(locker).
		WithInventory(inventory, b.prune(env))
}

// Plan is planewright.Plan for this deployment alone.
func (d Deployment) Plan(ctx context.Context, env Env, options ...planewright.Option) (*planewright.ExecutionPlan, error) {
	return planewright.Plan(ctx, d.arguments(env, options)...)
}

// Install is planewright.Install for this deployment alone.
func (d Deployment) Install(ctx context.Context, env Env, options ...planewright.Option) (*planewright.Report, error) {
	return planewright.Install(ctx, d.arguments(env, options)...)
}

// Verify is planewright.Verify for this deployment alone.
func (d Deployment) Verify(ctx context.Context, env Env, options ...planewright.Option) (*planewright.Verification, error) {
	return planewright.Verify(ctx, d.arguments(env, options)...)
}

// Uninstall is planewright.Uninstall for this deployment alone.
func (d Deployment) Uninstall(ctx context.Context, env Env, options ...planewright.Option) (*planewright.Report, error) {
	return planewright.Uninstall(ctx, d.arguments(env, options)...)
}

// Render is the stack's Render for this deployment.
func (d Deployment) Render(ctx context.Context, env Env, w planewright.FileWriter, options ...planewright.Option) error {
	return d.On(env).Render(ctx, w, options...)
}

func (d Deployment) arguments(env Env, options []planewright.Option) []planewright.Argument {
	arguments := []planewright.Argument{d.On(env)}
	for _, o := range options {
		arguments = append(arguments, o)
	}
	return arguments
}

// id is the first part of the ids of the deployment's steps.
func (d Deployment) id() string { return "flyte/" + d.name }

// owner marks what is this deployment's; it fits into a label.
func (d Deployment) owner() string { return "flyte." + d.name }

// binding is one release of a valid deployment, on its cluster. Its
// Deployment is the release's view of the whole: its cluster, its name, its raw values.
type binding struct {
	Deployment
	recipe recipe
	// prefix is the first part of the ids of its steps.
	prefix  string
	cluster kube.Cluster
	// elsewhere renders files while the cluster is not there. May be nil.
	elsewhere kube.Releases
	charts    kube.ChartSource
	facts     Chart
	keys      secretKeys
	// holdsLock marks the release whose namespace holds the lock.
	holdsLock bool
	// now tells the time.
	now func() time.Time
	// dialer and resolver reach the host's ingress. May be nil.
	dialer   cloud.Dialer
	resolver Resolver
	// http asks identity providers. May be nil.
	http *http.Client
	// identities is what makes the deployment's identities.
	identities cloud.IdentityProvision
	// databaseRevision and storageRevision are given by the Secrets' steps.
	databaseRevision, storageRevision planewright.Output[string]
	// authRevision is given by the step of the logins' Secret, if there is one.
	authRevision planewright.Output[string]
	// credentialsRevision is given by the credentials' step, if there is one.
	credentialsRevision planewright.Output[string]
	// settled is given by the release's step, if nothing is to be done about it.
	settled planewright.Output[bool]
	// catalogAddress is given by the catalog's step, if there is one.
	catalogAddress planewright.Output[string]
	// host is given by the predecessor's step, if there is one.
	host planewright.Output[string]
	// endpoints are given by the data planes' steps, by the data planes' names.
	endpoints map[string]planewright.Output[string]
}

// secretKeys are the keys of the Secrets that the release's chart mounts.
type secretKeys struct{ password, storage string }

func newBinding(d Deployment, env Env) binding {
	return bind(d, env, d.id(), d.single(), secretKeys{passwordKey, storageConfigKey})
}

func bind(d Deployment, env Env, prefix string, recipe recipe, keys secretKeys) binding {
	b := binding{Deployment: d, recipe: recipe, prefix: prefix, charts: env.charts, keys: keys, holdsLock: true, now: env.time(), dialer: env.dialer, resolver: env.resolver, http: env.http}
	b.cluster, _ = env.cluster(d.cluster)
	b.facts, _ = d.version.Chart(recipe.chart())
	b.databaseRevision = planewright.NewOutput[string](b.step("database-secret"), "revision")
	b.storageRevision = planewright.NewOutput[string](b.step("storage-secret"), "revision")
	b.authRevision = planewright.NewOutput[string](b.step("auth-secret"), "revision")
	b.settled = planewright.NewOutput[bool](b.step("release"), "state")
	return b
}

// folder is where a step's files are rendered: the end of its id.
func (b binding) folder(name string) string {
	return strings.TrimPrefix(b.step(name), b.id()+"/")
}

// step is the id of one of the release's steps.
func (b binding) step(name string) string { return b.prefix + "/" + name }

// inputs are what the steps before the release have found in this run.
func (b binding) inputs(run *planewright.Run) (inputs, error) {
	in := inputs{endpoints: map[string]string{}}
	wanted := []struct {
		from planewright.Output[string]
		to   *string
	}{}
	want := func(needed bool, from planewright.Output[string], to *string) {
		if needed {
			wanted = append(wanted, struct {
				from planewright.Output[string]
				to   *string
			}{from, to})
		}
	}
	want(b.database.owned(), b.databaseRevision, &in.database)
	want(b.storage.keyed(), b.storageRevision, &in.storage)
	want(!b.auth.IsZero(), b.authRevision, &in.auth)
	want(b.credentialsRevision.Step() != "", b.credentialsRevision, &in.credentials)
	want(b.catalogAddress.Step() != "", b.catalogAddress, &in.catalog)
	want(b.host.Step() != "", b.host, &in.host)
	for _, w := range wanted {
		value, err := w.from.Get(run)
		if err != nil {
			return inputs{}, err
		}
		*w.to = value
	}
	for name, endpoint := range b.endpoints {
		value, err := endpoint.Get(run)
		if err != nil {
			return inputs{}, err
		}
		in.endpoints[name] = value
	}
	return in, nil
}

// renderInputs stand in for what only an install finds.
func (b binding) renderInputs() inputs {
	in := inputs{endpoints: map[string]string{}}
	if b.database.owned() {
		in.database = firstRevision
	}
	if b.storage.keyed() {
		in.storage = firstRevision
	}
	if !b.auth.IsZero() {
		in.auth = firstRevision
	}
	if b.credentialsRevision.Step() != "" {
		in.credentials = firstRevision
	}
	if b.catalogAddress.Step() != "" {
		in.catalog = renderedLater
	}
	for name := range b.endpoints {
		in.endpoints[name] = "https://" + renderedLater
		if plane, ok := b.dataplane(name); ok && plane.endpoint.url != "" {
			in.endpoints[name] = plane.endpoint.url
		}
	}
	return in
}

// renderedLater stands in rendered files for what only an install finds.
const renderedLater = "known-when-installed.invalid"

func (b binding) steps() []planewright.Step {
	namespace := namespaceStep{b}.step()
	steps := append(slices.Clone(b.identities.Steps), namespace)
	needs := []string{namespace.ID}
	for _, identity := range b.identities.Identities {
		for _, need := range identity.Needs {
			if !slices.Contains(needs, need) {
				needs = append(needs, need)
			}
		}
	}
	for _, secret := range b.secrets() {
		step := secret.step()
		steps = append(steps, step)
		needs = append(needs, step.ID)
	}
	release := releaseStep{b}.step(needs)
	return b.withIngress(append(steps, release), release.ID)
}

// labels are those of the objects that this package makes itself.
func (b binding) ownLabels() map[string]any {
	return map[string]any{managedByLabel: managedByValue, stackLabel: b.owner()}
}

// owns reports whether an object's labels say that this deployment made it.
func (b binding) owns(labels map[string]string) bool {
	return labels[managedByLabel] == managedByValue && labels[stackLabel] == b.owner()
}
