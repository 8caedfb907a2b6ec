package gke

import (
	"context"
	"fmt"
	"strings"

	admin "cloud.google.com/go/iam/admin/apiv1"

	"cloud.google.com/go/iam/admin/apiv1/adminpb"
	"cloud.google.com/go/iam/apiv1/iampb"
	"github.com/planewright/planewright"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
)

// accountStep sees to a Google service account.
type accountStep struct {
	*project
	id, name, owner string
	adopt           bool
}

func (p *project) email(name string) string {
	// A project of a domain ("example.com:acme") has its parts turned round.
	if domain, id, ok := strings.Cut(p.Project, ":"); ok {
		return name + "@" + id + "." + domain + ".iam.gserviceaccount.com"
	}
	return name + "@" + p.Project + ".iam.gserviceaccount.com"
}

func (p *project) accountName(name string) string {
	return "projects/" + p.Project + "/serviceAccounts/" + p.email(name)
}

func (s accountStep) object() planewright.Object {
	return planewright.Object{APIVersion: "iam.googleapis.com", Kind: "ServiceAccount", Name: s.accountName(s.name)}
}

// mark is what a service account's description says of whose it is: it has no labels.
func mark(owner string) string { return "Made by planewright for " + owner }

// adoptedMark is added to the description of one that was there before.
const adoptedMark = "; adopted"

func (s accountStep) step() planewright.Step {
	return planewright.Step{
		ID: s.id, Title: "Google service account " + s.name, Objects: []planewright.Object{s.object()},
		Check: s.check, Apply: s.apply, Await: s.await, Undo: s.undo,
	}
}

// live returns nil if there is no such account.
func (s accountStep) live(ctx context.Context) (*adminpb.ServiceAccount, error) {
	live, err := s.IAM.GetServiceAccount(ctx, &adminpb.GetServiceAccountRequest{Name: s.accountName(s.name)})
	if err = failure("iam.serviceAccounts.get", s.object(), err); is(err, planewright.ErrNotFound) {
		return nil, nil //nolint:nilnil // nothing is there, and nothing went wrong
	}
	return live, err
}

// owned reports whether a service account is this stack's, and whether it was there before.
func owned(live *adminpb.ServiceAccount, owner string) (ours, adopted bool) {
	// What somebody wrote before our mark stays in front of it.
	text := live.GetDescription()
	return strings.HasSuffix(text, mark(owner)) || strings.HasSuffix(text, mark(owner)+adoptedMark), strings.HasSuffix(text, adoptedMark)
}

func (s accountStep) check(ctx context.Context, _ *planewright.Run) (planewright.Change, error) {
	live, err := s.live(ctx)
	if err != nil {
		return planewright.Change{}, err
	}
	if live == nil {
		return planewright.Change{Action: planewright.ActionCreate, Fingerprint: "absent", Diff: []planewright.FieldDiff{{Path: "email", After: s.email(s.name)}}}, nil
	}
	change := planewright.Change{Action: planewright.ActionNone, Fingerprint: live.GetUniqueId() + " " + live.GetDescription()}
	ours, _ := owned(live, s.owner)
	switch {
	case live.GetDisabled():
		change.Action, change.Reason = planewright.ActionBlocked, fmt.Sprintf("the service account %s is disabled; enable it, or choose another name", s.email(s.name))
	case !ours && !s.adopt:
		change.Action, change.Reason = planewright.ActionBlocked, fmt.Sprintf("the service account %s exists, and its description does not say that this stack made it; choose another name, or adopt it", s.email(s.name))
	case !ours:
		change.Action = planewright.ActionAdopt
		change.Diff = []planewright.FieldDiff{{Path: "description", Before: live.GetDescription(), After: s.adoptedText(live)}}
	}
	return change, nil
}

// maxDescription is the longest description of a service account, in bytes.
const maxDescription = 256

func (s accountStep) adoptedText(live *adminpb.ServiceAccount) string {
	text := mark(s.owner) + adoptedMark
	if before := live.GetDescription(); before != "" && len(before)+2+len(text) <= maxDescription {
		text = before + "; " + text
	}
	return text
}

func (s accountStep) apply(ctx context.Context, _ *planewright.Run) error {
	live, err := s.live(ctx)
	if err != nil {
		return err
	}
	if live != nil {
		if ours, _ := owned(live, s.owner); ours {
			return nil
		}
		_, err := s.IAM.PatchServiceAccount(ctx, &adminpb.PatchServiceAccountRequest{
			ServiceAccount: &adminpb.ServiceAccount{Name: live.GetName(), Description: s.adoptedText(live)},
			UpdateMask:     &fieldmaskpb.FieldMask{Paths: []string{"description"}},
		})
		return failure("iam.serviceAccounts.patch", s.object(), err)
	}
	_, err = s.IAM.CreateServiceAccount(ctx, &adminpb.CreateServiceAccountRequest{
		Name: "projects/" + s.Project, AccountId: s.name, ServiceAccount: &adminpb.ServiceAccount{DisplayName: s.name, Description: mark(s.owner)},
	})
	if err = failure("iam.serviceAccounts.create", s.object(), err); is(err, planewright.ErrAlreadyExists) {
		return again{err}
	}
	return err
}

func (s accountStep) await(ctx context.Context, run *planewright.Run) error {
	return s.settled(ctx, run, "the service account", func(ctx context.Context) (bool, error) {
		live, err := s.live(ctx)
		return live != nil, err
	})
}

func (s accountStep) undo(ctx context.Context, run *planewright.Run) error {
	live, err := s.live(ctx)
	if err != nil || live == nil {
		return err
	}
	ours, adopted := owned(live, s.owner)
	switch {
	case !ours:
		run.Keep(s.object(), "its description does not say that this stack made it")
		return nil
	case adopted:
		run.Keep(s.object(), "it was there before the stack")
		text := strings.TrimSuffix(strings.TrimSuffix(live.GetDescription(), mark(s.owner)+adoptedMark), "; ")
		_, err := s.IAM.PatchServiceAccount(ctx, &adminpb.PatchServiceAccountRequest{
			ServiceAccount: &adminpb.ServiceAccount{Name: live.GetName(), Description: text}, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"description"}},
		})
		return failure("iam.serviceAccounts.patch", s.object(), err)
	}
	err = failure("iam.serviceAccounts.delete", s.object(), s.IAM.DeleteServiceAccount(ctx, &adminpb.DeleteServiceAccountRequest{Name: live.GetName()}))
	if is(err, planewright.ErrNotFound) {
		return nil
	}
	return err
}

// readPolicy reads the policy of a service account, conditions and all.
func (s accountStep) readPolicy(ctx context.Context) (*iampb.Policy, error) {
	policy, err := s.IAM.GetIamPolicy(ctx, &iampb.GetIamPolicyRequest{Resource: s.accountName(s.name), Options: &iampb.GetPolicyOptions{RequestedPolicyVersion: policyVersion}})
	if err != nil {
		return nil, failure("iam.serviceAccounts.getIamPolicy", s.object(), err)
	}
	return policy.InternalProto, nil
}

func (s accountStep) writePolicy(ctx context.Context, policy *iampb.Policy) error {
	policy.Version = policyVersion
	_, err := s.IAM.SetIamPolicy(ctx, &admin.SetIamPolicyRequest{Resource: s.accountName(s.name), Policy: wrapped(policy)})
	return failure("iam.serviceAccounts.setIamPolicy", s.object(), err)
}
