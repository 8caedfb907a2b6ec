package admin

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/planewright/planewright"
)

// maxWalks bounds how often a long list is walked through.
const maxWalks = 5

// Running lists the executions of a project's domain that have not ended, the
// oldest first, archived ones too. Each names its cluster: before one is taken
// away, nothing must run on it.
//
// A list that is longer than one page is walked through until a walk finds
// nothing new, because executions that end in between would hide others. So
// an execution that ended meanwhile may be among them, with the phase it had.
func (c *Client) Running(ctx context.Context, project, domain string) ([]Execution, error) {
	var problems planewright.Problems
	checkID(&problems, "project", project)
	checkSegment(&problems, "domain", domain)
	if err := problems.Err("executions of " + project + "/" + domain); err != nil {
		return nil, err
	}
	found := map[ExecutionID]Execution{}
	for range maxWalks {
		known, pages := len(found), 0
		err := c.pages(ctx, call{op: "ListExecutions", method: http.MethodGet, path: pathOf("executions", project, domain)},
			url.Values{
				"filters":     {"value_not_in(phase,SUCCEEDED;FAILED;ABORTED;TIMED_OUT)+gte(state,0)"},
				"sort_by.key": {"created_at"}, "sort_by.direction": {"ASCENDING"},
			},
			func(m message) {
				pages++
				for _, e := range m.messages("executions") {
					execution := readExecution(e)
					if !execution.Phase.Terminal() {
						found[execution.ID] = execution
					}
				}
			})
		if err != nil {
			return nil, err
		}
		if pages == 1 || len(found) == known {
			break
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b Execution) int {
		if order := a.CreatedAt.Compare(b.CreatedAt); order != 0 {
			return order
		}
		return compare(a.ID.Name, b.ID.Name)
	}), nil
}
