package kubeflow

import (
	"maps"
	"slices"
)

// Profile is a tenant: a namespace with an owner, and people who may work in
// it. It is a value: its methods return changed copies.
//
// The names of people are the e-mail addresses as the login gives them, compared
// byte by byte: keep their case.
type Profile struct {
	name, owner              string
	admins, editors, viewers []string
	quota                    map[string]string
	podSecurity              PodSecurity
	lowerPodSecurity         bool
	adoptNamespace           bool
}

// NewProfile describes a tenant. Its namespace has the same name.
func NewProfile(name, owner string) Profile { return Profile{name: name, owner: owner} }

// Name returns the profile's name, which is that of its namespace.
func (p Profile) Name() string { return p.name }

// Owner returns the owner's e-mail address.
func (p Profile) Owner() string { return p.owner }

// WithAdmins adds people who may do everything in the namespace. They are not
// owners: the dashboard's list of contributors is the owner's alone.
func (p Profile) WithAdmins(users ...string) Profile {
	p.admins = append(slices.Clip(p.admins), users...)
	return p
}

// WithEditors adds people who may change what is in the namespace.
func (p Profile) WithEditors(users ...string) Profile {
	p.editors = append(slices.Clip(p.editors), users...)
	return p
}

// WithViewers adds people who may look at what is in the namespace.
func (p Profile) WithViewers(users ...string) Profile {
	p.viewers = append(slices.Clip(p.viewers), users...)
	return p
}

// WithQuota bounds the whole of the namespace: a resource as a ResourceQuota
// names it ("requests.nvidia.com/gpu"), and how much of it. A later call wins.
func (p Profile) WithQuota(resource, quantity string) Profile {
	p.quota = maps.Clone(p.quota)
	if p.quota == nil {
		p.quota = map[string]string{}
	}
	p.quota[resource] = quantity
	return p
}

// PodSecurity is a level of the pod security standards.
type PodSecurity string

// The levels. [PodSecurityUnset] leaves the namespace's labels as they are.
const (
	PodSecurityUnset      PodSecurity = ""
	PodSecurityRestricted PodSecurity = "restricted"
	// PodSecurityBaseline is enough where the mesh has its network plugin.
	PodSecurityBaseline PodSecurity = "baseline"
	// PodSecurityPrivileged is needed where sidecars set up their network themselves.
	PodSecurityPrivileged PodSecurity = "privileged"
)

// rank orders the levels from strict to open.
func (s PodSecurity) rank() int {
	return slices.Index([]PodSecurity{PodSecurityRestricted, PodSecurityBaseline, PodSecurityPrivileged}, s)
}

// WithPodSecurity sets the level that pods in the namespace must keep. A
// namespace with a stricter level is left as it is, and blocks the plan.
func (p Profile) WithPodSecurity(level PodSecurity) Profile {
	p.podSecurity, p.lowerPodSecurity = level, false
	return p
}

// WithLoweredPodSecurity is [Profile.WithPodSecurity] and may lower a stricter level.
func (p Profile) WithLoweredPodSecurity(level PodSecurity) Profile {
	p.podSecurity, p.lowerPodSecurity = level, true
	return p
}

// WithNamespaceAdoption makes the profile of a namespace that exists and that
// nobody owns, by the annotation that the profile controller asks for. By default
// such a namespace blocks the plan. Dangerous: whoever deletes the profile
// deletes the namespace.
func (p Profile) WithNamespaceAdoption() Profile {
	p.adoptNamespace = true
	return p
}

// Bindings returns the people of the profile, the owner left out, with their
// roles: admins, editors, viewers, each in the order given.
func (p Profile) Bindings() []Binding {
	var all []Binding
	for _, group := range []struct {
		role  Role
		users []string
	}{{RoleAdmin, p.admins}, {RoleEdit, p.editors}, {RoleView, p.viewers}} {
		for _, user := range group.users {
			all = append(all, Binding{User: user, Role: group.role})
		}
	}
	return all
}
