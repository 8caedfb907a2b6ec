package planewright

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright/internal/graph"
)

// Verification is what [Verify] found.
type Verification struct {
	// Findings are in the order of the stacks' probes and steps.
	Findings []Finding `json:"findings"`
	// Steps counts the steps that were looked at.
	Steps int `json:"steps"`
}

// OK reports whether nothing that was found is an error.
func (v *Verification) OK() bool {
	return !slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Severity == SeverityError })
}

// String prints the findings, one a line, and a summary.
func (v *Verification) String() string {
	var b strings.Builder
	count := map[Severity]int{}
	for _, f := range v.Findings {
		count[f.Severity]++
		b.WriteString(f.String())
		b.WriteByte('\n')
	}
	verdict := "verify: working"
	if !v.OK() {
		verdict = "verify: not working"
	}
	fmt.Fprintf(&b, "%s, %d steps, %d errors, %d warnings, %d not probed\n", verdict, v.Steps,
		count[SeverityError], count[SeverityWarning], count[SeverityUnprobed])
	return b.String()
}

// The codes of the findings that Verify itself makes.
const (
	// CodeMissing: something the stack wants is not there.
	CodeMissing = "missing"
	// CodeDrift: something is there and is not as the stack wants it.
	CodeDrift = "drift"
	// CodeUnverified: something could not be looked at.
	CodeUnverified = "unverified"
)

// Verify looks whether the stacks are there, as they should be, and working.
// It reads and probes, and writes nothing. What is wrong is a finding; the
// error is only for a spec that is invalid or a run that was stopped.
func Verify(ctx context.Context, arguments ...Argument) (*Verification, error) {
	e, err := newEngine(append(slices.Clip(arguments), apart{}))
	if err != nil {
		return nil, err
	}
	defer e.close()
	steps := e.targeted(e.steps)
	found := make([][]Finding, len(steps))
	results := e.walk(ctx, steps, func(ctx context.Context, i int) error {
		found[i] = e.verifyStep(ctx, steps[i])
		return nil
	})
	v := &Verification{Steps: len(steps)}
	for i, r := range results {
		if r.State == graph.NotStarted {
			return nil, runError(ctx, steps, results)
		}
		v.Findings = append(v.Findings, found[i]...)
	}
	e.run.tell(v.Findings)
	return v, nil
}

// verifyStep checks one step for drift and probes whether it works.
func (e *engine) verifyStep(ctx context.Context, s boundStep) []Finding {
	e.run.emit(Event{Kind: EventChecking, Stack: s.stack, Step: s.ID, Title: s.Title, Cluster: s.Cluster})
	change, err := e.check(ctx, s)
	e.run.emit(Event{Kind: EventChecked, Stack: s.stack, Step: s.ID, Title: s.Title, Cluster: s.Cluster, Action: change.Action, Message: change.Reason, Err: err})
	if err != nil {
		return []Finding{{Severity: SeverityError, Code: CodeUnverified, Step: s.ID, Cause: err.Error()}}
	}
	findings := slices.Clone(change.Findings)
	switch change.Action {
	case ActionNone:
	case ActionCreate, ActionUnknown:
		cause := cmp.Or(s.Title, s.ID) + " is not there"
		if change.Reason != "" {
			cause += ": " + change.Reason
		}
		return append(findings, Finding{Severity: SeverityError, Code: CodeMissing, Step: s.ID, Cause: cause, Fix: "install"})
	default:
		cause := cmp.Or(s.Title, s.ID) + " is not as it should be"
		if change.Reason != "" {
			cause += ": " + change.Reason
		}
		for _, d := range change.Diff {
			cause += "; " + d.String()
		}
		findings = append(findings, Finding{Severity: SeverityError, Code: CodeDrift, Step: s.ID, Cause: cause, Fix: "install"})
	}
	if s.Verify == nil {
		return findings
	}
	var probed []Finding
	_, err = e.retry(ctx, s.ID, s.Cluster, func(int) error {
		var err error
		probed, err = s.Verify(ctx, e.view(s.ID))
		return err
	})
	if err != nil {
		probed = append(probed, Finding{Severity: SeverityError, Code: CodeUnverified, Cause: err.Error()})
	}
	for i := range probed {
		probed[i].Step = cmp.Or(probed[i].Step, s.ID)
	}
	return append(findings, probed...)
}
