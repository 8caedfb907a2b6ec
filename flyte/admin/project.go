package admin

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/planewright/planewright"
)

// Project is a project of Flyte's. Its namespaces are made of its id and a domain's.
type Project struct {
	// ID is a DNS label, and never changes.
	ID string
	// Name is for people: required to register a project, 64 bytes at most.
	Name string
	// Description is 300 bytes at most.
	Description string
	// Labels are 16 at most, with keys and values as Kubernetes' labels have them.
	Labels map[string]string
	// State is [ProjectActive] by default.
	State ProjectState
}

// ProjectState says whether a project takes executions.
type ProjectState string

// The states of a project.
const (
	// ProjectActive takes executions; the default.
	ProjectActive ProjectState = "ACTIVE"
	// ProjectArchived takes none, is not shown, and its attributes cannot be changed.
	ProjectArchived ProjectState = "ARCHIVED"
	// ProjectSystemGenerated was made by a system, not by a user.
	ProjectSystemGenerated ProjectState = "SYSTEM_GENERATED"
	// ProjectSystemArchived was archived by a system, not by a user.
	ProjectSystemArchived ProjectState = "SYSTEM_ARCHIVED"
)

// Domain is one of the domains that every project has: development, staging
// and production by default. They are flyteadmin's configuration.
type Domain struct {
	// ID is what requests name, Name is for people.
	ID, Name string
}

// pageSize is how many rows are asked for at once.
const pageSize = 100

// maxPages bounds a list, should a server never come to its end.
const maxPages = 10_000

// errEndless says that a list did not end.
var errEndless = errors.New("the list does not end")

// Domains lists the domains, in the order of flyteadmin's configuration.
func (c *Client) Domains(ctx context.Context) ([]Domain, error) {
	var domains []Domain
	get := call{op: "GetDomains", method: http.MethodGet, path: pathOf("domains")}
	err := c.do(ctx, get, func(m message) {
		for _, d := range m.messages("domains") {
			domains = append(domains, Domain{ID: d.text("id"), Name: d.text("name")})
		}
	})
	return domains, err
}

// Projects lists all projects by their ids, archived ones too, which
// flyteadmin leaves out unless it is asked for states.
func (c *Client) Projects(ctx context.Context) ([]Project, error) {
	projects := map[string]Project{}
	err := c.pages(ctx, call{op: "ListProjects", method: http.MethodGet, path: pathOf("projects")},
		url.Values{"filters": {"gte(state,0)"}, "sort_by.key": {"identifier"}, "sort_by.direction": {"ASCENDING"}},
		func(m message) {
			for _, p := range m.messages("projects") {
				project := readProject(p)
				projects[project.ID] = project
			}
		})
	if err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Values(projects), func(a, b Project) int { return compare(a.ID, b.ID) }), nil
}

// Project reads a project. One that does not exist is planewright.ErrNotFound.
func (c *Client) Project(ctx context.Context, id string) (Project, error) {
	var problems planewright.Problems
	checkID(&problems, "id", id)
	if err := problems.Err("project"); err != nil {
		return Project{}, err
	}
	var project Project
	err := c.do(ctx, call{op: "GetProject", method: http.MethodGet, path: pathOf("projects", id)}, func(m message) { project = readProject(m) })
	return project, err
}

// RegisterProject creates a project. One that exists is
// planewright.ErrAlreadyExists and left as it is.
//
// If the answer is lost, it looks whether the project is there, and takes one
// that is like the given one for its own.
func (c *Client) RegisterProject(ctx context.Context, project Project) error {
	if err := project.validate(true); err != nil {
		return err
	}
	post := call{op: "RegisterProject", method: http.MethodPost, path: pathOf("projects"), body: map[string]any{"project": project.body()}}
	return c.create(ctx, post, func(ctx context.Context) (bool, error) {
		found, err := c.Project(ctx, project.ID)
		return err == nil && found.like(project), err
	})
}

// UpdateProject changes a project. flyteadmin leaves as they are an empty name,
// an empty description (so that none can be taken away) and nil labels; labels
// that are empty but not nil are taken away. The state is always set.
//
// A project that does not exist is planewright.ErrNotFound.
func (c *Client) UpdateProject(ctx context.Context, project Project) error {
	if err := project.validate(false); err != nil {
		return err
	}
	return c.do(ctx, call{op: "UpdateProject", method: http.MethodPut, path: pathOf("projects", project.ID), body: project.body()}, nil)
}

// state returns the state, the default for none.
func (p Project) state() ProjectState {
	if p.State == "" {
		return ProjectActive
	}
	return p.State
}

// like reports whether two projects are the same for all that a user sets.
func (p Project) like(o Project) bool {
	return p.ID == o.ID && p.Name == o.Name && p.Description == o.Description && p.state() == o.state() && maps.Equal(p.Labels, o.Labels)
}

func (p Project) body() map[string]any {
	body := map[string]any{"id": p.ID, "name": p.Name, "description": p.Description, "state": p.state()}
	if p.Labels != nil {
		body["labels"] = map[string]any{"values": p.Labels}
	}
	return body
}

func readProject(m message) Project {
	p := Project{
		ID: m.text("id"), Name: m.text("name"), Description: m.text("description"),
		Labels: m.message("labels").texts("values"), State: ProjectState(m.enum("state")),
	}
	if len(p.Labels) == 0 {
		p.Labels = nil
	}
	if p.ID == "" {
		m.fail(errors.New("field " + m.at("id") + " is missing"))
	}
	p.State = p.state()
	return p
}

// pages walks through the pages of a list. Pages are offsets to flyteadmin, not
// a snapshot: rows that come or go in between shift the later ones.
func (c *Client) pages(ctx context.Context, list call, query url.Values, read func(message)) error {
	token := ""
	for range maxPages {
		list.query = maps.Clone(query)
		list.query.Set("limit", strconv.Itoa(pageSize))
		if token != "" {
			list.query.Set("token", token)
		}
		next := ""
		err := c.do(ctx, list, func(m message) {
			next = m.text("token")
			read(m)
		})
		if err != nil || next == "" || next == token {
			return err
		}
		token = next
	}
	return &Error{Op: list.op, Path: list.path, Err: errEndless}
}
