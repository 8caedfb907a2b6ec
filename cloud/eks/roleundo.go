package eks

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/planewright/planewright"
	policy "github.com/planewright/planewright/cloud/iam"
)

// undo takes away the role, or from a role that was there before, what was added to it.
func (s roleStep) undo(ctx context.Context, run *planewright.Run) error {
	live, err := s.get(ctx, true)
	if err != nil || live == nil {
		return err
	}
	if live.tags[OwnerTag] != s.owner {
		run.Keep(s.object(), "its tags do not say that this stack made it")
		return nil
	}
	return s.remove(ctx, run, live)
}

func (s roleStep) remove(ctx context.Context, run *planewright.Run, live *liveRole) error {
	if live.tags[AdoptedTag] != "" {
		return s.release(ctx, run, live)
	}
	for _, arn := range live.attached {
		if err := s.detach(ctx, arn); err != nil {
			return err
		}
	}
	_, err := s.IAM.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: aws.String(s.name)})
	err = failure("iam:DeleteRole", s.object(), err)
	switch {
	case codeOf(err) == "DeleteConflict":
		run.Keep(s.object(), "somebody has added to it: "+fmt.Sprint(err))
		return nil
	case is(err, planewright.ErrNotFound):
		return nil
	}
	return err
}

// release takes our statements, attachments and tags from a role of somebody else's.
func (s roleStep) release(ctx context.Context, run *planewright.Run, live *liveRole) error {
	nobody := policy.NewTrustPolicy()
	merged, err := live.trust.MergeTrust(nobody, s.ours(live.tags)...)
	if err != nil {
		return err
	}
	if merged.Document.IsEmpty() {
		run.Keep(s.object(), "it was there before the stack; it still trusts whom the stack named, since a role has to trust somebody")
	} else if merged.Changed {
		if err := s.writeTrust(ctx, run, nobody, s.ours(live.tags)); err != nil {
			return err
		}
	}
	for _, arn := range s.attached {
		if slices.Contains(live.attached, arn) {
			if err := s.detach(ctx, arn); err != nil {
				return err
			}
		}
	}
	ours := []string{OwnerTag, AdoptedTag}
	for key := range live.tags {
		if isTrustTag(key) {
			ours = append(ours, key)
		}
	}
	_, err = s.IAM.UntagRole(ctx, &iam.UntagRoleInput{RoleName: aws.String(s.name), TagKeys: slices.Sorted(slices.Values(ours))})
	if err == nil && !merged.Document.IsEmpty() {
		run.Keep(s.object(), "it was there before the stack; what the stack added is taken out")
	}
	return failure("iam:UntagRole", s.object(), err)
}

func (s roleStep) detach(ctx context.Context, arn string) error {
	_, err := s.IAM.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: aws.String(s.name), PolicyArn: aws.String(arn)})
	if err = failure("iam:DetachRolePolicy", s.object(), err); is(err, planewright.ErrNotFound) {
		return nil
	}
	return err
}
