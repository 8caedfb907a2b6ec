package eks

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/planewright/planewright"
	policy "github.com/planewright/planewright/cloud/iam"
)

// policyStep sees to a managed policy: what a role may do in its buckets.
type policyStep struct {
	*account
	id, name, owner string
	adopt           bool
	document        policy.Document
}

func (s policyStep) arn() string {
	return policy.PolicyARN(s.Partition, s.AccountID, s.path, s.name)
}

func (s policyStep) object() planewright.Object {
	return planewright.Object{APIVersion: "iam", Kind: "Policy", Name: s.arn()}
}

func (s policyStep) step() planewright.Step {
	return planewright.Step{
		ID: s.id, Title: "IAM policy " + s.name, Objects: []planewright.Object{s.object()},
		Check: s.check, Apply: s.apply, Await: s.await, Undo: s.undo,
		Render: func(context.Context, *planewright.Run) ([]planewright.File, error) {
			return []planewright.File{{Name: fileOf(s.id, "json"), Data: []byte(s.document.Indented() + "\n")}}, nil
		},
	}
}

// livePolicy is what there is of a policy.
type livePolicy struct {
	version  string
	document policy.Document
	tags     map[string]string
}

// get returns nil if there is no such policy.
func (s policyStep) get(ctx context.Context) (*livePolicy, error) {
	found, err := s.IAM.GetPolicy(ctx, &iam.GetPolicyInput{PolicyArn: aws.String(s.arn())})
	if err = failure("iam:GetPolicy", s.object(), err); is(err, planewright.ErrNotFound) {
		return nil, nil //nolint:nilnil // nothing is there, and nothing went wrong
	}
	if err != nil {
		return nil, err
	}
	if found.Policy == nil {
		return nil, empty("iam:GetPolicy", s.object())
	}
	live := &livePolicy{version: aws.ToString(found.Policy.DefaultVersionId), tags: tagMap(found.Policy.Tags)}
	version, err := s.IAM.GetPolicyVersion(ctx, &iam.GetPolicyVersionInput{PolicyArn: aws.String(s.arn()), VersionId: found.Policy.DefaultVersionId})
	if err != nil {
		return nil, failure("iam:GetPolicyVersion", s.object(), err)
	}
	if version.PolicyVersion == nil {
		return nil, empty("iam:GetPolicyVersion", s.object())
	}
	if live.document, err = policy.ParseDocument(aws.ToString(version.PolicyVersion.Document)); err != nil {
		// Whatever it says, it is not what is wanted.
		live.document = policy.Document{}
	}
	return live, nil
}

func (s policyStep) check(ctx context.Context, _ *planewright.Run) (planewright.Change, error) {
	if err := s.document.CheckLength("managed policy "+s.name, policy.DefaultPolicyLimit); err != nil {
		return planewright.Change{Action: planewright.ActionBlocked, Reason: err.Error(), Fingerprint: "too long"}, nil //nolint:nilerr // it is the answer
	}
	live, err := s.get(ctx)
	if err != nil {
		return planewright.Change{}, err
	}
	if live == nil {
		return planewright.Change{Action: planewright.ActionCreate, Fingerprint: "absent", Diff: policy.Document{}.Diff(s.document)}, nil
	}
	change := planewright.Change{Fingerprint: live.version + " " + live.document.Hash() + " " + live.tags[OwnerTag]}
	if live.tags[OwnerTag] != s.owner && !s.adopt {
		change.Action, change.Reason = planewright.ActionBlocked, stranger("managed policy "+s.arn(), live.tags)
		return change, nil
	}
	if !live.document.Equal(s.document) {
		change.Diff = live.document.Diff(s.document)
	}
	tags := s.missingTags(live)
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		change.Diff = append(change.Diff, planewright.FieldDiff{Path: "tags[" + key + "]", Before: live.tags[key], After: tags[key]})
	}
	switch {
	case live.tags[OwnerTag] != s.owner:
		change.Action = planewright.ActionAdopt
	case len(change.Diff) > 0:
		change.Action = planewright.ActionUpdate
	}
	return change, nil
}

// missingTags are the tags that a policy which is there lacks.
func (s policyStep) missingTags(live *livePolicy) map[string]string {
	tags := s.ownTags(s.owner)
	if live.tags[OwnerTag] != s.owner {
		tags[AdoptedTag] = "true"
	}
	maps.DeleteFunc(tags, func(key, value string) bool { return live.tags[key] == value })
	return tags
}

// stranger says why something that is there is not touched.
func stranger(what string, tags map[string]string) string {
	reason := what + " exists, and its tags do not say that this stack made it"
	switch other := provisioner(tags); {
	case tags[OwnerTag] != "":
		reason += ": they say " + tags[OwnerTag]
	case other != "":
		reason += ": it belongs to " + other
	}
	return reason + "; choose another name, or adopt it"
}

func (s policyStep) apply(ctx context.Context, run *planewright.Run) error {
	live, err := s.get(ctx)
	if err != nil {
		return err
	}
	if live == nil {
		_, err := s.IAM.CreatePolicy(ctx, &iam.CreatePolicyInput{
			PolicyName: aws.String(s.name), Path: aws.String(s.path), PolicyDocument: aws.String(s.document.String()),
			Description: aws.String("Made by planewright for " + s.owner), Tags: tagList(s.ownTags(s.owner)),
		})
		if err = failure("iam:CreatePolicy", s.object(), err); is(err, planewright.ErrAlreadyExists) {
			return again{err}
		}
		return err
	}
	if tags := s.missingTags(live); len(tags) > 0 {
		if _, err := s.IAM.TagPolicy(ctx, &iam.TagPolicyInput{PolicyArn: aws.String(s.arn()), Tags: tagList(tags)}); err != nil {
			return failure("iam:TagPolicy", s.object(), err)
		}
	}
	if live.document.Equal(s.document) {
		return nil
	}
	return s.addVersion(ctx, run)
}

// versions is how many versions IAM keeps of a managed policy. The quota is fixed.
const versions = 5

// addVersion makes the document a new default version, and room for it first.
func (s policyStep) addVersion(ctx context.Context, run *planewright.Run) error {
	for attempt := 0; ; attempt++ {
		all, err := s.versions(ctx)
		if err != nil {
			return err
		}
		if len(all) >= versions {
			oldest := oldestVersion(all)
			run.Progress("deleting version %s of the policy, the oldest of %d", aws.ToString(oldest.VersionId), len(all))
			_, err := s.IAM.DeletePolicyVersion(ctx, &iam.DeletePolicyVersionInput{PolicyArn: aws.String(s.arn()), VersionId: oldest.VersionId})
			if err = failure("iam:DeletePolicyVersion", s.object(), err); err != nil && !is(err, planewright.ErrNotFound) {
				return err
			}
		}
		_, err = s.IAM.CreatePolicyVersion(ctx, &iam.CreatePolicyVersionInput{
			PolicyArn: aws.String(s.arn()), PolicyDocument: aws.String(s.document.String()), SetAsDefault: true,
		})
		err = failure("iam:CreatePolicyVersion", s.object(), err)
		if !is(err, planewright.ErrQuota) || attempt == 2 {
			return err
		}
		run.Progress("somebody else has taken the place of the version")
	}
}

func (s policyStep) versions(ctx context.Context) ([]types.PolicyVersion, error) {
	var all []types.PolicyVersion
	pages := iam.NewListPolicyVersionsPaginator(s.IAM, &iam.ListPolicyVersionsInput{PolicyArn: aws.String(s.arn())})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, failure("iam:ListPolicyVersions", s.object(), err)
		}
		all = append(all, page.Versions...)
	}
	return all, nil
}

// oldestVersion is the oldest that is not the default: the default cannot be deleted.
func oldestVersion(all []types.PolicyVersion) types.PolicyVersion {
	var oldest types.PolicyVersion
	var made time.Time
	for _, v := range all {
		if at := aws.ToTime(v.CreateDate); !v.IsDefaultVersion && (oldest.VersionId == nil || at.Before(made)) {
			oldest, made = v, at
		}
	}
	return oldest
}

func (s policyStep) await(ctx context.Context, run *planewright.Run) error {
	return s.settled(ctx, run, "the policy", func(ctx context.Context) (bool, error) {
		change, err := s.check(ctx, run)
		return unchanged(change), err
	})
}

func (s policyStep) undo(ctx context.Context, run *planewright.Run) error {
	live, err := s.get(ctx)
	if err != nil || live == nil {
		return err
	}
	if live.tags[OwnerTag] != s.owner {
		run.Keep(s.object(), "its tags do not say that this stack made it")
		return nil
	}
	if live.tags[AdoptedTag] != "" {
		run.Keep(s.object(), "it was there before the stack")
		return nil
	}
	return s.remove(ctx, run)
}

// remove deletes the policy with all its versions.
func (s policyStep) remove(ctx context.Context, run *planewright.Run) error {
	all, err := s.versions(ctx)
	if err != nil {
		return err
	}
	for _, v := range all {
		if v.IsDefaultVersion {
			continue
		}
		_, err := s.IAM.DeletePolicyVersion(ctx, &iam.DeletePolicyVersionInput{PolicyArn: aws.String(s.arn()), VersionId: v.VersionId})
		if err = failure("iam:DeletePolicyVersion", s.object(), err); err != nil && !is(err, planewright.ErrNotFound) {
			return err
		}
	}
	_, err = s.IAM.DeletePolicy(ctx, &iam.DeletePolicyInput{PolicyArn: aws.String(s.arn())})
	err = failure("iam:DeletePolicy", s.object(), err)
	switch {
	case codeOf(err) == "DeleteConflict":
		run.Keep(s.object(), "it is attached to something else: "+fmt.Sprint(err))
		return nil
	case is(err, planewright.ErrNotFound):
		return nil
	}
	return err
}
