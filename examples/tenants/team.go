package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/planewright/planewright/kubeflow"
)

// team is a tenant as the company's own directory might tell of it.
type team struct {
	name, owner string
	// people are the others, with their roles.
	people map[string]kubeflow.Role
	// quota bounds the namespace.
	quota map[string]string
}

// teams are those of the directory.
func teams() []team {
	return []team{
		{
			name: "vision", owner: "ana@acme.example",
			people: map[string]kubeflow.Role{"bo@acme.example": kubeflow.RoleEdit, "cy@acme.example": kubeflow.RoleEdit, "dee@acme.example": kubeflow.RoleView},
			quota:  map[string]string{"requests.cpu": "64", "requests.nvidia.com/gpu": "8"},
		},
		{
			name: "speech", owner: "eve@acme.example",
			people: map[string]kubeflow.Role{"ana@acme.example": kubeflow.RoleAdmin},
			quota:  map[string]string{"requests.cpu": "16"},
		},
	}
}

// teams are those of the directory, after what -role says.
func (d *demo) teams() []team {
	all := teams()
	user, role, changed := strings.Cut(d.role, "=")
	for _, t := range all {
		if t.people[user] == "" || !changed {
			continue
		}
		if t.people[user] = kubeflow.Role(role); role == "none" {
			delete(t.people, user)
		}
	}
	return all
}

// profile makes the team a profile.
func (t team) profile() kubeflow.Profile {
	profile := kubeflow.NewProfile(t.name, t.owner).WithPodSecurity(kubeflow.PodSecurityBaseline)
	for resource, quantity := range t.quota {
		profile = profile.WithQuota(resource, quantity)
	}
	for _, user := range slices.Sorted(maps.Keys(t.people)) {
		switch t.people[user] {
		case kubeflow.RoleAdmin:
			profile = profile.WithAdmins(user)
		case kubeflow.RoleEdit:
			profile = profile.WithEditors(user)
		case kubeflow.RoleView:
			profile = profile.WithViewers(user)
		}
	}
	return profile
}
