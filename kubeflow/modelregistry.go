package kubeflow

import (
	"slices"

	"github.com/planewright/planewright/kube"
)

// DefaultRegistrySize is the size of a model registry's database that sets none.
const DefaultRegistrySize = "10Gi"

// ModelRegistry is one model registry: a server and its database in the
// namespace of a profile. A stack may have several, see [KubeflowStack.WithModelRegistries].
// It is a value: its methods return changed copies.
type ModelRegistry struct {
	name        string
	profile     Profile
	class, size string
	displayName string
	description string
	admitted    []string
	values      operand
}

// NewModelRegistry describes a registry in the namespace of a profile. It takes
// the profile itself because the dashboard shows registries of profiles only.
func NewModelRegistry(name string, profile Profile) ModelRegistry {
	return ModelRegistry{name: name, profile: profile, size: DefaultRegistrySize}
}

// WithStorage sets the storage class and the size of the database. An empty
// class is the cluster's default, an empty size [DefaultRegistrySize].
func (r ModelRegistry) WithStorage(class, size string) ModelRegistry {
	if size == "" {
		size = DefaultRegistrySize
	}
	r.class, r.size = class, size
	return r
}

// WithDisplayName sets the name that people see.
func (r ModelRegistry) WithDisplayName(name string) ModelRegistry {
	r.displayName = name
	return r
}

// WithDescription sets what people read about the registry.
func (r ModelRegistry) WithDescription(text string) ModelRegistry {
	r.description = text
	return r
}

// WithAccessFrom lets pods of further namespaces use the registry. By default
// only those of its own may.
func (r ModelRegistry) WithAccessFrom(namespaces ...string) ModelRegistry {
	r.admitted = append(slices.Clip(r.admitted), namespaces...)
	return r
}

// WithValues lays values over the spec of the custom resource, as [Base.WithValues] does.
func (r ModelRegistry) WithValues(values kube.Values) ModelRegistry {
	r.values = r.values.withValues(values)
	return r
}

// path is the registry in problems and step ids.
func (r ModelRegistry) path() string { return r.profile.name + "/" + r.name }
