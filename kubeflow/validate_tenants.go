package kubeflow

import (
	"fmt"
	"maps"
	"slices"

	"github.com/planewright/planewright"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
)

func (s KubeflowStack) validateProfiles(p *planewright.Problems) {
	for i, profile := range s.profiles {
		profile.validate(p, fmt.Sprintf("profiles[%d]", i))
	}
}

func (f Profile) validate(p *planewright.Problems, path string) {
	validateTenantNamespace(p, path+".name", f.name, f.owner)
	if f.owner == "" {
		p.Add(path+".owner", "", "a profile has an owner", "give NewProfile the owner's e-mail address")
	}
	if f.podSecurity != PodSecurityUnset && f.podSecurity.rank() < 0 {
		p.Add(path+".podSecurity", string(f.podSecurity), "a level is restricted, baseline or privileged", "use one of the constants, such as kubeflow.PodSecurityBaseline")
	}
	for _, name := range slices.Sorted(maps.Keys(f.quota)) {
		validateQuantity(p, path+".quota."+name, f.quota[name])
	}
	seen := map[string]Binding{}
	users := map[string]Role{}
	for _, b := range f.Bindings() {
		at := path + "." + string(b.Role)
		switch other, collides := seen[b.Name()]; {
		case b.User == "":
			p.Add(at, "", "a person has an e-mail address", "leave it out")
			continue
		case b.User == f.owner:
			p.Add(at, b.User, "the owner may do everything already", "leave it out")
		case collides && other.User != b.User:
			p.Add(at, b.User, fmt.Sprintf("its binding has the same name as that of %s: %s", other.User, b.Name()), "use one of the two addresses")
		}
		if role, twice := users[b.User]; twice {
			p.Add(at, b.User, "a person has one role in a profile; this one is "+string(role)+" already", "name the person once")
		}
		seen[b.Name()], users[b.User] = b, b.Role
	}
}

// validateTenantNamespace checks the name of a profile. The user, if known, helps to find a better one.
func validateTenantNamespace(p *planewright.Problems, path, name, user string) {
	switch {
	case len(validation.IsDNS1123Label(name)) > 0:
		fix := "choose a name like team-a"
		if usual := ProfileName(user); len(validation.IsDNS1123Label(usual)) == 0 {
			fix = "use " + usual
		}
		p.Add(path, name, "a profile's name is that of its namespace: at most 63 lower-case letters, digits and hyphens", fix)
	case reservedNamespace(name):
		p.Add(path, name, "this namespace is not for people: it belongs to the cluster or to Kubeflow itself", "choose another name")
	}
}

func (s KubeflowStack) validateBindings(p *planewright.Problems) {
	seen := map[string]Binding{}
	for i, b := range s.bindings {
		path := fmt.Sprintf("namespaceBindings[%d]", i)
		validateTenantNamespace(p, path+".namespace", b.namespace, "")
		if slices.ContainsFunc(s.profiles, func(f Profile) bool { return f.name == b.namespace }) {
			p.Add(path+".namespace", b.namespace, "the namespace is a profile's", "name the person in the profile: WithAdmins, WithEditors or WithViewers")
		}
		if b.binding.User == "" {
			p.Add(path+".user", "", "a person has an e-mail address", "give NewNamespaceBinding one")
		}
		if !slices.Contains([]Role{RoleAdmin, RoleEdit, RoleView}, b.binding.Role) {
			p.Add(path+".role", string(b.binding.Role), "a role is admin, edit or view", "use one of the constants, such as kubeflow.RoleEdit")
		}
		key := b.namespace + "/" + b.binding.Name()
		if other, ok := seen[key]; ok {
			p.Add(path+".user", b.binding.User, fmt.Sprintf("its binding has the same name as that of %s: %s", other.User, b.binding.Name()), "name one of the two once")
		}
		seen[key] = b.binding
	}
}

func validateQuantity(p *planewright.Problems, path, quantity string) {
	if _, err := resource.ParseQuantity(quantity); err != nil {
		p.Add(path, quantity, "a quantity is a number with a unit, such as 10Gi", "write it like 10Gi or 500m")
	}
}
