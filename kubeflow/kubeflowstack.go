package kubeflow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright"
)

// KubeflowStack describes a Kubeflow that should exist. It is a value: every
// method returns a changed copy and leaves the original as it was. Nothing is
// read or written until a verb of package planewright runs on what
// [KubeflowStack.On] returns.
//
// Methods never fail; [KubeflowStack.Validate] reports everything that is wrong,
// and the verbs do so first.
type KubeflowStack struct { //nolint:revive // a Stack is package planewright's word for the steps that it turns into
	name             string
	release          Release
	global, workload string
	host             string
	mesh             Mesh
	catalog          catalog
	base             Base
	pipelines        *Pipelines
	trainer          *Trainer
	registryOperand  operand
	registries       []ModelRegistry
	profiles         []Profile
	bindings         []NamespaceBinding
	unkept           unkept
	manageURL        bool
	adopt            bool
	awaitPackages    bool
}

// catalog names the CatalogSource that packages come from.
type catalog struct{ source, namespace string }

// The defaults of [KubeflowStack.WithCatalog].
const (
	DefaultCatalog          = "platform"
	DefaultCatalogNamespace = "cpaas-system"
)

// NewKubeflowStack describes a Kubeflow of a release, with its base alone. The name
// tells stacks apart, in ids and plans. The two clusters are names in the [Env]:
// global is where the platform itself runs (its access URLs and its login's
// certificate are there), workload is where Kubeflow is installed. On a platform
// of one cluster they are the same.
func NewKubeflowStack(name string, release Release, global, workload string) KubeflowStack {
	return KubeflowStack{name: name, release: release, global: global, workload: workload,
		catalog: catalog{DefaultCatalog, DefaultCatalogNamespace}, base: NewBase()}
}

// WithHost sets the DNS name under which people reach Kubeflow. It must be set,
// as a bare name: "kubeflow.acme.example". Whatever else repeats it follows from it.
func (s KubeflowStack) WithHost(host string) KubeflowStack {
	s.host = host
	return s
}

// WithMesh sets the service mesh. By default [ServiceMeshV2].
func (s KubeflowStack) WithMesh(mesh Mesh) KubeflowStack {
	s.mesh = mesh
	return s
}

// WithCatalog sets the CatalogSource that packages come from, and its
// namespace. By default [DefaultCatalog] in [DefaultCatalogNamespace].
func (s KubeflowStack) WithCatalog(source, namespace string) KubeflowStack {
	s.catalog = catalog{source, namespace}
	return s
}

// WithBase sets how the base is installed. By default [NewBase].
func (s KubeflowStack) WithBase(base Base) KubeflowStack {
	s.base = base
	return s
}

// WithPipelines adds Kubeflow Pipelines.
func (s KubeflowStack) WithPipelines(pipelines Pipelines) KubeflowStack {
	s.pipelines = &pipelines
	return s
}

// WithTrainer adds Kubeflow Trainer.
func (s KubeflowStack) WithTrainer(trainer Trainer) KubeflowStack {
	s.trainer = &trainer
	return s
}

// WithModelRegistries adds model registries, and with the first one their
// operator. One with the name and the profile of a registry that is there takes its place.
func (s KubeflowStack) WithModelRegistries(registries ...ModelRegistry) KubeflowStack {
	s.registries = slices.Clone(s.registries)
	for _, r := range registries {
		if i := slices.IndexFunc(s.registries, func(have ModelRegistry) bool { return have.path() == r.path() }); i >= 0 {
			s.registries[i] = r
		} else {
			s.registries = append(s.registries, r)
		}
	}
	return s
}

// WithModelRegistryNamespace sets the namespace that the operator of the model
// registries runs in, its package's name by default.
func (s KubeflowStack) WithModelRegistryNamespace(namespace string) KubeflowStack {
	s.registryOperand.operatorNamespace = namespace
	return s
}

// WithProfiles adds tenants. One with the name of a profile that is there takes
// its place. A profile that is no longer named stays: deleting it would delete
// its namespace and all data in it.
func (s KubeflowStack) WithProfiles(profiles ...Profile) KubeflowStack {
	s.profiles = slices.Clone(s.profiles)
	for _, p := range profiles {
		if i := slices.IndexFunc(s.profiles, func(have Profile) bool { return have.name == p.name }); i >= 0 {
			s.profiles[i] = p
		} else {
			s.profiles = append(s.profiles, p)
		}
	}
	return s
}

// WithNamespaceBindings lets people into namespaces that are no profiles.
func (s KubeflowStack) WithNamespaceBindings(bindings ...NamespaceBinding) KubeflowStack {
	s.bindings = append(slices.Clip(s.bindings), bindings...)
	return s
}

// WithManagedPlatformURL adds the host to the access URLs of the whole
// platform, if it is missing. By default it is only verified, and the plan says
// what to add. Dangerous: the platform may renew its certificate when it has changed.
func (s KubeflowStack) WithManagedPlatformURL() KubeflowStack {
	s.manageURL = true
	return s
}

// WithAdoption takes over objects that exist and that this stack did not make.
// Dangerous: whoever made them may go on changing them. By default they are refused,
// and named. Subscriptions of the same package, and profiles of the same owner,
// are used as they are in any case.
func (s KubeflowStack) WithAdoption() KubeflowStack {
	s.adopt = true
	return s
}

// WithPackageWait has an install wait, within the step's time, until the
// catalog offers the packages. By default a missing package forbids the install.
func (s KubeflowStack) WithPackageWait() KubeflowStack {
	s.awaitPackages = true
	return s
}

// Name returns the stack's name.
func (s KubeflowStack) Name() string { return s.name }

// Release returns the release.
func (s KubeflowStack) Release() Release { return s.release }

// Host returns the DNS name under which people reach Kubeflow.
func (s KubeflowStack) Host() string { return s.host }

// Components returns the components that the stack installs, in order.
func (s KubeflowStack) Components() []Component {
	return slices.DeleteFunc(Components(), func(c Component) bool { _, ok := s.operand(c); return !ok })
}

// operand returns how a component is installed, false if it is not.
func (s KubeflowStack) operand(component Component) (operand, bool) {
	switch component {
	case ComponentBase:
		return s.base.operand, true
	case ComponentPipelines:
		if s.pipelines != nil {
			return s.pipelines.operand, true
		}
	case ComponentModelRegistry:
		return s.registryOperand, len(s.registries) > 0
	case ComponentTrainer:
		if s.trainer != nil {
			return s.trainer.operand, true
		}
	}
	return operand{}, false
}

// operatorNamespace is the namespace that a component's operator runs in.
func (s KubeflowStack) operatorNamespace(component Component) string {
	if o, _ := s.operand(component); o.operatorNamespace != "" {
		return o.operatorNamespace
	}
	operator, _ := s.release.Operator(component)
	return operator.Package
}

// String describes the stack in a few lines.
func (s KubeflowStack) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "kubeflow stack %s: Kubeflow %s on cluster %s, platform on cluster %s\n", s.name, s.release, s.workload, s.global)
	fmt.Fprintf(&b, "  host:     https://%s\n", s.host)
	for _, c := range s.Components() {
		o, _ := s.release.Operator(c)
		pin := o.CSV
		if pin == "" {
			pin = o.Package + " (not pinned)"
		}
		fmt.Fprintf(&b, "  operator: %s in %s\n", pin, s.operatorNamespace(c))
	}
	for _, p := range s.profiles {
		fmt.Fprintf(&b, "  profile:  %s of %s\n", p.name, p.owner)
	}
	for _, r := range s.registries {
		fmt.Fprintf(&b, "  registry: %s\n", r.path())
	}
	return b.String()
}

// id is the first part of the ids of the stack's steps.
func (s KubeflowStack) id() string { return "kubeflow/" + s.name }

// owner marks what is this stack's; it fits into a label.
func (s KubeflowStack) owner() string { return "kubeflow." + s.name }

// spec names the stack in errors.
func (s KubeflowStack) spec() string { return "kubeflow stack " + s.name }

// Validate reports everything that is wrong with the stack at once, as a
// [*planewright.ValidationError], or nil. It knows no cluster: what only they can
// tell is found by a plan.
func (s KubeflowStack) Validate() error {
	var p planewright.Problems
	s.validate(&p)
	return p.Err(s.spec())
}
