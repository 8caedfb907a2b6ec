package admin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/planewright/planewright"
)

// MatchableAttributes is one row of flyteadmin's matchable attributes.
type MatchableAttributes struct {
	// Scope is what the row was written for.
	Scope Scope
	// Attributes is its value.
	Attributes MatchingAttributes
}

// row is a row with its value as the server wrote it.
type row struct {
	MatchableAttributes
	launchPlan string
	raw        json.RawMessage
}

// Attributes lists all rows of a kind, of all projects, archived ones too, by
// their scopes. It is what is stored, so drift is found here.
func (c *Client) Attributes(ctx context.Context, kind Kind) ([]MatchableAttributes, error) {
	rows, err := c.rows(ctx, kind)
	if err != nil {
		return nil, err
	}
	list := make([]MatchableAttributes, len(rows))
	for i, r := range rows {
		list[i] = r.MatchableAttributes
	}
	return list, nil
}

// rows lists the rows of a kind that a caller can have written: flyteadmin has
// room for rows of launch plans and of whole domains, and no call that makes one.
func (c *Client) rows(ctx context.Context, kind Kind) ([]row, error) {
	var problems planewright.Problems
	checkKind(&problems, kind)
	if err := problems.Err("matchable attributes"); err != nil {
		return nil, err
	}
	var rows []row
	list := call{op: "ListMatchableAttributes", method: http.MethodGet, path: pathOf("matchable_attributes"), query: url.Values{"resource_type": {string(kind)}}}
	err := c.do(ctx, list, func(m message) {
		for _, r := range m.messages("configurations") {
			rows = append(rows, row{
				launchPlan: r.text("launch_plan"), raw: r.raw("attributes"),
				MatchableAttributes: MatchableAttributes{
					Scope:      Scope{Project: r.text("project"), Domain: r.text("domain"), Workflow: r.text("workflow")},
					Attributes: readMatching(r.message("attributes"), kind),
				},
			})
		}
	})
	rows = slices.DeleteFunc(rows, func(r row) bool { return r.launchPlan != "" || r.Scope.Project == "" })
	slices.SortFunc(rows, func(a, b row) int { return a.Scope.compare(b.Scope) })
	return rows, err
}

// GetAttributes returns the row of a kind that applies to a scope. It may be
// that of a wider scope: look at its Scope. None at all is
// planewright.ErrNotFound; an unknown or archived project, and an unknown
// domain, are planewright.ErrInvalid.
//
// At the scope of a project flyteadmin looks at the project's own row only.
func (c *Client) GetAttributes(ctx context.Context, scope Scope, kind Kind) (MatchableAttributes, error) {
	var problems planewright.Problems
	scope.check(&problems)
	checkKind(&problems, kind)
	if err := problems.Err("matchable attributes of " + scope.String()); err != nil {
		return MatchableAttributes{}, err
	}
	noun, path := scope.level()
	var found MatchableAttributes
	err := c.do(ctx, call{op: "Get" + noun, method: http.MethodGet, path: path, query: url.Values{"resource_type": {string(kind)}}}, func(m message) {
		if !m.has("attributes") {
			m.fail(errors.New("field attributes is missing"))
		}
		a := m.message("attributes")
		found = MatchableAttributes{
			Scope:      Scope{Project: a.text("project"), Domain: a.text("domain"), Workflow: a.text("workflow")},
			Attributes: readMatching(a.message("matching_attributes"), kind),
		}
	})
	return found, err
}

// PutAttributes writes the row of a scope, whatever was there: the last writer
// wins. Plugin overrides are an exception, and merged into those that are
// there by task type; to be rid of one, delete the row first. Where flyteadmin
// may merge them into a workflow's row instead, they are not sent, and the
// error is planewright.ErrUnsupported.
//
// An unknown or archived project, and an unknown domain, are
// planewright.ErrInvalid.
func (c *Client) PutAttributes(ctx context.Context, scope Scope, attributes MatchingAttributes) error {
	var problems planewright.Problems
	scope.check(&problems)
	if attributes == nil {
		problems.Add("attributes", "", "are required", "give attributes of one kind")
	} else {
		attributes.check(&problems)
		if attributes.Kind() == KindPluginOverride && scope.Domain == "" {
			problems.Add("scope.domain", "", "is required for plugin overrides: flyteadmin fails to merge those of whole projects", "write them for each domain")
		}
	}
	if err := problems.Err("matchable attributes of " + scope.String()); err != nil {
		return err
	}
	if err := c.checkMerge(ctx, scope, attributes.Kind()); err != nil {
		return err
	}
	field, value := attributes.body()
	return c.put(ctx, scope, map[string]any{field: value})
}

// checkMerge refuses to write plugin overrides where flyteadmin may merge them
// into another scope's row: it takes the oldest row that a query by the columns
// which are not empty finds (GetRaw in gormimpl/resource_repo.go).
func (c *Client) checkMerge(ctx context.Context, scope Scope, kind Kind) error {
	if kind != KindPluginOverride || scope.Workflow != "" {
		return nil
	}
	rows, err := c.rows(ctx, kind)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if scope.Contains(r.Scope) {
			noun, path := scope.level()
			return &Error{
				Op: "Update" + noun, Path: path, Kind: planewright.ErrUnsupported,
				Message: "not sent: flyteadmin may merge the plugin overrides of " + scope.String() + " into those of " + r.Scope.String(),
				Hint:    "write them for each workflow, or delete those of the workflows first",
			}
		}
	}
	return nil
}

func (c *Client) put(ctx context.Context, scope Scope, matching any) error {
	noun, path := scope.level()
	body := map[string]any{"project": scope.Project, "matching_attributes": matching}
	if scope.Domain != "" {
		body["domain"] = scope.Domain
	}
	if scope.Workflow != "" {
		body["workflow"] = scope.Workflow
	}
	return c.do(ctx, call{op: "Update" + noun, method: http.MethodPut, path: path, body: map[string]any{"attributes": body}}, nil)
}

// DeleteAttributes deletes the row of a kind of a scope. One that does not
// exist is no error.
//
// flyteadmin deletes the rows of all narrower scopes along with it (its query
// leaves out the empty columns: gormimpl/resource_repo.go). This method puts
// them back, also when the context has ended by then; for that moment they do
// not apply, and one that somebody writes in that moment is lost. An
// [*UnrestoredError] holds those that could not be put back.
func (c *Client) DeleteAttributes(ctx context.Context, scope Scope, kind Kind) error {
	var problems planewright.Problems
	scope.check(&problems)
	checkKind(&problems, kind)
	if err := problems.Err("matchable attributes of " + scope.String()); err != nil {
		return err
	}
	var narrower []row
	if scope.Workflow == "" {
		rows, err := c.rows(ctx, kind)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(rows, func(r row) bool { return r.Scope == scope }) {
			return nil // or it would delete the narrower ones for nothing
		}
		narrower = slices.DeleteFunc(rows, func(r row) bool { return !scope.Contains(r.Scope) })
	}
	noun, path := scope.level()
	body := map[string]any{"project": scope.Project, "resource_type": kind}
	if scope.Domain != "" {
		body["domain"] = scope.Domain
	}
	if scope.Workflow != "" {
		body["workflow"] = scope.Workflow
	}
	err := c.do(ctx, call{op: "Delete" + noun, method: http.MethodDelete, path: path, body: body}, nil)
	var failure *Error
	if err != nil && (!errors.As(err, &failure) || !failure.Uncertain) {
		return err
	}
	return c.restore(ctx, kind, narrower, err)
}

func checkKind(problems *planewright.Problems, kind Kind) {
	if !slices.Contains(Kinds(), kind) {
		problems.Add("kind", string(kind), "must be a kind that this package knows", "use KindExecutionClusterLabel or another of the constants")
	}
}
