package flyte

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// resourceTemplate is a Kubernetes object that flyteadmin keeps in every
// project's domains, with variables in it.
type resourceTemplate struct {
	name, text string
}

// templateVariable is the value of a variable, for some domains or for all.
type templateVariable struct {
	name, value string
	// domains are those that it is set for, all of the deployment if there are none.
	domains []string
}

// The names of the templates that a deployment brings itself. They are those
// of the charts' overlays.
const (
	namespaceTemplate = "001_namespace.yaml"
	accountTemplate   = "002_serviceaccount.yaml"
)

// namespaceTemplateText is the namespace itself.
const namespaceTemplateText = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: '{{ namespace }}'\n"

// reservedVariables are those that flyteadmin sets itself; it refuses a
// configuration that sets them.
func reservedVariables() []string { return []string{"namespace", "project", "domain"} }

// templateUse is one "{{ … }}" in a template.
type templateUse struct {
	// name is the variable's, empty if the text is no use of a variable.
	name string
	// text is the whole of it.
	text string
}

// templateUses finds the variables in a template. flyteadmin replaces the
// exact text "{{ name }}", with one space on either side, and leaves anything
// else as it is; what only looks like a variable comes back without a name.
func templateUses(text string) []templateUse {
	var uses []templateUse
	for {
		start := strings.Index(text, "{{")
		if start < 0 {
			return uses
		}
		text = text[start:]
		// The innermost opening counts: in "{{ {{ a }}" flyteadmin replaces "{{ a }}".
		end := strings.Index(text, "}}")
		if end < 0 {
			return append(uses, templateUse{text: firstLine(text)})
		}
		if inner := strings.LastIndex(text[:end], "{{"); inner > 0 {
			uses = append(uses, templateUse{text: firstLine(text[:inner])})
			text = text[inner:]
			end -= inner
		}
		use := templateUse{text: text[:end+2]}
		if name := text[2:end]; len(name) > 2 && name[0] == ' ' && name[len(name)-1] == ' ' && isVariable(name[1:len(name)-1]) {
			use.name = name[1 : len(name)-1]
		}
		uses = append(uses, use)
		text = text[end+2:]
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(line)
}

// isVariable reports whether the text can be a variable's name.
func isVariable(name string) bool {
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
		if !letter && (i == 0 || (r < '0' || r > '9') && r != '-' && r != '.') {
			return false
		}
	}
	return name != ""
}

// substitute puts values in the place of variables as flyteadmin does.
func substitute(text string, values map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		text = strings.ReplaceAll(text, "{{ "+name+" }}", values[name])
	}
	return text
}

// templateProblem is one thing that is wrong with a template.
type templateProblem struct {
	value, rule, fix string
}

// checkTemplate looks for what flyteadmin would trip over, or silently do
// wrong, with a template in any of the domains. Variables holds the values by domain and name.
func checkTemplate(text string, domains []string, variables map[string]map[string]string) []templateProblem {
	var problems []templateProblem
	told := map[string]bool{}
	for _, use := range templateUses(text) {
		if told[use.text] {
			continue
		}
		told[use.text] = true
		if use.name == "" {
			problems = append(problems, templateProblem{use.text, "a variable is written {{ name }}, with one space on either side; anything else is left as it is", "write it so"})
			continue
		}
		if slices.Contains(reservedVariables(), use.name) {
			continue
		}
		var missing []string
		for _, domain := range domains {
			if _, ok := variables[domain][use.name]; !ok {
				missing = append(missing, domain)
			}
		}
		if len(missing) > 0 {
			problems = append(problems, templateProblem{use.text, "the variable has no value in " + joinAnd(missing) + ", and would stay in the object as it is",
				fmt.Sprintf("use WithTemplateVariable(%q, …)", use.name)})
		}
	}
	if len(problems) > 0 {
		return problems
	}
	for _, domain := range domains {
		if problem, ok := checkManifest(substitute(text, withReserved(variables[domain], domain)), domain); !ok {
			return append(problems, problem)
		}
	}
	return problems
}

// withReserved adds example values of what flyteadmin sets itself.
func withReserved(variables map[string]string, domain string) map[string]string {
	values := maps.Clone(variables)
	if values == nil {
		values = map[string]string{}
	}
	values["project"], values["domain"], values["namespace"] = "project", domain, substitute(defaultMapping, map[string]string{"project": "project", "domain": domain})
	return values
}

// checkManifest checks that the text is one Kubernetes object.
func checkManifest(text, domain string) (templateProblem, bool) {
	object, err := parseManifest(text)
	switch {
	case err != nil:
		return templateProblem{"", fmt.Sprintf("with the values of domain %s it is no YAML: %v", domain, err), "mend the YAML, or quote the variables in it"}, false
	case object.documents > 1:
		return templateProblem{"", "a template holds one object; flyteadmin reads the first and drops the rest", "give each object a template of its own"}, false
	case object.APIVersion == "" || object.Kind == "" || object.Metadata.Name == "":
		return templateProblem{"", "a template is a Kubernetes object: it has apiVersion, kind and metadata.name", "add what is missing"}, false
	}
	return templateProblem{}, true
}

// manifest is as much of an object as is looked at.
type manifest struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`

	documents int
}

func parseManifest(text string) (manifest, error) {
	var m manifest
	for document := range strings.SplitSeq("\n"+text, "\n---") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			return m, err
		}
		if len(object) == 0 {
			continue
		}
		if m.documents++; m.documents == 1 {
			if err := yaml.Unmarshal([]byte(document), &m); err != nil {
				return m, err
			}
		}
	}
	return m, nil
}

// variablesByDomain returns the values of all variables, identities of user
// code included, by domain and name. Later settings win.
func (d Deployment) variablesByDomain() map[string]map[string]string {
	variables := map[string]map[string]string{}
	set := func(domain, name, value string) {
		if variables[domain] == nil {
			variables[domain] = map[string]string{}
		}
		variables[domain][name] = value
	}
	for _, domain := range d.Domains() {
		for name, value := range d.identityVariables(domain) {
			set(domain, name, value)
		}
		for _, v := range d.variables {
			if len(v.domains) == 0 || slices.Contains(v.domains, domain) {
				set(domain, v.name, v.value)
			}
		}
	}
	return variables
}

func (d Deployment) validateTemplates(p *planewright.Problems) {
	d.validateVariables(p)
	variables := d.variablesByDomain()
	seen := map[string]bool{}
	for i, t := range d.templates {
		at := fmt.Sprintf("templates[%d]", i)
		switch {
		case path.Ext(t.name) != ".yaml":
			p.Add(at+".name", t.name, "flyteadmin reads the files whose names end in .yaml and ignores the rest", "call it something like 010_quota.yaml")
		case len(validation.IsConfigMapKey(t.name)) > 0:
			p.Add(at+".name", t.name, "the name is a key of a ConfigMap: letters, digits and any of - _ .", "call it something like 010_quota.yaml")
		case seen[t.name]:
			p.Add(at+".name", t.name, "a template is given once", "give the templates names of their own")
		case t.name == accountTemplate && d.hasUserIdentity():
			p.Add(at+".name", t.name, "WithUserIdentity brings this template", "use another name and leave the ServiceAccount default out of it, or leave WithUserIdentity out")
		}
		seen[t.name] = true
		problems := checkTemplate(t.text, d.Domains(), variables)
		for _, problem := range problems {
			p.Add(at+".text", problem.value, problem.rule, problem.fix)
		}
		if len(problems) > 0 {
			continue
		}
		object, err := parseManifest(substitute(t.text, withReserved(variables[d.Domains()[0]], d.Domains()[0])))
		if err != nil {
			continue
		}
		if object.Kind != "Namespace" && t.name < namespaceTemplate {
			p.Add(at+".name", t.name, "templates are applied in the order of their names, and this one comes before "+namespaceTemplate+", which makes the namespace", "begin the name with a number from 002 on")
		}
		if rule := d.missingRule(object); rule != "" {
			p.Add(at+".text", object.Kind, rule, fmt.Sprintf("use WithRules to let Flyte create, get and patch %s objects, if it may", object.Kind))
		}
	}
}

func (d Deployment) validateVariables(p *planewright.Problems) {
	for i, v := range d.variables {
		at := fmt.Sprintf("variables[%d]", i)
		switch {
		case !isVariable(v.name):
			p.Add(at+".name", v.name, "a variable's name is letters, digits and any of _ - ., beginning with a letter or _", "rename it")
		case slices.Contains(reservedVariables(), v.name):
			p.Add(at+".name", v.name, "flyteadmin sets namespace, project and domain itself, and refuses a configuration that does", "rename it")
		}
		switch found := placeholderIn(v.value); {
		case v.value == "":
			p.Add(at+".value", "", "flyteadmin refuses an empty value", "give it a value, or leave the variable out")
		case strings.Contains(v.value, "{{"):
			p.Add(at+".value", v.value, "a variable in a variable's value is replaced or not as chance has it", "put the text into the template")
		case found != "":
			p.Add(at+".value", v.value, "the placeholder "+found+" stands where a real value belongs", "put in the value")
		}
		for j, domain := range v.domains {
			if !slices.Contains(d.Domains(), domain) {
				p.Add(fmt.Sprintf("%s.domains[%d]", at, j), domain, "the deployment has the domains "+joinAnd(d.Domains()), "use one of them, or add it by WithDomains")
			}
		}
	}
}

// customData is the variables as flyteadmin reads them: lists of maps with one
// key each, because it lower-cases the keys of maps.
func (d Deployment) customData() []any {
	variables := d.variablesByDomain()
	var data []any
	for _, domain := range d.Domains() {
		var list []any
		for _, name := range slices.SortedFunc(maps.Keys(variables[domain]), cmp.Compare[string]) {
			list = append(list, map[string]any{name: map[string]any{"value": variables[domain][name]}})
		}
		if len(list) > 0 {
			data = append(data, map[string]any{domain: list})
		}
	}
	return data
}
