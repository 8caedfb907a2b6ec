package flyte

import (
	"context"
	"slices"

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
//	flyte/ml/release          the Helm release
//
// What is wrong with the deployment or the Env is the error of every verb.
func (d Deployment) On(env Env) planewright.Stack {
	stack := planewright.NewStack(d.id())
	var p planewright.Problems
	d.validate(&p)
	env.validate(&p, d.cluster)
	d.validateUses(&p, env)
	if err := p.Err(d.spec()); err != nil {
		return stack.WithError(err)
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
		WithSteps(b.steps()...).
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

// binding is a valid deployment on its cluster.
type binding struct {
	Deployment
	cluster kube.Cluster
	charts  kube.ChartSource
	facts   Chart
	// identities is what makes the deployment's identities.
	identities cloud.IdentityProvision
	// databaseRevision and storageRevision are given by the Secrets' steps.
	databaseRevision, storageRevision planewright.Output[string]
}

func newBinding(d Deployment, env Env) binding {
	b := binding{Deployment: d, charts: env.charts}
	b.cluster, _ = env.cluster(d.cluster)
	b.facts, _ = d.version.Chart(binaryChart)
	b.databaseRevision = planewright.NewOutput[string](b.step("database-secret"), "revision")
	b.storageRevision = planewright.NewOutput[string](b.step("storage-secret"), "revision")
	return b
}

// step is the id of one of the deployment's steps.
func (b binding) step(name string) string { return b.id() + "/" + name }

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
	return append(steps, releaseStep{b}.step(needs))
}

// labels are those of the objects that this package makes itself.
func (b binding) labels() map[string]any {
	return map[string]any{managedByLabel: managedByValue, stackLabel: b.owner()}
}

// owns reports whether an object's labels say that this deployment made it.
func (b binding) owns(labels map[string]string) bool {
	return labels[managedByLabel] == managedByValue && labels[stackLabel] == b.owner()
}
