package gke

import (
	"context"
	"strings"

	"github.com/planewright/planewright"
	"google.golang.org/api/storage/v1"
)

// stackOf is the owner of what a step makes: the first two parts of its id, as "flyte.ml".
func stackOf(step string) string {
	parts := strings.SplitN(step, "/", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// prune makes a step that takes away a service account, or its roles in a
// bucket, that no spec names any more, if its description says whose it was.
func (p *project) prune(entry planewright.InventoryEntry) (planewright.Step, bool) {
	if len(entry.Objects) != 1 {
		return planewright.Step{}, false
	}
	object := entry.Objects[0]
	email := object.Name[strings.LastIndex(object.Name, "/")+1:]
	name, _, _ := strings.Cut(email, "@")
	account := accountStep{project: p, name: name, owner: stackOf(entry.Step)}
	step := planewright.Step{ID: entry.Step + "/pruned", Title: "no longer wanted: " + object.String(), Objects: entry.Objects}
	switch {
	case p.email(name) != email:
		return step, false
	case object.APIVersion == "iam.googleapis.com" && object.Kind == "ServiceAccount" && object.Name == p.accountName(name):
		step.Check, step.Apply = account.checkPruned, account.prune
	case object.APIVersion == "storage.googleapis.com" && object.Kind == accessKind:
		grant := grantStep{accountStep: account, bucket: object.Namespace}
		step.Check, step.Apply = grant.checkPruned, grant.prune
	default:
		return step, false
	}
	return step, true
}

func (s accountStep) checkPruned(ctx context.Context, _ *planewright.Run) (planewright.Change, error) {
	live, err := s.live(ctx)
	if err != nil || live == nil {
		return planewright.Change{}, err
	}
	if ours, _ := owned(live, s.owner); !ours {
		return planewright.Change{}, nil
	}
	return planewright.Change{Action: planewright.ActionDelete, Fingerprint: live.GetUniqueId(), Diff: []planewright.FieldDiff{{Path: s.email(s.name), Before: "exists"}}}, nil
}

// prune deletes the service account, or lets go of one that was adopted. Which
// of its members were added is not known any more.
func (s accountStep) prune(ctx context.Context, run *planewright.Run) error {
	live, err := s.live(ctx)
	if err != nil || live == nil {
		return err
	}
	if ours, adopted := owned(live, s.owner); ours && adopted {
		run.Advise("%s was there before the stack and stays; take out of its policy the ServiceAccounts that may take it on no longer", s.email(s.name))
	}
	return s.undo(ctx, run)
}

// checkPruned looks for roles of a service account that is the stack's, or
// that was deleted: its roles stay in a bucket's policy, under another name.
func (s grantStep) checkPruned(ctx context.Context, _ *planewright.Run) (planewright.Change, error) {
	live, err := s.live(ctx)
	if err != nil {
		return planewright.Change{}, err
	}
	if ours, _ := owned(live, s.owner); live != nil && !ours {
		return planewright.Change{}, nil
	}
	policy, err := s.read(ctx)
	if is(err, planewright.ErrNotFound) {
		return planewright.Change{}, nil
	}
	if err != nil {
		return planewright.Change{}, err
	}
	var change planewright.Change
	for _, g := range s.surplus(policy, nil) {
		change.Action = planewright.ActionDelete
		// Not whether the service account is there: it may go at the same time.
		change.Fingerprint += g.String() + " "
		change.Diff = append(change.Diff, planewright.FieldDiff{Path: "bindings[" + g.String() + "]", Before: s.member()})
	}
	return change, nil
}

func (s grantStep) prune(ctx context.Context, run *planewright.Run) error {
	return s.cycle(ctx, run, func(policy *storage.Policy) bool { return s.change(policy, nil, true) })
}
