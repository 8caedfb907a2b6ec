package admin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/planewright/planewright"
)

// LaunchPlanID identifies one version of a launch plan.
type LaunchPlanID struct {
	Project, Domain, Name, Version string
}

// String prints the id: "team1/development/train.main@v3".
func (id LaunchPlanID) String() string {
	return id.Project + "/" + id.Domain + "/" + id.Name + "@" + id.Version
}

// LaunchPlan is a way to run a workflow.
type LaunchPlan struct {
	// ID identifies it.
	ID LaunchPlanID
	// Workflow is the name of the workflow that it runs.
	Workflow string
	// Active says that it is the version that schedules and the like use; at
	// most one version is.
	Active bool
	// CreatedAt is when the version was registered.
	CreatedAt time.Time
}

// LaunchPlan finds the version of a launch plan that was registered last,
// active or not. None is planewright.ErrNotFound.
func (c *Client) LaunchPlan(ctx context.Context, project, domain, name string) (LaunchPlan, error) {
	var problems planewright.Problems
	checkID(&problems, "project", project)
	checkSegment(&problems, "domain", domain)
	checkSegment(&problems, "name", name)
	if err := problems.Err("launch plan"); err != nil {
		return LaunchPlan{}, err
	}
	var found []LaunchPlan
	list := call{op: "ListLaunchPlans", method: http.MethodGet, path: pathOf("launch_plans", project, domain, name), query: url.Values{
		"limit": {"1"}, "sort_by.key": {"created_at"}, "sort_by.direction": {"DESCENDING"},
	}}
	err := c.do(ctx, list, func(m message) {
		for _, plan := range m.messages("launch_plans") {
			id := readIdentifier(plan.message("id"))
			if id.Version == "" {
				m.fail(errors.New("a launch plan has no version"))
			}
			closure := plan.message("closure")
			state := closure.enum("state")
			found = append(found, LaunchPlan{
				ID: id, Workflow: plan.message("spec").message("workflow_id").text("name"),
				Active: state == "ACTIVE" || state == "1", CreatedAt: closure.time("created_at"),
			})
		}
	})
	if err == nil && len(found) == 0 {
		err = &Error{
			Op: list.op, Path: list.path, Status: http.StatusOK, Kind: planewright.ErrNotFound, Message: "no version of the launch plan is registered",
			Hint: "register the workflow first",
		}
	}
	if err != nil {
		return LaunchPlan{}, err
	}
	return found[0], nil
}

func readIdentifier(m message) LaunchPlanID {
	return LaunchPlanID{Project: m.text("project"), Domain: m.text("domain"), Name: m.text("name"), Version: m.text("version")}
}
