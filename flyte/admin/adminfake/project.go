package adminfake

import (
	"maps"
	"regexp"
	"slices"

	"github.com/planewright/planewright/flyte/admin"
)

// AddProjects adds projects, or replaces those of the same id, without asking
// for flyteadmin's rules.
func (f *Fake) AddProjects(projects ...admin.Project) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range projects {
		stored := fields{"id": p.ID, "name": p.Name, "description": p.Description}
		if p.State != "" {
			stored["state"] = string(p.State)
		}
		if p.Labels != nil {
			values := fields{}
			for key, value := range p.Labels {
				values[key] = value
			}
			stored["labels"] = fields{"values": values}
		}
		f.projects[p.ID] = stored
	}
}

func (f *Fake) registerProject(r *request) (result, error) {
	set, err := r.parse(schema{{name: "project", kind: object, of: projectSchema()}})
	if err != nil {
		return result{}, err
	}
	if set["project"] == nil {
		return result{}, invalid("missing project")
	}
	project := asFields(set["project"])
	if asText(project["name"]) == "" {
		return result{}, invalid("missing project_name")
	}
	if err := checkProject(project); err != nil {
		return result{}, err
	}
	id := asText(project["id"])
	if _, exists := f.projects[id]; exists {
		return result{}, statusf(admin.CodeAlreadyExists, `value with matching already exists (duplicate key value violates unique constraint "projects_pkey")`)
	}
	f.projects[id] = project
	return result{persisted: true}, nil
}

// updateProject writes what is not empty, as the database's mapper does; the
// state always.
func (f *Fake) updateProject(r *request) (result, error) {
	set, err := r.parse(projectSchema())
	if err != nil {
		return result{}, err
	}
	id := r.params["id"]
	set["id"] = id
	stored, exists := f.projects[id]
	if !exists {
		return result{}, projectNotFound(id)
	}
	if err := checkProject(set); err != nil {
		return result{}, err
	}
	updated := maps.Clone(stored)
	for _, name := range []string{"name", "description"} {
		if asText(set[name]) != "" {
			updated[name] = set[name]
		}
	}
	if set["labels"] != nil {
		updated["labels"] = set["labels"]
	}
	updated["state"] = projectState(set)
	f.projects[id] = updated
	return result{persisted: true}, nil
}

func (f *Fake) getProject(r *request) (result, error) {
	if r.params["id"] == "" {
		return result{}, invalid("missing project_id")
	}
	project, ok := f.projects[r.params["id"]]
	if !ok {
		return result{}, projectNotFound(r.params["id"])
	}
	return result{schema: projectSchema(), message: f.withDomains(project)}, nil
}

func (f *Fake) listProjects(r *request) (result, error) {
	var rows []row
	for _, id := range slices.Sorted(maps.Keys(f.projects)) {
		p := f.projects[id]
		state := slices.Index(projectStates(), projectState(p))
		rows = append(rows, row{message: f.withDomains(p), columns: map[string]any{
			"identifier": id, "name": asText(p["name"]), "description": asText(p["description"]), "state": state,
		}})
	}
	l := listing{call: "ListProjects", entity: "project", unlimited: true}
	if r.query.Get("filters") == "" {
		rows = slices.DeleteFunc(rows, func(o row) bool { return o.columns["state"] == slices.Index(projectStates(), "ARCHIVED") })
	}
	page, token, err := l.page(r, rows)
	if err != nil {
		return result{}, err
	}
	return result{
		schema:  schema{{name: "projects", kind: object, of: projectSchema(), repeated: true}, {name: "token"}},
		message: fields{"projects": page, "token": token},
	}, nil
}

func (f *Fake) withDomains(project fields) fields {
	p := maps.Clone(project)
	p["domains"] = f.domainList()
	return p
}

func projectState(project fields) string {
	if state := asText(project["state"]); state != "" {
		return state
	}
	return projectStates()[0]
}

func projectNotFound(id string) *status {
	return statusf(admin.CodeNotFound, "project [%s] not found", id)
}

// checkProject is flyteadmin's project_validator.go.
func checkProject(project fields) error {
	id := asText(project["id"])
	if id == "" {
		return invalid("missing project_id")
	}
	if err := checkLabels(asFields(asFields(project["labels"])["values"])); err != nil {
		return err
	}
	if len(id) > 63 || !regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`).MatchString(id) {
		return invalid("invalid project id [%s]: [a lowercase RFC 1123 label is required]", id)
	}
	if len(asText(project["name"])) > 64 {
		return invalid("project_name cannot exceed 64 characters")
	}
	if len(asText(project["description"])) > 300 {
		return invalid("project_description cannot exceed 300 characters")
	}
	if domains, _ := project["domains"].([]any); len(domains) > 0 {
		return invalid("Domains belong to the whole system and cannot be part of a request.")
	}
	return nil
}

func checkLabels(labels fields) error {
	if len(labels) > 16 {
		return invalid("labels map cannot exceed 16 entries")
	}
	key := regexp.MustCompile(`^([a-z0-9][-a-z0-9.]*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
	value := regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`)
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		if !key.MatchString(k) {
			return invalid("invalid label key [%s]", k)
		}
		if v := asText(labels[k]); !value.MatchString(v) {
			return invalid("invalid label value [%s]", v)
		}
	}
	return nil
}

// checkActive checks that a project takes executions and attributes.
func (f *Fake) checkActive(id string) error {
	project, ok := f.projects[id]
	if !ok {
		return invalid("failed to validate that project [%s] is registered, err: [project [%s] not found]", id, id)
	}
	if projectState(project) != "ACTIVE" {
		return invalid("project [%s] is not active", id)
	}
	return nil
}

// checkProjectAndDomain is what flyteadmin asks for most calls.
func (f *Fake) checkProjectAndDomain(project, domain string) error {
	if _, ok := f.projects[project]; !ok {
		return invalid("failed to validate that project [%s] and domain [%s] are registered, err: [project [%s] not found]", project, domain, project)
	}
	if err := f.checkActive(project); err != nil {
		return err
	}
	if !f.hasDomain(domain) {
		return invalid("domain [%s] is unrecognized by system", domain)
	}
	return nil
}
