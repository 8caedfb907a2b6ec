package admin

import (
	"cmp"
	"strings"

	"github.com/planewright/planewright"
)

// Scope is what matchable attributes apply to: a project, one domain of a
// project, or one workflow of a domain of a project. Narrower scopes win.
type Scope struct {
	// Project is always set; Domain is empty for the whole project; Workflow
	// is empty for all workflows.
	Project, Domain, Workflow string
}

// ProjectScope is a whole project.
func ProjectScope(project string) Scope { return Scope{Project: project} }

// ProjectDomainScope is one domain of a project.
func ProjectDomainScope(project, domain string) Scope {
	return Scope{Project: project, Domain: domain}
}

// WorkflowScope is one workflow, named as Flyte shows it: "train.main".
func WorkflowScope(project, domain, workflow string) Scope {
	return Scope{Project: project, Domain: domain, Workflow: workflow}
}

// String prints the scope as a path: "team1/production/train.main".
func (s Scope) String() string {
	return strings.TrimRight(s.Project+"/"+s.Domain+"/"+s.Workflow, "/")
}

// Contains reports whether a scope lies within this one, without being the same.
func (s Scope) Contains(inner Scope) bool {
	if s == inner || s.Project != inner.Project {
		return false
	}
	return s.Domain == "" || s.Domain == inner.Domain && s.Workflow == ""
}

func (s Scope) compare(o Scope) int {
	return cmp.Or(cmp.Compare(s.Project, o.Project), cmp.Compare(s.Domain, o.Domain), cmp.Compare(s.Workflow, o.Workflow))
}

func (s Scope) check(problems *planewright.Problems) {
	checkID(problems, "scope.project", s.Project)
	switch {
	case s.Domain != "":
		checkSegment(problems, "scope.domain", s.Domain)
	case s.Workflow != "":
		problems.Add("scope.domain", "", "is required with a workflow", "use WorkflowScope")
	}
	if s.Workflow != "" {
		checkSegment(problems, "scope.workflow", s.Workflow)
	}
}

// level names flyteadmin's call for the scope ("ProjectDomainAttributes") and its path.
func (s Scope) level() (noun, path string) {
	switch {
	case s.Workflow != "":
		return "WorkflowAttributes", pathOf("workflow_attributes", s.Project, s.Domain, s.Workflow)
	case s.Domain != "":
		return "ProjectDomainAttributes", pathOf("project_domain_attributes", s.Project, s.Domain)
	}
	return "ProjectAttributes", pathOf("project_attributes", s.Project)
}
