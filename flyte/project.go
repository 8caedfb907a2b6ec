package flyte

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/planewright/planewright"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Project is a Flyte project that exists from the start. Flyte makes a
// namespace "<project>-<domain>" for each project and domain.
type Project struct {
	name, title, description string
	archived                 bool
}

// NewProject names a project. The name is a DNS label, and short enough for
// "<name>-<domain>" to be one too.
func NewProject(name string) Project { return Project{name: name} }

// WithDescription sets what the console shows; by default "<name> project".
func (p Project) WithDescription(description string) Project {
	p.description = description
	return p
}

// WithTitle sets the name that the console shows; by default it is the
// project's own. In planes only: flyte-binary makes projects by their names.
func (p Project) WithTitle(title string) Project {
	p.title = title
	return p
}

// Archived archives the project: it takes no executions and is not shown, and
// what it has stays. In planes only.
func (p Project) Archived() Project {
	p.archived = true
	return p
}

// DefaultDomains returns the domains of a deployment that names none:
// development, staging and production.
func DefaultDomains() []string { return []string{"development", "staging", "production"} }

// defaultMapping is flyteadmin's own template of a namespace's name.
const defaultMapping = "{{ project }}-{{ domain }}"

// projectNamespace is the namespace that flyteadmin makes for a project's domain.
func (d Deployment) projectNamespace(project, domain string) string {
	return substitute(d.namespaceMapping(), map[string]string{"project": project, "domain": domain})
}

// namespaceMapping is the template of namespaces' names.
func (d Deployment) namespaceMapping() string {
	if d.mapping == "" {
		return defaultMapping
	}
	return d.mapping
}

// maxDescription is the longest description that flyteadmin takes, in bytes.
const maxDescription = 300

// maxTitle is the longest name that flyteadmin takes, in bytes.
const maxTitle = 64

func (d Deployment) validateProjects(p *planewright.Problems) {
	d.validateMapping(p)
	seen := map[string]bool{}
	for i, domain := range d.Domains() {
		path := fmt.Sprintf("domains[%d]", i)
		if errs := validation.IsDNS1123Label(domain); len(errs) > 0 {
			p.Add(path, domain, "a domain is part of a namespace's name: lower-case letters, digits and hyphens", "rename the domain")
		}
		if seen[domain] {
			p.Add(path, domain, "a domain is named once", "leave it out here")
		}
		seen[domain] = true
	}
	clear(seen)
	for i, project := range d.projects {
		path := fmt.Sprintf("projects[%d]", i)
		if errs := validation.IsDNS1123Label(project.name); len(errs) > 0 {
			p.Add(path+".name", project.name, "a project is part of a namespace's name: lower-case letters, digits and hyphens", "rename the project")
			continue
		}
		if seen[project.name] {
			p.Add(path+".name", project.name, "a project is named once", "leave it out here")
		}
		seen[project.name] = true
		if !d.inPlanes() && (project.title != "" || project.archived) {
			p.Add(path, project.name, "flyte-binary makes projects by their names, and nothing of this deployment's changes them later", "leave WithTitle and Archived out, or use a deployment in planes")
		}
		validateText(p, path+".title", project.title, maxTitle)
		validateText(p, path+".description", project.description, maxDescription)
		for _, domain := range d.Domains() {
			if namespace := d.projectNamespace(project.name, domain); len(namespace) > validation.DNS1123LabelMaxLength {
				p.Add(path+".name", project.name, fmt.Sprintf("its namespace %s would have more than %d characters", namespace, validation.DNS1123LabelMaxLength), "shorten the project's or the domain's name")
			}
		}
	}
}

// validateText checks a text that flyteadmin keeps.
func validateText(p *planewright.Problems, path, text string, most int) {
	switch {
	case len(text) > most:
		p.Add(path, fmt.Sprintf("%d bytes", len(text)), fmt.Sprintf("flyteadmin takes at most %d bytes", most), "shorten it")
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		p.Add(path, strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD"), "flyteadmin keeps UTF-8 text without NUL characters", "leave the other characters out")
	}
}

// validateMapping checks the template of namespaces' names.
func (d Deployment) validateMapping(p *planewright.Problems) {
	for _, use := range templateUses(d.mapping) {
		if use.name != "project" && use.name != "domain" {
			p.Add("namespaceMapping", d.mapping, "a namespace is made of {{ project }} and {{ domain }}, each with one space on either side; "+use.text+" stays as it is", "write it like "+defaultMapping)
			return
		}
	}
	if example := d.projectNamespace("p", "d"); len(validation.IsDNS1123Label(example)) > 0 {
		p.Add("namespaceMapping", d.mapping, "a namespace has lower-case letters, digits and hyphens", "write it like "+defaultMapping)
	} else if d.mapping != "" && example == d.mapping {
		p.Add("namespaceMapping", d.mapping, "every project's user code would share one namespace", "name {{ project }} or {{ domain }} in it")
	}
}
