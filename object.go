package planewright

import "strings"

// Object names one thing outside the process: a Kubernetes object, a Helm
// release, a cloud resource. It is a name only, never the content.
type Object struct {
	// Cluster is the name of the cluster that holds the object, empty for
	// what lives in a cloud account.
	Cluster string `json:"cluster,omitempty"`
	// APIVersion is the group and version as Kubernetes writes them ("v1",
	// "apps/v1"), [ReleaseAPIVersion] for a Helm release, or a cloud's own
	// service name.
	APIVersion string `json:"apiVersion,omitempty"`
	// Kind is the kind as its system spells it, for example "Secret".
	Kind string `json:"kind"`
	// Namespace is empty for what has none.
	Namespace string `json:"namespace,omitempty"`
	// Name is the name as its system spells it.
	Name string `json:"name"`
}

// ReleaseAPIVersion and ReleaseKind are how an [Object] names a Helm release,
// which is no Kubernetes object of its own.
const (
	ReleaseAPIVersion = "helm.sh/v3"
	ReleaseKind       = "Release"
)

// String names the object the way a person would: "Secret flyte/db in cluster dp-1".
func (o Object) String() string {
	var b strings.Builder
	b.WriteString(o.Kind)
	b.WriteByte(' ')
	if o.Namespace != "" {
		b.WriteString(o.Namespace)
		b.WriteByte('/')
	}
	b.WriteString(o.Name)
	if o.Cluster != "" {
		b.WriteString(" in cluster ")
		b.WriteString(o.Cluster)
	}
	return b.String()
}
