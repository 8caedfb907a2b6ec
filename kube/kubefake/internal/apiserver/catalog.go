package apiserver

import (
	"slices"

	"github.com/planewright/planewright/kube/kubefake/internal/apis"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// served finds the kind behind a path, nil if there is none.
func (s *Server) served(resource schema.GroupVersionResource) *kind {
	if k := builtin()[resource.GroupResource()]; k != nil && k.Version == resource.Version {
		return k
	}
	if k := s.custom[resource.GroupResource()][resource.Version]; k != nil && k.custom.established {
		return k
	}
	return nil
}

// kindNamed finds a kind by its group and name, at the version it is stored in.
func (s *Server) kindNamed(group, name string) *kind {
	for _, r := range apis.Builtin() {
		if r.Group == group && r.Kind == name {
			return builtin()[r.GroupResource()]
		}
	}
	for _, versions := range s.custom {
		for _, k := range versions {
			if k.Group == group && k.Kind == name && k.custom.storage {
				return k
			}
		}
	}
	return nil
}

// resources lists all that is served, built-in kinds first.
func (s *Server) resources() []*apis.Resource {
	list := apis.Builtin()
	if len(s.custom) == 0 {
		return list
	}
	var custom []*apis.Resource
	for _, versions := range s.custom {
		for _, k := range versions {
			if k.custom.established {
				custom = append(custom, k.Resource)
			}
		}
	}
	slices.SortFunc(custom, func(a, b *apis.Resource) int {
		return slices.Compare([]string{a.Group, a.Version, a.Plural}, []string{b.Group, b.Version, b.Plural})
	})
	return append(slices.Clone(list), custom...)
}
