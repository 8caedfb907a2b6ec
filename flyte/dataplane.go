package flyte

import (
	"slices"

	"github.com/planewright/planewright/cloud/iam"
	"github.com/planewright/planewright/kube"
)

// Dataplane is a cluster that runs workflows for a control plane: flytepropeller
// and the webhook that gives tasks their secrets. It is a value: every method
// returns a changed copy.
type Dataplane struct {
	name, cluster string
	release       string
	identity      Identity
	trust         iam.TrustPolicy
	endpoint      ClusterEndpoint
	disabled      bool
	token         int
	pods          pods
	plugins       []Plugin
	raw           []rawValues
}

// DefaultDataplaneRelease is the Helm release of a data plane that names none.
const DefaultDataplaneRelease = "flyte-core-data"

// NewDataplane describes a data plane in a cluster of the [Env]. The name is
// how labels, flyteadmin and the data plane itself call it: at most 63 letters,
// digits and any of "-", "_", ".". Keep it: executions remember where they ran by it.
func NewDataplane(name, cluster string) Dataplane {
	return Dataplane{name: name, cluster: cluster, release: DefaultDataplaneRelease}
}

// WithRelease sets the name of the Helm release, by default [DefaultDataplaneRelease].
func (p Dataplane) WithRelease(release string) Dataplane {
	p.release = release
	return p
}

// WithIdentity sets the cloud identity of flytepropeller. By default, where
// the cluster's cloud is known (see [Env.WithCloud]) and the storage is of that
// cloud, it is one that the deployment makes, called "flyte-<deployment>-dataplane";
// elsewhere pods have that of their node. [NodeIdentity] says so everywhere. Data
// planes of one account share an identity of the same name.
func (p Dataplane) WithIdentity(identity Identity) Dataplane {
	p.identity = identity
	return p
}

// WithTrust lays a trust policy over the one that is derived for an identity
// that the deployment makes. AWS only.
func (p Dataplane) WithTrust(trust iam.TrustPolicy) Dataplane {
	p.trust = p.trust.Merge(trust)
	return p
}

// WithEndpoint sets how flyteadmin reaches the data plane's API server. By
// default it is what the cloud says (see [Env.WithCloud]), and otherwise what
// the cluster's handle uses.
func (p Dataplane) WithEndpoint(endpoint ClusterEndpoint) Dataplane {
	p.endpoint = endpoint
	return p
}

// WithoutNewExecutions keeps flyteadmin from sending executions here. Those
// that run go on, and can be seen and aborted. Labels must not name the data
// plane any more. It is the step before a data plane is taken out of a deployment.
func (p Dataplane) WithoutNewExecutions() Dataplane {
	p.disabled = true
	return p
}

// WithTokenGeneration sets which token flyteadmin uses for the data plane: a
// higher number makes a new one, gives it to flyteadmin, restarts what uses
// it, and then deletes the one before. The default is 1.
func (p Dataplane) WithTokenGeneration(generation int) Dataplane {
	p.token = generation
	return p
}

// WithPods sets how the pods of a component run.
func (p Dataplane) WithPods(component Component, settings Pods) Dataplane {
	p.pods = p.pods.with(component, settings)
	return p
}

// WithValues lays values over all that is set for the data plane's release,
// see [Deployment.WithValues], whose values come before these.
func (p Dataplane) WithValues(values kube.Values) Dataplane {
	p.raw = append(slices.Clip(p.raw), newRawValues(values))
	return p
}

// WithValuesYAML is [Dataplane.WithValues] with the text of a values file.
func (p Dataplane) WithValuesYAML(text string) Dataplane {
	p.raw = append(slices.Clip(p.raw), parseRawValues(text))
	return p
}

// Name returns the data plane's name.
func (p Dataplane) Name() string { return p.name }

// Cluster returns the name of the data plane's cluster.
func (p Dataplane) Cluster() string { return p.cluster }

// generation returns which token is used.
func (p Dataplane) generation() int { return max(p.token, 1) }

// ClusterEndpoint is how an API server is reached: a URL and the authorities
// of its certificate. Make one with [EndpointAt].
type ClusterEndpoint struct {
	given   bool
	url, ca string
}

// EndpointAt is an API server at a URL with https and no path. Its certificate
// is checked against the authority that the cluster gives its ServiceAccounts,
// unless [ClusterEndpoint.WithCA] names others.
func EndpointAt(url string) ClusterEndpoint { return ClusterEndpoint{given: true, url: url} }

// WithCA sets the authorities, as PEM.
func (e ClusterEndpoint) WithCA(pem string) ClusterEndpoint {
	e.ca = pem
	return e
}
