package live

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// mapper shows apis to controller-runtime and Helm. They know no context, so
// whoever calls them asks apis first, and the answer comes from memory.
type mapper struct{ apis *apis }

var _ meta.ResettableRESTMapper = (*mapper)(nil)

func (m *mapper) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if len(versions) == 1 && versions[0] != "" {
		return m.apis.mapping(context.Background(), gk.WithVersion(versions[0]))
	}
	s, err := m.served()
	if err != nil {
		return nil, err
	}
	return s.RESTMapping(gk, versions...)
}

func (m *mapper) RESTMappings(gk schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	s, err := m.served()
	if err != nil {
		return nil, err
	}
	return s.RESTMappings(gk, versions...)
}

func (m *mapper) KindFor(resource schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	s, err := m.served()
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	return s.KindFor(resource)
}

func (m *mapper) KindsFor(resource schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	s, err := m.served()
	if err != nil {
		return nil, err
	}
	return s.KindsFor(resource)
}

func (m *mapper) ResourceFor(resource schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	s, err := m.served()
	if err != nil {
		return schema.GroupVersionResource{}, err
	}
	return s.ResourceFor(resource)
}

func (m *mapper) ResourcesFor(resource schema.GroupVersionResource) ([]schema.GroupVersionResource, error) {
	s, err := m.served()
	if err != nil {
		return nil, err
	}
	return s.ResourcesFor(resource)
}

func (m *mapper) ResourceSingularizer(resource string) (string, error) {
	s, err := m.served()
	if err != nil {
		return "", err
	}
	return s.ResourceSingularizer(resource)
}

func (m *mapper) Reset() { m.apis.forget() }

func (m *mapper) served() (meta.RESTMapper, error) {
	s, err := m.apis.served(context.Background())
	if err != nil {
		return nil, err
	}
	return s.mapper(), nil
}
