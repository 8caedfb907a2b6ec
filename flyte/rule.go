package flyte

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright"
)

// Rule lets Flyte act on more Kubernetes objects than the chart does, in all
// namespaces.
type Rule struct {
	// APIGroups are the objects' groups, "" for the core group.
	APIGroups []string
	// Resources are their plural names: "limitranges".
	Resources []string
	// Verbs are what Flyte may do: "create", "get", "patch".
	Verbs []string
}

// values returns the rule as the chart's values hold it.
func (r Rule) values() map[string]any {
	return map[string]any{"apiGroups": anyList(r.APIGroups), "resources": anyList(r.Resources), "verbs": anyList(r.Verbs)}
}

// covers reports whether the rule allows to create, get and patch a resource.
func (r Rule) covers(group, resource string) bool {
	has := func(list []string, want string) bool {
		return slices.Contains(list, want) || slices.Contains(list, "*")
	}
	return has(r.APIGroups, group) && has(r.Resources, resource) &&
		has(r.Verbs, "create") && has(r.Verbs, "get") && has(r.Verbs, "patch")
}

// templateKind is a kind of object that flyteadmin can keep in projects' namespaces.
type templateKind struct {
	kind, group, resource string
	// granted marks what the chart's own ClusterRole allows already.
	granted bool
}

// templateKinds are those whose permission is given without asking: none of
// them lets anybody do more than before.
func templateKinds() []templateKind {
	return []templateKind{
		{"Namespace", "", "namespaces", true},
		{"ServiceAccount", "", "serviceaccounts", true},
		{"Secret", "", "secrets", true},
		{"ResourceQuota", "", "resourcequotas", true},
		{"LimitRange", "", "limitranges", false},
		{"ConfigMap", "", "configmaps", false},
		{"PodTemplate", "", "podtemplates", false},
		{"PersistentVolumeClaim", "", "persistentvolumeclaims", false},
		{"NetworkPolicy", "networking.k8s.io", "networkpolicies", false},
	}
}

func templateKindOf(m manifest) (templateKind, bool) {
	group, _, ok := strings.Cut(m.APIVersion, "/")
	if !ok {
		group = ""
	}
	kinds := templateKinds()
	i := slices.IndexFunc(kinds, func(k templateKind) bool { return k.kind == m.Kind && k.group == group })
	if i < 0 {
		return templateKind{}, false
	}
	return kinds[i], true
}

// missingRule says why flyteadmin could not make the object of a template,
// empty if it can.
func (d Deployment) missingRule(m manifest) string {
	if _, ok := templateKindOf(m); ok {
		return ""
	}
	group, _, ok := strings.Cut(m.APIVersion, "/")
	if !ok {
		group = ""
	}
	// The plural is not known without a cluster; the group is.
	if slices.ContainsFunc(d.rules, func(r Rule) bool {
		return slices.ContainsFunc(r.Resources, func(resource string) bool {
			return (resource == "*" || pluralOf(resource, m.Kind)) && r.covers(group, resource)
		})
	}) {
		return ""
	}
	return fmt.Sprintf("the chart does not let Flyte make objects of kind %s in API group %q", m.Kind, group)
}

// pluralOf reports whether the resource can be the plural of the kind.
func pluralOf(resource, kind string) bool {
	kind = strings.ToLower(kind)
	stem, y := strings.CutSuffix(kind, "y")
	return resource == kind+"s" || resource == kind+"es" || resource == kind || y && resource == stem+"ies"
}

// allRules returns the rules to add to the chart's ClusterRole: for the kinds
// of the templates, and those that the user gave.
func (d Deployment) allRules() []Rule {
	var rules []Rule
	for _, k := range templateKinds() {
		used := slices.ContainsFunc(d.templates, func(t resourceTemplate) bool {
			m, err := parseManifest(substitute(t.text, withReserved(nil, d.Domains()[0])))
			of, ok := templateKindOf(m)
			return err == nil && ok && of == k
		})
		if used && !k.granted {
			rules = append(rules, Rule{APIGroups: []string{k.group}, Resources: []string{k.resource}, Verbs: []string{"create", "get", "patch"}})
		}
	}
	return append(append(rules, d.pluginRules()...), d.rules...)
}

func (d Deployment) validateRules(p *planewright.Problems) {
	for i, r := range d.rules {
		at := fmt.Sprintf("rules[%d]", i)
		for _, part := range []struct {
			name string
			list []string
		}{{"apiGroups", r.APIGroups}, {"resources", r.Resources}, {"verbs", r.Verbs}} {
			if len(part.list) == 0 {
				p.Add(at+"."+part.name, "", "a rule names API groups, resources and verbs", `name at least one; "" is the core group`)
			}
			if part.name != "apiGroups" && slices.Contains(part.list, "") {
				p.Add(at+"."+part.name, "", "a rule's resources and verbs are not empty", "leave the empty one out")
			}
		}
	}
}

func anyList(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}
