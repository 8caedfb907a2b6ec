package eks

import (
	"context"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	policy "github.com/planewright/planewright/cloud/iam"
)

// prune makes a step that deletes a role, a policy or associations that no spec
// names any more, if their tags say whose they were.
func (a *account) prune(entry planewright.InventoryEntry) (planewright.Step, bool) {
	if len(entry.Objects) != 1 {
		return planewright.Step{}, false
	}
	object := entry.Objects[0]
	if object.APIVersion == "eks" && object.Kind == associationsKind {
		return a.pruneAssociations(entry)
	}
	if object.APIVersion != "iam" {
		return planewright.Step{}, false
	}
	arn, err := policy.ParseARN(object.Name)
	if err != nil || arn.AccountID != a.AccountID {
		return planewright.Step{}, false
	}
	name := arn.Resource[strings.LastIndex(arn.Resource, "/")+1:]
	p := pruneStep{account: a, object: object, name: name, stack: stackOf(entry.Step)}
	return planewright.Step{
		ID: entry.Step + "/pruned", Title: "no longer wanted: " + object.String(), Objects: entry.Objects,
		Check: p.check, Apply: p.apply,
	}, object.Kind == "Role" || object.Kind == "Policy"
}

// pruneAssociations makes a step that deletes the associations of a role in a
// cluster of this region, as far as the stack made them.
func (a *account) pruneAssociations(entry planewright.InventoryEntry) (planewright.Step, bool) {
	object := entry.Objects[0]
	region, cluster, _ := strings.Cut(object.Namespace, "/")
	arn, err := policy.ParseARN(object.Name)
	if err != nil || arn.AccountID != a.AccountID || region != a.Region || a.EKS == nil {
		return planewright.Step{}, false
	}
	s := podIdentityStep{account: a, region: a.EKS, role: object.Name, owner: stackOf(entry.Step), cluster: cloud.ClusterRef{Name: cluster}}
	return planewright.Step{
		ID: entry.Step + "/pruned", Title: "no longer wanted: " + object.String(), Objects: entry.Objects,
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			change, err := s.check(ctx, run)
			if is(err, planewright.ErrNotFound) {
				return planewright.Change{}, nil // the cluster is gone, and they with it
			}
			if len(change.Diff) > 0 {
				change.Action = planewright.ActionDelete
			}
			return change, err
		},
		Apply: s.apply,
	}, true
}

// stackOf is the owner that a step's resources are tagged with: the first two
// parts of its id, as "flyte.ml".
func stackOf(step string) string {
	parts := strings.SplitN(step, "/", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

type pruneStep struct {
	*account
	object      planewright.Object
	name, stack string
}

func (p pruneStep) role() roleStep { return roleStep{account: p.account, name: p.name} }

func (p pruneStep) policy() policyStep { return policyStep{account: p.account, name: p.name} }

// tags returns the tags of what there is, nil if nothing is.
func (p pruneStep) tags(ctx context.Context) (map[string]string, error) {
	if p.object.Kind == "Role" {
		live, err := p.role().get(ctx, false)
		if err != nil || live == nil || live.arn != p.object.Name {
			return nil, err
		}
		return live.tags, nil
	}
	live, err := p.policy().get(ctx)
	if err != nil || live == nil || p.policy().arn() != p.object.Name {
		return nil, err
	}
	return live.tags, nil
}

func (p pruneStep) check(ctx context.Context, _ *planewright.Run) (planewright.Change, error) {
	tags, err := p.tags(ctx)
	if err != nil || tags == nil || tags[OwnerTag] != p.stack {
		return planewright.Change{}, err
	}
	return planewright.Change{Action: planewright.ActionDelete, Fingerprint: tags[OwnerTag],
		Diff: []planewright.FieldDiff{{Path: p.object.String(), Before: "exists"}}}, nil
}

func (p pruneStep) apply(ctx context.Context, run *planewright.Run) error {
	tags, err := p.tags(ctx)
	if err != nil || tags == nil || tags[OwnerTag] != p.stack {
		return err
	}
	if p.object.Kind == "Policy" {
		if err := p.release(ctx); err != nil {
			return err
		}
		return p.policy().remove(ctx, run)
	}
	role := p.role()
	live, err := role.get(ctx, true)
	if err != nil || live == nil {
		return err
	}
	// What was attached to an adopted role is ours by the name of its policy.
	role.attached = slices.DeleteFunc(slices.Clone(live.attached), func(arn string) bool { return arn != p.policy().arn() })
	return role.remove(ctx, run, live)
}

// release takes the policy off the stack's role of the same name, which may
// stay, or go at the same time: IAM deletes no policy that is attached.
func (p pruneStep) release(ctx context.Context) error {
	role := p.role()
	live, err := role.get(ctx, true)
	if err != nil || live == nil || live.tags[OwnerTag] != p.stack || !slices.Contains(live.attached, p.object.Name) {
		return err
	}
	return role.detach(ctx, p.object.Name)
}
