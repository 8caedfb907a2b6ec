package kubeflow

import (
	"regexp"
	"strings"
)

// Role is what somebody may do in a namespace.
type Role string

// The roles, as Kubeflow's access management (KFAM) knows them. Each stands for
// the ClusterRole kubeflow-<role>.
const (
	RoleAdmin Role = "admin"
	RoleEdit  Role = "edit"
	RoleView  Role = "view"
)

// clusterRole is the ClusterRole that the role stands for.
func (r Role) clusterRole() string { return "kubeflow-" + string(r) }

// Binding is one person with one role.
type Binding struct {
	// User is the e-mail address, byte by byte as the login gives it.
	User string
	Role Role
}

// Name returns the name that KFAM gives to the binding's RoleBinding and
// AuthorizationPolicy. Different people can have the same name: every run of
// characters other than letters and digits becomes one hyphen, and case is lost.
func (b Binding) Name() string { return BindingName(b.User, b.Role) }

// BindingName is [Binding.Name] of a person and a role:
// "user-ana-acme-example-clusterrole-edit".
func BindingName(user string, role Role) string {
	raw := strings.ToLower(strings.Join([]string{"user", unnameable.ReplaceAllString(user, "-"), "clusterrole", string(role)}, "-"))
	return unnameable.ReplaceAllString(raw, "-")
}

var unnameable = regexp.MustCompile(`[^a-zA-Z0-9]+`)

// ProfileName returns the name that is usual for somebody's profile: "kubeflow-"
// and the e-mail address in lower case with hyphens for all else. It is empty if
// nothing of the address can be in a name. It may be too long for a namespace.
func ProfileName(email string) string {
	name := strings.Trim(strings.ToLower(unnameable.ReplaceAllString(email, "-")), "-")
	if name == "" {
		return ""
	}
	return "kubeflow-" + name
}

// NamespaceBinding lets somebody into a namespace that exists and that is no
// profile's: a service account default-editor for notebooks, its role, and the
// person's RoleBinding and AuthorizationPolicy.
type NamespaceBinding struct {
	namespace string
	binding   Binding
}

// NewNamespaceBinding describes that a person is an admin of a namespace.
func NewNamespaceBinding(namespace, user string) NamespaceBinding {
	return NamespaceBinding{namespace, Binding{User: user, Role: RoleAdmin}}
}

// WithRole sets the role, [RoleAdmin] by default.
func (b NamespaceBinding) WithRole(role Role) NamespaceBinding {
	b.binding.Role = role
	return b
}
