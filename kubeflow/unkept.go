package kubeflow

import (
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"k8s.io/apimachinery/pkg/util/validation"
)

// unkept names what an uninstall leaves by default and is to delete all the same.
type unkept struct{ profiles, definitions, claims []string }

// WithProfilesDeleted has an uninstall delete these profiles of the stack's, by
// their names. Dangerous: their namespaces go with them, and all data in those.
// By default profiles stay.
func (s KubeflowStack) WithProfilesDeleted(names ...string) KubeflowStack {
	s.unkept.profiles = append(slices.Clip(s.unkept.profiles), names...)
	return s
}

// WithDefinitionsDeleted has an uninstall delete these CustomResourceDefinitions,
// by their names: "profiles.kubeflow.org". An uninstall is refused while one of
// them has objects that it does not delete itself: they would go with it. By
// default definitions stay.
func (s KubeflowStack) WithDefinitionsDeleted(names ...string) KubeflowStack {
	s.unkept.definitions = append(slices.Clip(s.unkept.definitions), names...)
	return s
}

// WithVolumesDeleted has an uninstall delete these PersistentVolumeClaims of the
// workload cluster, named "namespace/name", once the components are gone.
// Dangerous: the data in them is lost. By default volumes stay.
func (s KubeflowStack) WithVolumesDeleted(claims ...string) KubeflowStack {
	s.unkept.claims = append(slices.Clip(s.unkept.claims), claims...)
	return s
}

func (s KubeflowStack) validateUnkept(p *planewright.Problems) {
	for _, name := range s.unkept.profiles {
		if !slices.ContainsFunc(s.profiles, func(f Profile) bool { return f.name == name }) {
			p.Add("profilesDeleted", name, "an uninstall deletes profiles of the stack alone", "name a profile that WithProfiles names, or leave it out")
		}
	}
	for _, name := range s.unkept.definitions {
		if len(validation.IsDNS1123Subdomain(name)) > 0 || !strings.Contains(name, ".") {
			p.Add("definitionsDeleted", name, "a definition's name is a plural and a group", "use a name like profiles.kubeflow.org")
		}
	}
	for _, claim := range s.unkept.claims {
		namespace, name, ok := strings.Cut(claim, "/")
		if !ok || len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
			p.Add("volumesDeleted", claim, "a claim is named by its namespace and its name", "use a name like kubeflow/mysql-pv-claim")
		}
	}
}
