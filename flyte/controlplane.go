package flyte

import (
	"slices"

	"github.com/planewright/planewright/cloud/iam"
	"github.com/planewright/planewright/kube"
)

// ControlPlane is the part of a deployment that users talk to: flyteadmin, the
// console, the scheduler and the catalog of cached results. It hands workflows
// to data planes, and can run some itself, see [ControlPlane.WithExecution].
// It is a value: every method returns a changed copy.
type ControlPlane struct {
	set      bool
	cluster  string
	release  string
	host     string
	ingress  Ingress
	api      API
	catalog  Catalog
	identity Identity
	trust    iam.TrustPolicy
	executes string
	pods     pods
	raw      []rawValues
}

// DefaultControlPlaneRelease is the Helm release of a control plane that names none.
const DefaultControlPlaneRelease = "flyte-core"

// NewControlPlane describes a control plane in a cluster of the [Env].
func NewControlPlane(cluster string) ControlPlane {
	return ControlPlane{set: true, cluster: cluster, release: DefaultControlPlaneRelease}
}

// WithRelease sets the name of the Helm release, by default
// [DefaultControlPlaneRelease]. Keep it for as long as the deployment lives:
// objects cannot change their release's name.
func (c ControlPlane) WithRelease(release string) ControlPlane {
	c.release = release
	return c
}

// WithHost sets the host name that users, and data planes, reach Flyte by. It
// needs an ingress, see [ControlPlane.WithIngress].
func (c ControlPlane) WithHost(host string) ControlPlane {
	c.host = host
	return c
}

// WithIngress sets how the host leads to Flyte: [ALB], [NGINX], [Traefik] or
// [GKE]. By default there is no ingress.
func (c ControlPlane) WithIngress(ingress Ingress) ControlPlane {
	c.ingress = ingress
	return c
}

// WithAPI sets how data planes reach flyteadmin, if it is not by the host: see [APIAt].
func (c ControlPlane) WithAPI(api API) ControlPlane {
	c.api = api
	return c
}

// WithCatalog sets how data planes reach the catalog of cached results:
// [InternalLoadBalancer] or [CatalogAt]. By default they do not, and tasks on
// data planes run without a cache, which a finding says.
func (c ControlPlane) WithCatalog(catalog Catalog) ControlPlane {
	c.catalog = catalog
	return c
}

// WithIdentity sets the cloud identity of flyteadmin and datacatalog. By
// default, where the cluster's cloud is known (see [Env.WithCloud]) and the
// storage is of that cloud, it is one that the deployment makes, called
// "flyte-<deployment>-controlplane"; elsewhere pods have that of their node.
// [NodeIdentity] says so everywhere.
func (c ControlPlane) WithIdentity(identity Identity) ControlPlane {
	c.identity = identity
	return c
}

// WithTrust lays a trust policy over the one that is derived for an identity
// that the deployment makes. AWS only.
func (c ControlPlane) WithTrust(trust iam.TrustPolicy) ControlPlane {
	c.trust = c.trust.Merge(trust)
	return c
}

// WithExecution lets the control plane's cluster run workflows too. The name
// is how labels call it, among those of the data planes: "controlplane", say.
func (c ControlPlane) WithExecution(name string) ControlPlane {
	c.executes = name
	return c
}

// WithPods sets how the pods of a component run.
func (c ControlPlane) WithPods(component Component, settings Pods) ControlPlane {
	c.pods = c.pods.with(component, settings)
	return c
}

// WithValues lays values over all that is set for the control plane's
// release, see [Deployment.WithValues], whose values come before these.
func (c ControlPlane) WithValues(values kube.Values) ControlPlane {
	c.raw = append(slices.Clip(c.raw), newRawValues(values))
	return c
}

// WithValuesYAML is [ControlPlane.WithValues] with the text of a values file.
func (c ControlPlane) WithValuesYAML(text string) ControlPlane {
	c.raw = append(slices.Clip(c.raw), parseRawValues(text))
	return c
}

// Cluster returns the name of the control plane's cluster.
func (c ControlPlane) Cluster() string { return c.cluster }

// Ingress returns how the host leads to Flyte.
func (c ControlPlane) Ingress() Ingress { return c.ingress }

// Host returns the host name, empty if there is none.
func (c ControlPlane) Host() string { return c.host }
