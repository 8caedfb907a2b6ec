package kube

// FieldManager is the name under which server-side apply knows the fields
// that this module owns.
const FieldManager = "planewright"

// Cluster is a handle on one cluster: a name and the ports that are used on
// it. It is a plain value, so a caller can replace one port by a decorated one.
type Cluster struct {
	// Name is how specs, plans and events call the cluster.
	Name     string
	Objects  Objects
	Releases Releases
	Facts    Facts
	Ports    Forwarder
}
