package kubeflow

import (
	"context"
	"errors"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
)

// The labels of objects that this package makes.
const (
	managedByLabel = "app.kubernetes.io/managed-by"
	managedByValue = "planewright"
	stackLabel     = "planewright.dev/stack"
)

// On returns the stack as a stack of steps on an Env, for the verbs of package
// planewright. Its steps are, for a stack called ml:
//
//	kubeflow/ml/platform-url               the host is one of the platform's access URLs
//	kubeflow/ml/login-certificate          the certificate of the platform's login
//	kubeflow/ml/mesh                       the login, in the service mesh
//	kubeflow/ml/mesh-webhooks              webhooks of a mesh of version 1, with the option
//	kubeflow/ml/definitions                definitions that an uninstall deletes, if there are any
//	kubeflow/ml/volumes                    volumes that an uninstall deletes, if there are any
//	kubeflow/ml/base/package               what the catalog offers
//	kubeflow/ml/base/namespace             the operator's namespace
//	kubeflow/ml/base/operatorgroup         its OperatorGroup
//	kubeflow/ml/base/subscription          its Subscription
//	kubeflow/ml/base/operator              the approval of the install plan, the operator at its pin
//	kubeflow/ml/base/instance              the custom resource of the component
//	kubeflow/ml/pipelines/…                the same for each further component
//	kubeflow/ml/profiles/team-a/profile    a tenant
//	kubeflow/ml/profiles/team-a/security   its pod security, if it is set
//	kubeflow/ml/profiles/team-a/bindings/… a person in it
//	kubeflow/ml/namespaces/legacy/…        a person in a namespace that is no profile's
//	kubeflow/ml/modelregistry/registries/team-a/models  a model registry
//
// What is wrong with the stack or the Env is the error of every verb.
func (s KubeflowStack) On(env Env) planewright.Stack {
	stack := planewright.NewStack(s.id())
	var p planewright.Problems
	s.validate(&p)
	env.validate(&p, s.global, s.workload)
	if err := p.Err(s.spec()); err != nil {
		return stack.WithError(err)
	}
	b := newBinding(s, env)
	namespace, name := s.operatorNamespace(ComponentBase), "planewright-kubeflow-"+s.name
	locker, inventory := env.locker, env.inventory
	if locker == nil {
		locker = kube.NewLeaseLocker(b.workload, namespace, name)
	}
	if inventory == nil {
		inventory = kube.NewInventory(b.workload, namespace, name)
	}
	return stack.
		WithSteps(b.steps()...).
		WithProbes(b.probes()...).
		WithLocker(locker).
		WithInventory(inventory, b.prune)
}

// Plan is planewright.Plan for this stack alone.
func (s KubeflowStack) Plan(ctx context.Context, env Env, options ...planewright.Option) (*planewright.ExecutionPlan, error) {
	return planewright.Plan(ctx, s.arguments(env, options)...)
}

// Install is planewright.Install for this stack alone.
func (s KubeflowStack) Install(ctx context.Context, env Env, options ...planewright.Option) (*planewright.Report, error) {
	return planewright.Install(ctx, s.arguments(env, options)...)
}

// Verify is planewright.Verify for this stack alone.
func (s KubeflowStack) Verify(ctx context.Context, env Env, options ...planewright.Option) (*planewright.Verification, error) {
	return planewright.Verify(ctx, s.arguments(env, options)...)
}

// Uninstall is planewright.Uninstall for this stack alone. Profiles, their
// namespaces, volumes and CustomResourceDefinitions stay, unless they are named by
// [KubeflowStack.WithProfilesDeleted], [KubeflowStack.WithVolumesDeleted] and
// [KubeflowStack.WithDefinitionsDeleted].
func (s KubeflowStack) Uninstall(ctx context.Context, env Env, options ...planewright.Option) (*planewright.Report, error) {
	return planewright.Uninstall(ctx, s.arguments(env, options)...)
}

// Render is the stack's Render for this stack.
func (s KubeflowStack) Render(ctx context.Context, env Env, w planewright.FileWriter, options ...planewright.Option) error {
	return s.On(env).Render(ctx, w, options...)
}

func (s KubeflowStack) arguments(env Env, options []planewright.Option) []planewright.Argument {
	arguments := []planewright.Argument{s.On(env)}
	for _, o := range options {
		arguments = append(arguments, o)
	}
	return arguments
}

// binding is a valid stack on its clusters.
type binding struct {
	KubeflowStack
	env              Env
	global, workload kube.Cluster
	// certificate is given by the step that reads it.
	certificate planewright.Output[certificate]
	// upgrading holds the operator that is being upgraded.
	upgrading chan struct{}
}

func newBinding(s KubeflowStack, env Env) binding {
	b := binding{KubeflowStack: s, env: env, upgrading: make(chan struct{}, 1)}
	b.global, _ = env.cluster(s.global)
	b.workload, _ = env.cluster(s.workload)
	b.certificate = planewright.NewOutput[certificate](b.step("login-certificate"), "certificate")
	return b
}

// step is the id of one of the stack's steps.
func (b binding) step(parts ...string) string {
	return b.id() + "/" + strings.ToLower(strings.Join(parts, "/"))
}

// ownLabels are those of the objects that this stack makes.
func (b binding) ownLabels() map[string]any {
	return map[string]any{managedByLabel: managedByValue, stackLabel: b.owner()}
}

// owns reports whether an object's labels say that this stack made it.
func (b binding) owns(labels map[string]string) bool {
	return labels[managedByLabel] == managedByValue && labels[stackLabel] == b.owner()
}

// steps are all of the stack's steps.
func (b binding) steps() []planewright.Step {
	platform, unkept := b.platformSteps(), b.unkeptSteps()
	steps := append(platform, unkept...)
	needs := needsOf(steps...)
	for _, component := range b.Components() {
		o := b.operator(component)
		if component == ComponentBase {
			steps = append(steps, o.operatorSteps()...)
			steps = append(steps, instanceStep{operatorBinding: o, instance: o.ownInstance()}.step(needs...))
			needs = []string{b.step(string(ComponentBase), "instance")}
			steps = append(steps, b.tenantSteps(needs)...)
			continue
		}
		steps = append(steps, o.operatorSteps(needs...)...)
		if component == ComponentModelRegistry {
			steps = append(steps, o.registrySteps()...)
			continue
		}
		steps = append(steps, instanceStep{operatorBinding: o, instance: o.ownInstance()}.step(needs...))
	}
	return steps
}

// checked is what a step's check found. Where the answer was that a permission
// is missing, and the preflight says so too, the step is blocked, and the
// preflight's findings tell all that is missing at once.
func (b binding) checked(ctx context.Context, run *planewright.Run, change planewright.Change, err error) (planewright.Change, error) {
	if !errors.Is(err, planewright.ErrDenied) {
		return change, err
	}
	if missing, probeErr := b.probePermissions(ctx, run); probeErr != nil || len(missing) == 0 {
		return change, err
	}
	return planewright.Change{Action: planewright.ActionBlocked, Reason: err.Error(), Fingerprint: "denied"}, nil
}
