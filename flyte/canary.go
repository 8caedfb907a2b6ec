package flyte

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte/admin"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Canary is a launch plan that a verification may run: a small workflow of
// the user's own that ends soon. Make one with [NewCanary].
type Canary struct {
	project, domain, launchPlan, version string
	inputs                               map[string]admin.Literal
}

// NewCanary names a launch plan. Its newest version is run.
func NewCanary(project, domain, launchPlan string) Canary {
	return Canary{project: project, domain: domain, launchPlan: launchPlan}
}

// WithVersion runs one version of the launch plan, and not the newest.
func (c Canary) WithVersion(version string) Canary {
	c.version = version
	return c
}

// WithInput sets an input of the launch plan.
func (c Canary) WithInput(name string, value admin.Literal) Canary {
	c.inputs = maps.Clone(c.inputs)
	if c.inputs == nil {
		c.inputs = map[string]admin.Literal{}
	}
	c.inputs[name] = value
	return c
}

// IsZero reports whether there is none.
func (c Canary) IsZero() bool { return c.launchPlan == "" }

// WithCanary has [Deployment.Verify] run a launch plan once for each label,
// and see that it ends on a cluster that [Deployment.ExplainLabel] names.
// Without one a verification says that placement is predicted, not seen.
func (d Deployment) WithCanary(canary Canary) Deployment {
	d.canary = canary
	return d
}

func (d Deployment) validateCanary(p *planewright.Problems) {
	c := d.canary
	if c.IsZero() {
		if c.project != "" || c.domain != "" {
			p.Add("canary.launchPlan", "", "a canary is a launch plan", "name it")
		}
		return
	}
	if len(d.dataplanes) == 0 {
		p.Add("canary", c.launchPlan, "a canary shows which data plane runs what, and there is none", "leave WithCanary out")
		return
	}
	if len(validation.IsDNS1123Label(c.project)) > 0 || !slices.Contains(d.projectNames(), c.project) {
		p.Add("canary.project", c.project, "a canary runs in a project of the deployment", "use one of "+joinOr(d.projectNames()))
	}
	if !slices.Contains(d.Domains(), c.domain) {
		p.Add("canary.domain", c.domain, "a canary runs in a domain of the deployment", "use one of "+joinOr(d.Domains()))
	}
}

// placementStep writes nothing. Its verification shows where executions land.
type placementStep struct{ adminStep }

func (s placementStep) step(needs []string) planewright.Step {
	return planewright.Step{
		ID:      s.id() + "/placement",
		Title:   "where executions run",
		Cluster: s.cluster.Name,
		Needs:   needs,
		Check: func(context.Context, *planewright.Run) (planewright.Change, error) {
			return planewright.Change{}, nil
		},
		Verify: s.verify,
	}
}

func (s placementStep) verify(ctx context.Context, run *planewright.Run) ([]planewright.Finding, error) {
	if s.canary.IsZero() {
		return []planewright.Finding{{Severity: planewright.SeverityInfo, Code: CodePlacement,
			Cause: "which cluster runs what is predicted, not seen", Fix: "use WithCanary to run a launch plan for each label"}}, nil
	}
	var findings []planewright.Finding
	err := s.with(ctx, run, func(client *admin.Client) error {
		id := admin.LaunchPlanID{Project: s.canary.project, Domain: s.canary.domain, Name: s.canary.launchPlan, Version: s.canary.version}
		if id.Version == "" {
			newest, err := client.LaunchPlan(ctx, id.Project, id.Domain, id.Name)
			if errors.Is(err, planewright.ErrNotFound) {
				findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodePlacement,
					Cause: fmt.Sprintf("the canary %s/%s/%s is not registered", id.Project, id.Domain, id.Name), Fix: "register it, or leave WithCanary out"})
				return nil
			}
			if err != nil {
				return err
			}
			id = newest.ID
		}
		for _, l := range s.effectiveLabels().labels {
			finding, err := s.fly(ctx, run, client, id, l.name)
			if err != nil {
				return err
			}
			findings = append(findings, finding)
		}
		return nil
	})
	return findings, err
}

// fly runs the canary with a label to its end.
func (s placementStep) fly(ctx context.Context, run *planewright.Run, client *admin.Client, plan admin.LaunchPlanID, label string) (planewright.Finding, error) {
	finding := planewright.Finding{Severity: planewright.SeverityError, Code: CodePlacement}
	id, err := client.CreateExecution(ctx, admin.ExecutionRequest{LaunchPlan: plan, Inputs: s.canary.inputs, ExecutionClusterLabel: label})
	if err != nil {
		return finding, err
	}
	e, err := client.AwaitExecution(ctx, id, func(message string) { run.Progress("canary with label %s: %s", label, message) })
	if err != nil {
		return finding, err
	}
	want := s.ExplainLabel(label)
	predicted := want.ClusterOf(id.Name)
	allowed := slices.ContainsFunc(want.Shares, func(share ClusterShare) bool { return share.Cluster == e.Cluster })
	switch {
	case e.Phase != admin.PhaseSucceeded:
		finding.Cause = fmt.Sprintf("the canary %s with label %s is %s on %s", id, label, e.Phase, e.Cluster)
		if e.Error != nil {
			finding.Cause += ": " + e.Error.Error()
		}
		finding.Fix = "look at it in the console"
	case !allowed:
		finding.Cause = fmt.Sprintf("the canary %s with label %s ran on %q, and the label stands for %s", id, label, e.Cluster, want)
		finding.Fix = "see whether flyteadmin was restarted since its clusters changed, and install again"
	case e.Cluster != predicted:
		finding.Severity = planewright.SeverityWarning
		finding.Cause = fmt.Sprintf("the canary %s with label %s ran on %s, and %s was predicted", id, label, e.Cluster, predicted)
		finding.Fix = "see whether flyteadmin has the weights of the deployment"
	default:
		finding.Severity = planewright.SeverityInfo
		finding.Cause = fmt.Sprintf("the canary with label %s ran on %s, as predicted", label, e.Cluster)
	}
	return finding, nil
}
