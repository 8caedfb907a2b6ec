package iam

import (
	"regexp"
	"strings"

	"github.com/planewright/planewright"
)

// Subject is a ServiceAccount, or a pattern of them, as a cluster's tokens
// call it: "system:serviceaccount:flyte:flyteadmin".
type Subject struct {
	namespace, name string
	pattern         bool
}

// ServiceAccount is exactly one ServiceAccount.
func ServiceAccount(namespace, name string) Subject {
	return Subject{namespace: namespace, name: name}
}

// ServiceAccountPattern is every ServiceAccount that matches: '*' stands for
// any characters, '?' for one, in the namespace and in the name. A pattern that
// covers every namespace needs [TrustPolicy.AllowingAnyNamespace].
func ServiceAccountPattern(namespace, name string) Subject {
	return Subject{namespace: namespace, name: name, pattern: strings.ContainsAny(namespace+name, "*?")}
}

const subjectPrefix = "system:serviceaccount:"

// String is the subject as it stands in a token and in a trust policy.
func (s Subject) String() string { return subjectPrefix + s.namespace + ":" + s.name }

var (
	namespaceName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	accountName   = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)
	namePattern   = regexp.MustCompile(`^[-a-z0-9.*?]{1,253}$`)
)

// anyNamespace reports whether the subject covers every namespace.
func (s Subject) anyNamespace() bool {
	return s.pattern && strings.Contains(s.namespace, "*") && strings.Trim(s.namespace, "*?") == ""
}

func (s Subject) anyName() bool {
	return s.pattern && strings.Contains(s.name, "*") && strings.Trim(s.name, "*?") == ""
}

func (s Subject) validate(p *planewright.Problems, path string, anyNamespace bool) {
	switch {
	case !s.pattern && strings.ContainsAny(s.namespace+s.name, "*?"):
		p.Add(path, s.String(), "a wildcard under StringEquals stands for itself and never matches", "use ServiceAccountPattern, or name the ServiceAccounts")
		return
	case s.anyNamespace() && s.anyName():
		p.Add(path, s.String(), "every ServiceAccount of the cluster would be trusted", "name namespaces or ServiceAccounts")
		return
	case s.anyNamespace() && !anyNamespace:
		p.Add(path, s.String(), "it covers every namespace, kube-system and any that somebody makes included", `narrow it ("*-development"), or say so by AllowingAnyNamespace`)
		return
	}
	namespaces, names := namespaceName, accountName
	if s.pattern {
		namespaces, names = namePattern, namePattern
	}
	if !namespaces.MatchString(s.namespace) {
		p.Add(path+".namespace", s.namespace, "a namespace is at most 63 lower-case letters, digits and hyphens", "use the namespace's name")
	}
	if !names.MatchString(s.name) {
		p.Add(path+".name", s.name, "a ServiceAccount's name is lower-case letters, digits, hyphens and dots", "use the ServiceAccount's name")
	}
}
