package flyte

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
)

// Deployment describes a Flyte that should exist. It is a value: every method
// returns a changed copy and leaves the original as it was, so that a base can be kept and
// varied. Nothing is read or written until a verb of package planewright runs
// on what [Deployment.On] returns.
//
// Methods never fail; [Deployment.Validate] reports everything that is wrong, and the verbs do so first.
type Deployment struct {
	name      string
	version   Version
	cluster   string
	namespace string
	release   string

	storage  Storage
	database Database

	// host and ingress are a single-cluster deployment's.
	host       string
	auth       Auth
	monitoring Monitoring
	plugins    []Plugin
	ingress    Ingress

	identity         Identity
	userIdentity     Identity
	domainIdentities map[string]Identity

	// control is set for a deployment in planes, see [NewDeployment].
	planes     bool
	control    ControlPlane
	dataplanes []Dataplane
	labels     LabelMap
	canary     Canary
	waves      []int
	access     AccessJob
	// predecessor is what the deployment takes the place of, if it does.
	predecessor *Deployment

	domains   []string
	projects  []Project
	mapping   string
	templates []resourceTemplate
	variables []templateVariable
	rules     []Rule

	replicas         int
	requests, limits Resources
	placement        Placement
	registry         string
	pullSecrets      []string
	logLinks         LogLinks

	raw            []rawValues
	strict         bool
	adopt          bool
	recoverPending bool
	abandons       bool
}

// The defaults of a [Deployment].
const (
	// DefaultNamespace is the namespace of a deployment that names none.
	DefaultNamespace = "flyte"
	// DefaultRelease is the Helm release of a deployment that names none.
	DefaultRelease = "flyte-backend"
)

// NewSingleCluster describes a Flyte that runs as one process in one cluster,
// with its user code beside it, from the chart flyte-binary. The name tells
// deployments apart, in ids and plans; cluster is the name of the cluster in
// the [Env]. What is not said is as in the chart, on its overlay for the
// storage: namespace [DefaultNamespace], release [DefaultRelease], no ingress, no authentication.
//
// With a version of Flyte 2, see [V2_0_42], the chart is given the values of Flyte 2:
// one process with a console beside it, on one cluster, whose tasks run in the
// deployment's namespace. It takes a storage, a database, an identity, resources, a
// placement, rules, links to logs, an image registry and raw values; what else a
// deployment can say is refused with the reason. Flyte 2 checks no login itself.
//
// The cluster is an argument here, and not set by a method, because it is
// what makes a deployment a single-cluster one: a deployment cannot be without it.
func NewSingleCluster(name string, version Version, cluster string) Deployment {
	return Deployment{name: name, version: version, cluster: cluster, namespace: DefaultNamespace, release: DefaultRelease}
}

// NewDeployment describes a Flyte in planes, from the chart flyte-core: a
// control plane, see [Deployment.WithControlPlane], and the data planes that run
// its workflows, see [Deployment.WithDataplanes]. The name tells deployments
// apart, in ids and plans. What is not said is as in the chart, on its overlay for
// the storage: namespace [DefaultNamespace] in every cluster, no ingress, no
// authentication.
func NewDeployment(name string, version Version) Deployment {
	return Deployment{name: name, version: version, namespace: DefaultNamespace, planes: true}
}

// WithControlPlane sets the control plane of a deployment in planes.
func (d Deployment) WithControlPlane(control ControlPlane) Deployment {
	d.control = control
	return d
}

// WithDataplanes adds data planes. One with the name and the cluster of a data
// plane that is there takes its place.
func (d Deployment) WithDataplanes(planes ...Dataplane) Deployment {
	d.dataplanes = slices.Clone(d.dataplanes)
	for _, p := range planes {
		if i := slices.IndexFunc(d.dataplanes, func(have Dataplane) bool { return have.name == p.name && have.cluster == p.cluster }); i >= 0 {
			d.dataplanes[i] = p
		} else {
			d.dataplanes = append(d.dataplanes, p)
		}
	}
	return d
}

// WithoutDataplane leaves a data plane out. Take it out of the label map first,
// and say [Dataplane.WithoutNewExecutions], until nothing runs there any more.
func (d Deployment) WithoutDataplane(name string) Deployment {
	d.dataplanes = slices.DeleteFunc(slices.Clone(d.dataplanes), func(p Dataplane) bool { return p.name == name })
	return d
}

// WithLabelMap sets which data planes run which executions. It is required as
// soon as there is more than one cluster to run on.
func (d Deployment) WithLabelMap(labels LabelMap) Deployment {
	d.labels = labels
	return d
}

// WithWaves changes the releases of data planes in waves: so many first, then so
// many, and so on, the last size for all that follow. The data planes of a wave
// are changed, and ready, before the next wave begins, and one that fails
// halts those after it. The order is that of [Deployment.WithDataplanes]. By
// default all are changed at once.
func (d Deployment) WithWaves(sizes ...int) Deployment {
	d.waves = slices.Clone(sizes)
	return d
}

// WithNamespaceMapping sets the template of the names of projects' namespaces,
// made of "{{ project }}" and "{{ domain }}". By default "{{ project }}-{{ domain }}",
// on every cloud. Cloud identities trust the namespaces that follow from it.
func (d Deployment) WithNamespaceMapping(template string) Deployment {
	d.mapping = template
	return d
}

// WithVersion sets the release of Flyte: another one is an upgrade.
func (d Deployment) WithVersion(version Version) Deployment {
	d.version = version
	return d
}

// WithNamespace sets the namespace that Flyte runs in. It is created if it
// does not exist, and otherwise left as it is. By default [DefaultNamespace].
func (d Deployment) WithNamespace(namespace string) Deployment {
	d.namespace = namespace
	return d
}

// WithRelease sets the name of the Helm release. Keep it for as long as the
// deployment lives: objects are named after it. By default [DefaultRelease].
func (d Deployment) WithRelease(release string) Deployment {
	d.release = release
	return d
}

// WithStorage sets where Flyte keeps its data. It must be set.
func (d Deployment) WithStorage(storage Storage) Deployment {
	d.storage = storage
	return d
}

// WithDatabase sets Flyte's database. It must be set.
func (d Deployment) WithDatabase(database Database) Deployment {
	d.database = database
	return d
}

// WithIdentity sets the cloud identity of Flyte itself. By default its pods
// have that of their node.
func (d Deployment) WithIdentity(identity Identity) Deployment {
	d.identity = identity
	return d
}

// WithUserIdentity sets the cloud identity of user code: of the ServiceAccount
// default in every project's domains. By default its pods have that of their node.
func (d Deployment) WithUserIdentity(identity Identity) Deployment {
	d.userIdentity = identity
	return d
}

// WithDomainIdentity sets the cloud identity of user code in one domain,
// instead of that of [Deployment.WithUserIdentity].
func (d Deployment) WithDomainIdentity(domain string, identity Identity) Deployment {
	d.domainIdentities = maps.Clone(d.domainIdentities)
	if d.domainIdentities == nil {
		d.domainIdentities = map[string]Identity{}
	}
	d.domainIdentities[domain] = identity
	return d
}

// WithDomains adds domains, which divide every project. The first call
// replaces [DefaultDomains].
func (d Deployment) WithDomains(domains ...string) Deployment {
	d.domains = append(slices.Clip(d.domains), domains...)
	return d
}

// WithProjects adds projects that exist from the start. The first call
// replaces the chart's example project. A project that is no longer named
// stays: Flyte never deletes one.
func (d Deployment) WithProjects(projects ...Project) Deployment {
	d.projects = append(slices.Clip(d.projects), projects...)
	return d
}

// WithResourceTemplate adds a Kubernetes object that Flyte makes in every
// project's domains: a quota, say. The name must end in ".yaml"; templates are applied in
// the order of their names, after "001_namespace.yaml", which makes the namespace. In
// the text, "{{ namespace }}", "{{ project }}", "{{ domain }}" and the variables of
// [Deployment.WithTemplateVariable] are replaced. Flyte may make the common
// kinds of objects; others need [Deployment.WithRules].
func (d Deployment) WithResourceTemplate(name, text string) Deployment {
	d.templates = append(slices.Clip(d.templates), resourceTemplate{name, text})
	return d
}

// WithTemplateVariable sets a variable of the resource templates for some
// domains, or for all if none is named. A later call wins. Every variable
// that a template uses needs a value in every domain.
func (d Deployment) WithTemplateVariable(name, value string, domains ...string) Deployment {
	d.variables = append(slices.Clip(d.variables), templateVariable{name, value, slices.Clone(domains)})
	return d
}

// WithRules lets Flyte act on further Kubernetes objects, in all namespaces.
func (d Deployment) WithRules(rules ...Rule) Deployment {
	d.rules = slices.Clip(d.rules)
	for _, r := range rules {
		d.rules = append(d.rules, Rule{slices.Clone(r.APIGroups), slices.Clone(r.Resources), slices.Clone(r.Verbs)})
	}
	return d
}

// WithReplicas sets how many replicas of Flyte run. A single-cluster
// deployment has one, and no other number is valid: the chart runs Flyte as one
// process that holds its state in memory, and stops the old one before it starts a new one.
func (d Deployment) WithReplicas(replicas int) Deployment {
	d.replicas = replicas
	return d
}

// WithResources sets what Flyte's containers need and what they may use. By
// default neither is set.
func (d Deployment) WithResources(requests, limits Resources) Deployment {
	d.requests, d.limits = requests, limits
	return d
}

// WithPlacement says on which nodes Flyte's pods may run.
func (d Deployment) WithPlacement(placement Placement) Deployment {
	d.placement = placement
	return d
}

// WithImageRegistry takes the images of Flyte, of its co-pilot and of the
// client that waits for the database from a mirror: the registry's host, and
// a path if it has one ("registry.acme.example/mirror"). The rest of the
// images' names stays, and so do their tags; "postgres" is taken as "library/postgres".
func (d Deployment) WithImageRegistry(registry string) Deployment {
	d.registry = registry
	return d
}

// WithPullSecrets adds Secrets in the deployment's namespace that Flyte's
// images are pulled with. They must exist.
func (d Deployment) WithPullSecrets(names ...string) Deployment {
	d.pullSecrets = append(slices.Clip(d.pullSecrets), names...)
	return d
}

// WithLogLinks sets the links from tasks to their logs. By default there are none.
func (d Deployment) WithLogLinks(links LogLinks) Deployment {
	d.logLinks = links
	return d
}

// WithValues lays values over all that the deployment sets itself, with
// Helm's rules: maps merge, lists replace, null deletes. Later calls win. The
// values are the chart's own; text in them that the chart renders as a template is rendered.
func (d Deployment) WithValues(values kube.Values) Deployment {
	d.raw = append(slices.Clip(d.raw), newRawValues(values))
	return d
}

// WithValuesYAML is [Deployment.WithValues] with the text of a values file.
func (d Deployment) WithValuesYAML(text string) Deployment {
	d.raw = append(slices.Clip(d.raw), parseRawValues(text))
	return d
}

// WithStrictValues makes a raw value that no template of the chart reads an
// error. By default it is a warning.
func (d Deployment) WithStrictValues() Deployment {
	d.strict = true
	return d
}

// WithAdoption takes over objects that exist and that this deployment did not
// make. Dangerous: whoever made them may go on changing or deleting them. By
// default they are refused, and named.
func (d Deployment) WithAdoption() Deployment {
	d.adopt = true
	return d
}

// WithPendingRecovery takes over a Helm release of somebody else's that was left
// in the middle of an operation, once that is old enough. Dangerous: somebody
// may be at work on it. A release that an interrupted install of this
// deployment left so is recovered in any case.
func (d Deployment) WithPendingRecovery() Deployment {
	d.recoverPending = true
	return d
}

// Name returns the deployment's name.
func (d Deployment) Name() string { return d.name }

// Version returns the release of Flyte.
func (d Deployment) Version() Version { return d.version }

// Cluster returns the name of the cluster, the control plane's if there are planes.
func (d Deployment) Cluster() string {
	if d.inPlanes() {
		return d.control.cluster
	}
	return d.cluster
}

// clusterNames are the clusters that the deployment is installed on.
func (d Deployment) clusterNames() []string {
	names := []string{d.Cluster()}
	for _, p := range d.dataplanes {
		names = append(names, p.cluster)
	}
	return names
}

// inPlanes reports whether the deployment has planes, or means to.
func (d Deployment) inPlanes() bool { return d.planes }

// ControlPlane returns the control plane of a deployment in planes.
func (d Deployment) ControlPlane() ControlPlane { return d.control }

// Dataplanes returns the data planes.
func (d Deployment) Dataplanes() []Dataplane { return slices.Clone(d.dataplanes) }

// LabelMap returns which data planes run which executions.
func (d Deployment) LabelMap() LabelMap { return d.labels }

// Namespace returns the namespace that Flyte runs in.
func (d Deployment) Namespace() string { return d.namespace }

// Release returns the name of the Helm release.
func (d Deployment) Release() string { return d.release }

// Domains returns the domains.
func (d Deployment) Domains() []string {
	if len(d.domains) == 0 {
		return DefaultDomains()
	}
	return slices.Clone(d.domains)
}

// String describes the deployment in a few lines, without secrets.
func (d Deployment) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "flyte deployment %s: Flyte %s on cluster %s\n", d.name, d.version, d.Cluster())
	if d.inPlanes() {
		d.describePlanes(&b)
	} else {
		fmt.Fprintf(&b, "  release:  %s/%s\n", d.namespace, d.release)
		if d.host != "" {
			fmt.Fprintf(&b, "  host:     %s, by %s\n", d.host, d.ingress.kind)
		}
	}
	fmt.Fprintf(&b, "  storage:  %s\n", d.storage)
	fmt.Fprintf(&b, "  database: %s\n", d.database)
	if d.inPlanes() {
		fmt.Fprintf(&b, "  identity: user code: %s", d.userIdentity)
	} else {
		fmt.Fprintf(&b, "  identity: %s, user code: %s", d.identity, d.userIdentity)
	}
	for _, domain := range slices.Sorted(maps.Keys(d.domainIdentities)) {
		fmt.Fprintf(&b, ", in %s: %s", domain, d.domainIdentities[domain])
	}
	b.WriteByte('\n')
	fmt.Fprintf(&b, "  domains:  %s\n", joinAnd(d.Domains()))
	return b.String()
}

// describePlanes names the planes, one a line.
func (d Deployment) describePlanes(b *strings.Builder) {
	fmt.Fprintf(b, "  control:  %s/%s in %s", d.namespace, d.control.release, d.control.cluster)
	if d.control.host != "" {
		fmt.Fprintf(b, ", host %s", d.control.host)
	}
	if d.control.executes != "" {
		fmt.Fprintf(b, ", runs workflows as %s", d.control.executes)
	}
	b.WriteByte('\n')
	for _, p := range d.dataplanes {
		fmt.Fprintf(b, "  data:     %s, %s/%s in %s\n", p.name, d.namespace, p.release, p.cluster)
	}
	for _, l := range d.effectiveLabels().labels {
		fmt.Fprintf(b, "  label:    %s\n", d.ExplainLabel(l.name))
	}
}

// GoString is String, so that no verb prints a secret.
func (d Deployment) GoString() string { return d.String() }

// spec names the deployment in errors.
func (d Deployment) spec() string { return "flyte deployment " + d.name }

// Validate reports everything that is wrong with the deployment at once, as a
// [*planewright.ValidationError], or nil. It knows no cluster and no chart: what only
// they can tell is found by a plan.
func (d Deployment) Validate() error {
	var p planewright.Problems
	d.validate(&p)
	return p.Err(d.spec())
}
