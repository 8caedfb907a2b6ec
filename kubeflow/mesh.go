package kubeflow

// Mesh says which service mesh of the workload cluster Kubeflow's login is
// added to, and what may be done to it. The zero value is [ServiceMeshV2].
type Mesh struct {
	v1             bool
	istio          string
	appendCA       bool
	deleteWebhooks bool
}

// DefaultIstio is the name of the Istio object of a mesh that names none.
const DefaultIstio = "default"

// ServiceMeshV2 is a mesh of the Sail operator: an object Istio in the workload
// cluster, [DefaultIstio] unless [Mesh.WithIstio] names it.
func ServiceMeshV2() Mesh { return Mesh{} }

// ServiceMeshV1 is a mesh of the older operator: an object ServiceMesh in the
// global cluster, called like the workload cluster. It is deprecated, and the plan says so.
func ServiceMeshV1() Mesh { return Mesh{v1: true} }

// WithIstio sets the name of the object: of the Istio for version 2, of the
// ServiceMesh for version 1.
func (m Mesh) WithIstio(name string) Mesh {
	m.istio = name
	return m
}

// WithTrustedCAAppended appends the platform's certificate to the authorities
// that the mesh trusts for keys of tokens, if there are others already. By
// default others are left alone, and the plan is blocked: without the
// certificate every login fails.
func (m Mesh) WithTrustedCAAppended() Mesh {
	m.appendCA = true
	return m
}

// WithLegacyWebhooksDeleted deletes the webhooks that a service mesh of
// version 1 has left behind, which break version 2. Dangerous: only those that lead
// to a version 1 istiod are deleted, and none while anything still uses it; the
// report holds what they were.
func (m Mesh) WithLegacyWebhooksDeleted() Mesh {
	m.deleteWebhooks = true
	return m
}

// name is the name of the mesh's object.
func (m Mesh) name(workload string) string {
	switch {
	case m.istio != "":
		return m.istio
	case m.v1:
		return workload
	}
	return DefaultIstio
}
