package flyte

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/container"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Sandbox is a whole Flyte in one container on this machine: Kubernetes,
// Flyte, PostgreSQL, MinIO and an image registry, as flytectl's command demo makes
// them. It is for trying workflows and for tests only: there is no login, and its
// passwords are published. It is a value: every method returns a changed copy.
//
//	sandbox := flyte.NewSandbox("lab", flyte.V1_16_8)
//	env := flyte.NewSandboxEnv(docker.New(docker.Sockets(os.Getenv)...), home)
//	report, err := sandbox.Start(ctx, env)
//
// Where it differs from flytectl's: ports are published to this machine only,
// see [Sandbox.WithOpenPorts]; of the user's folder .flyte the container sees
// .flyte/sandbox alone; and the user's own kubeconfig is not changed, see
// [SandboxAccess].
type Sandbox struct {
	name    string
	version Version
	image   string
	port    int
	open    bool
	plain   bool
	adopt   bool
	discard bool
	// from is set for a sandbox of a deployment, see [SandboxOf].
	from *Deployment
}

const (
	// sandboxName is the name of flytectl's container and volume. It is also
	// that of the context in the kubeconfig.
	sandboxName = "flyte-sandbox"
	// DefaultSandboxPort is the port of the sandbox's Kubernetes API.
	DefaultSandboxPort = 6443
	// sandboxRepository is where the images are.
	sandboxRepository = "cr.flyte.org/flyteorg/flyte-sandbox-bundled"
)

// The ports of the sandbox on this machine. The image has them in its own
// configuration, so they cannot be others.
const (
	sandboxConsolePort  = 30080
	sandboxRegistryPort = 30000
	sandboxPostgresPort = 30001
	sandboxMinIOPort    = 30002
	sandboxBuildkitPort = 30003
)

// sandboxImages are the tags of the images by releases: images are tagged by
// the commit of the release, as flytectl finds them.
func sandboxImages() map[string]string {
	return map[string]string{
		"v1.16.8": "sha-51877f899c9f95e0cb5efe90444eb0c6c6ea48a9",
		"v1.15.3": "sha-08a8d43838a8c02b07f18394ed74d5d17ce61891",
	}
}

// NewSandbox describes a sandbox of a release of Flyte 1. The name tells stacks
// apart, in ids and plans; the container and its volume are called
// flyte-sandbox, as flytectl's are, so there is one sandbox on a machine.
func NewSandbox(name string, version Version) Sandbox {
	return Sandbox{name: name, version: version, port: DefaultSandboxPort}
}

// SandboxOf describes a sandbox in which the workflows of a deployment can be
// tried: with its name and release. What makes the deployment fit for
// production has no place in a sandbox and is refused: start from a base that
// does not say it yet.
func SandboxOf(deployment Deployment) Sandbox {
	s := NewSandbox(deployment.name, deployment.version)
	s.from = &deployment
	return s
}

// WithImage takes another image, by tag or digest. By default it is that of the release.
func (s Sandbox) WithImage(reference string) Sandbox {
	s.image = reference
	return s
}

// WithKubernetesPort sets the port of the Kubernetes API on this machine, by
// default [DefaultSandboxPort]. The other ports are the image's and fixed.
func (s Sandbox) WithKubernetesPort(port int) Sandbox {
	s.port = port
	return s
}

// WithOpenPorts publishes the ports at every address of this machine, as
// flytectl does. Dangerous: whoever reaches the machine can then run code in a
// privileged container. By default they are published at 127.0.0.1.
func (s Sandbox) WithOpenPorts() Sandbox {
	s.open = true
	return s
}

// WithoutConnector leaves out the connector service, which the image runs by default.
func (s Sandbox) WithoutConnector() Sandbox {
	s.plain = true
	return s
}

// WithAdoption takes over a container of the name flyte-sandbox that this did
// not make: flytectl's. Dangerous: it is removed and made again; its volume stays.
func (s Sandbox) WithAdoption() Sandbox {
	s.adopt = true
	return s
}

// WithDataRemoval has an uninstall also delete the volume, with everything in
// the database and the bucket. By default it stays.
func (s Sandbox) WithDataRemoval() Sandbox {
	s.discard = true
	return s
}

// Name returns the sandbox's name.
func (s Sandbox) Name() string { return s.name }

// String describes the sandbox on one line.
func (s Sandbox) String() string {
	return fmt.Sprintf("flyte sandbox %s: Flyte %s in container %s", s.name, s.version, sandboxName)
}

// Image returns the reference of the image that is run.
func (s Sandbox) Image() string {
	if s.image != "" {
		return s.image
	}
	return sandboxRepository + ":" + sandboxImages()[s.version.Name()]
}

// pinnedImage is an image with a tag or a digest.
var pinnedImage = regexp.MustCompile(`^[a-z0-9][a-z0-9._/:-]*(:[A-Za-z0-9_][A-Za-z0-9_.-]*|@sha256:[0-9a-f]{64})$`)

// Validate returns a [*planewright.ValidationError] with everything that is wrong, or nil.
func (s Sandbox) Validate() error {
	var p planewright.Problems
	s.validate(&p)
	return p.Err("flyte sandbox " + s.name)
}

func (s Sandbox) validate(p *planewright.Problems) {
	if errs := validation.IsDNS1123Label(s.name); len(errs) > 0 || len(s.name) > maxName {
		p.Add("name", s.name, fmt.Sprintf("a sandbox's name is at most %d lower-case letters, digits and hyphens", maxName), "choose a short name like lab")
	}
	_, known := sandboxImages()[s.version.Name()]
	switch tag := s.image[strings.LastIndex(s.image, "/")+1:]; {
	case s.image == "" && !known:
		p.Add("version", s.version.Name(), "the sandbox's image is known for "+joinAnd(slices.Sorted(maps.Keys(sandboxImages())))+"; Flyte 2 has none", "use one of them, or WithImage")
	case s.image != "" && (!pinnedImage.MatchString(s.image) || !strings.ContainsAny(tag, ":@") || strings.HasSuffix(tag, ":latest")):
		p.Add("image", s.image, "an image is pinned by its tag or digest; latest moves", "write it as "+sandboxRepository+":sha-<commit of the release>")
	}
	if errs := validation.IsValidPortNum(s.port); len(errs) > 0 {
		p.Add("kubernetesPort", strconv.Itoa(s.port), "a port is a number from 1 to 65535", "leave it out to use "+strconv.Itoa(DefaultSandboxPort))
	} else if slices.Contains(sandboxFixedPorts(), s.port) {
		p.Add("kubernetesPort", strconv.Itoa(s.port), "the image uses this port itself", "leave it out to use "+strconv.Itoa(DefaultSandboxPort))
	}
	if s.from != nil {
		s.from.validateSandbox(p)
	}
}

func sandboxFixedPorts() []int {
	return []int{sandboxRegistryPort, sandboxPostgresPort, sandboxMinIOPort, sandboxBuildkitPort, sandboxConsolePort}
}

// validateSandbox refuses what a sandbox cannot have.
func (d Deployment) validateSandbox(p *planewright.Problems) {
	for _, has := range []struct {
		path       string
		set        bool
		value, why string
	}{
		{"controlplane", d.inPlanes(), d.control.cluster, "a sandbox is one container, and has no planes"},
		{"storage", d.storage.provider != "", d.storage.bucket, "a sandbox has a MinIO of its own"},
		{"database", d.database.set, d.database.host, "a sandbox has a PostgreSQL of its own"},
		{"identity", d.identity.kind != "", "", "nothing in a sandbox can take on a cloud's identity"},
		{"userIdentity", d.userIdentity.kind != "" || len(d.domainIdentities) > 0, "", "nothing in a sandbox can take on a cloud's identity"},
		{"replicas", d.replicas > 1, strconv.Itoa(d.replicas), "a sandbox runs one of everything"},
		{"placement", len(d.placement.podSpec()) > 0, "", "a sandbox is one node"},
		{"imageRegistry", d.registry != "", d.registry, "the sandbox's images are inside its own image; WithImage takes that from a mirror"},
		{"rules", len(d.rules) > 0, "", "Flyte may do everything in a sandbox"},
		{"values", len(d.raw) > 0, "", "a sandbox is installed from manifests that are in its image, by no chart; it reads .flyte/sandbox/config.yaml"},
	} {
		if has.set {
			p.Add(has.path, has.value, has.why, "leave it out of the base that a sandbox is made of")
		}
	}
}

// SandboxAccess is how a sandbox is reached from this machine.
type SandboxAccess struct {
	// Console is Flyte's: "http://localhost:30080/console".
	Console string
	// Registry is where images for tasks are pushed: "localhost:30000".
	Registry string
	// Postgres is the database's URL, without the password.
	Postgres string
	// MinIO is the URL of the S3 API, MinIOConsole that of its login page.
	MinIO, MinIOConsole string
	// MinIOUser, MinIOPassword and PostgresPassword are those that Flyte
	// publishes for every sandbox.
	MinIOUser                       string
	MinIOPassword, PostgresPassword planewright.Secret
	// Kubeconfig is the file with the context flyte-sandbox.
	Kubeconfig string
	// ClientConfig is the file for flytectl and pyflyte, Export the line that has them use it.
	ClientConfig, Export string
}

// ImageTag returns the name under which an image is pushed to the sandbox's
// registry and found by tasks: "localhost:30000/NAME:TAG".
func (a SandboxAccess) ImageTag(name, tag string) string {
	return a.Registry + "/" + name + ":" + tag
}

// Access returns how the sandbox is reached. It is known before the sandbox runs.
func (s Sandbox) Access(env SandboxEnv) SandboxAccess {
	local := func(port int, rest string) string { return "http://localhost:" + strconv.Itoa(port) + rest }
	file := s.clientConfig(env)
	return SandboxAccess{
		Console:          local(sandboxConsolePort, "/console"),
		Registry:         "localhost:" + strconv.Itoa(sandboxRegistryPort),
		Postgres:         fmt.Sprintf("postgres://postgres@localhost:%d/flyte?sslmode=disable", sandboxPostgresPort),
		MinIO:            local(sandboxMinIOPort, ""),
		MinIOConsole:     local(sandboxConsolePort, "/minio/login"),
		MinIOUser:        "minio",
		MinIOPassword:    planewright.SecretValue("miniostorage"),
		PostgresPassword: planewright.SecretValue("postgres"),
		Kubeconfig:       filepath.Join(env.sandboxFolder(), "kubeconfig"),
		ClientConfig:     file.Path(),
		Export:           file.Export(),
	}
}

// clientConfig is the file that flytectl writes for its sandbox.
func (s Sandbox) clientConfig(env SandboxEnv) ClientConfigFile {
	return NewClientConfigFile(filepath.Join(env.home, ".flyte", "config-sandbox.yaml"), s.ClientConfig())
}

// ClientConfig returns how clients reach the sandbox.
func (s Sandbox) ClientConfig() ClientConfig {
	return NewClientConfig("localhost:" + strconv.Itoa(sandboxConsolePort)).WithInsecure()
}

// spec is the container.
func (s Sandbox) spec(env SandboxEnv) container.Spec {
	address := "127.0.0.1"
	if s.open {
		address = "0.0.0.0"
	}
	spec := container.Spec{
		Name: sandboxName, Image: s.Image(),
		Labels: s.labels(),
		// Kubernetes' own file is written where no folder of the machine is
		// mounted; the file in the user's folder is made of it.
		Environment: []string{"K3S_KUBECONFIG_OUTPUT=" + sandboxKubeconfig},
		Mounts: []container.Mount{
			{Folder: env.sandboxFolder(), Target: "/var/lib/flyte/config"},
			{Volume: sandboxName, Target: "/var/lib/flyte/storage"},
		},
		Privileged: true,
		Hosts:      []string{"host.docker.internal:host-gateway"},
		Ports:      []container.Port{{Address: address, Host: s.port, Container: 6443}},
	}
	if s.plain {
		spec.Environment = append(spec.Environment, "DISABLE_CONNECTOR=True")
	}
	for _, port := range sandboxFixedPorts() {
		spec.Ports = append(spec.Ports, container.Port{Address: address, Host: port, Container: port})
	}
	slices.SortFunc(spec.Ports, func(a, b container.Port) int { return a.Host - b.Host })
	return spec
}

// sandboxKubeconfig is where Kubernetes writes its kubeconfig in the container.
const sandboxKubeconfig = "/var/lib/flyte/kubeconfig"

func (s Sandbox) owner() string { return "flyte." + s.name }

func (s Sandbox) labels() map[string]string {
	return map[string]string{managedByLabel: managedByValue, stackLabel: s.owner()}
}

func (s Sandbox) owns(labels map[string]string) bool {
	return labels[managedByLabel] == managedByValue && labels[stackLabel] == s.owner()
}

// Start installs the sandbox and waits until it answers.
func (s Sandbox) Start(ctx context.Context, env SandboxEnv, options ...planewright.Option) (*planewright.Report, error) {
	return planewright.Install(ctx, s.arguments(env, options)...)
}

// Plan is planewright.Plan for this sandbox alone.
func (s Sandbox) Plan(ctx context.Context, env SandboxEnv, options ...planewright.Option) (*planewright.ExecutionPlan, error) {
	return planewright.Plan(ctx, s.arguments(env, options)...)
}

// Status tells whether the sandbox runs, as described, and what of it answers.
func (s Sandbox) Status(ctx context.Context, env SandboxEnv, options ...planewright.Option) (*planewright.Verification, error) {
	return planewright.Verify(ctx, s.arguments(env, options)...)
}

// Wait waits until a sandbox that runs already answers: one that another
// program has started.
func (s Sandbox) Wait(ctx context.Context, env SandboxEnv, progress func(string)) error {
	var p planewright.Problems
	s.validate(&p)
	env.validate(&p)
	if err := p.Err("flyte sandbox " + s.name); err != nil {
		return err
	}
	return sandboxBinding{s, env}.ready(ctx, progress)
}

// Stop removes the container, with the configuration files that were made for
// it. The volume with its data stays, see [Sandbox.WithDataRemoval].
func (s Sandbox) Stop(ctx context.Context, env SandboxEnv, options ...planewright.Option) (*planewright.Report, error) {
	return planewright.Uninstall(ctx, s.arguments(env, options)...)
}

func (s Sandbox) arguments(env SandboxEnv, options []planewright.Option) []planewright.Argument {
	arguments := []planewright.Argument{s.On(env)}
	for _, o := range options {
		arguments = append(arguments, o)
	}
	return arguments
}
