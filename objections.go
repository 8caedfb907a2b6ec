package planewright

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/planewright/planewright/internal/graph"
)

// objections are what speaks against undoing a step.
type objections struct {
	findings []Finding
	blocked  []BlockedStep
}

// err refuses if one of the objections does.
func (o objections) err() error {
	refused := &BlockedError{Steps: o.blocked}
	for _, f := range o.findings {
		if f.Severity == SeverityError {
			refused.Findings = append(refused.Findings, f)
		}
	}
	if len(refused.Findings) == 0 && len(refused.Steps) == 0 {
		return nil
	}
	return refused
}

// mayUndo asks every step whether it may be undone, before the first is.
func (u *removal) mayUndo(ctx context.Context) error {
	found := make([]objections, len(u.steps))
	apart := slices.Clone(u.steps)
	for i := range apart {
		apart[i].Needs = nil
	}
	results := u.walk(ctx, apart, func(ctx context.Context, i int) error {
		_, err := u.retry(ctx, apart[i].ID, apart[i].Cluster, func(int) (err error) {
			found[i], err = u.objections(ctx, apart[i])
			return err
		})
		return err
	})
	if context.Cause(ctx) != nil {
		return runError(ctx, u.steps, results)
	}
	var all objections
	for i, r := range results {
		if r.State == graph.Failed {
			// It stops no other; the step itself is asked again when its turn comes.
			u.unasked[u.steps[i].ID] = true
		}
		all.findings, all.blocked = append(all.findings, found[i].findings...), append(all.blocked, found[i].blocked...)
	}
	u.run.tell(all.findings)
	u.report.Findings = all.findings
	return all.err()
}

// objections are those to undoing one step.
func (u *removal) objections(ctx context.Context, s boundStep) (objections, error) {
	var o objections
	switch {
	case s.pruned:
		change, err := u.checkOnce(ctx, s)
		if err != nil {
			return o, err
		}
		if change.Action == ActionBlocked {
			o.blocked = append(o.blocked, BlockedStep{ID: s.ID, Reason: change.Reason, Err: change.Err})
		}
		o.findings = change.Findings
	case s.CheckUndo != nil:
		findings, err := s.CheckUndo(ctx, u.view(s.ID))
		if err != nil && !errors.Is(err, ErrUnknown) {
			return o, err
		}
		o.findings = findings
	}
	for i := range o.findings {
		o.findings[i].Step = cmp.Or(o.findings[i].Step, s.ID)
	}
	return o, nil
}
