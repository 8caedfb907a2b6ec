package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
)

// Tool is what the team's pipelines call.
type Tool struct {
	Platform Platform
	Env      flyte.Env
	// AllowDeletes lets a plan through that takes something away.
	AllowDeletes bool
}

// Plan tells what would change, and refuses what the team does not want.
func (t Tool) Plan(ctx context.Context) (*planewright.ExecutionPlan, error) {
	plan, err := t.Platform.Deployment().Plan(ctx, t.Env)
	if err != nil {
		return nil, err
	}
	return plan, t.guard(plan)
}

// Apply carries out exactly what Plan has shown.
func (t Tool) Apply(ctx context.Context, options ...planewright.Option) (*planewright.Report, error) {
	plan, err := t.Plan(ctx)
	if err != nil {
		return nil, err
	}
	return planewright.Apply(ctx, plan, options...)
}

// guard is the team's own rule: a machine deletes nothing by itself.
func (t Tool) guard(plan *planewright.ExecutionPlan) error {
	var deletes []string
	for _, step := range plan.Steps() {
		if step.Change.Action == planewright.ActionDelete {
			deletes = append(deletes, step.ID)
		}
	}
	if len(deletes) > 0 && !t.AllowDeletes {
		return fmt.Errorf("the plan deletes %s; if that is meant, use -allow-deletes", strings.Join(deletes, ", "))
	}
	return nil
}

// Explain says where each team's workflows run.
func (t Tool) Explain() string {
	var b strings.Builder
	d := t.Platform.Deployment()
	for _, team := range t.Platform.Teams {
		fmt.Fprintf(&b, "%s: %s\n", team.Name, d.Explain(team.Name, "production", ""))
	}
	return b.String()
}
