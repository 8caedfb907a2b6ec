package eks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/planewright/planewright"
	policy "github.com/planewright/planewright/cloud/iam"
)

// roleStep sees to a role: whom it trusts, what is attached to it, and the tags
// that say whose it is.
type roleStep struct {
	*account
	id, name, owner string
	adopt           bool
	needs           []string
	// trust is whom the role is to trust, known once the clusters are.
	trust func(run *planewright.Run) (policy.TrustPolicy, error)
	// attached are the managed policies it is to have.
	attached []string
}

func (s roleStep) arn() string { return policy.RoleARN(s.Partition, s.AccountID, s.path, s.name) }

func (s roleStep) object() planewright.Object {
	return planewright.Object{APIVersion: "iam", Kind: "Role", Name: s.arn()}
}

func (s roleStep) step() planewright.Step {
	return planewright.Step{
		ID: s.id, Title: "IAM role " + s.name, Needs: s.needs, Objects: []planewright.Object{s.object()},
		Check: s.check, Apply: s.apply, Await: s.await, Undo: s.undo, Render: s.render,
	}
}

func (s roleStep) render(_ context.Context, run *planewright.Run) ([]planewright.File, error) {
	trust, err := s.trust(run)
	if err != nil {
		return nil, err
	}
	document, err := trust.Document()
	if err != nil {
		return nil, err
	}
	return []planewright.File{{Name: fileOf(s.id, "trust.json"), Data: []byte(document.Indented() + "\n")}}, nil
}

// liveRole is what there is of a role.
type liveRole struct {
	arn, id, boundary string
	trust             policy.Document
	tags              map[string]string
	attached          []string
}

// get returns nil if there is no such role. Its attachments are read only if
// they are asked for.
func (s roleStep) get(ctx context.Context, attachments bool) (*liveRole, error) {
	found, err := s.IAM.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String(s.name)})
	if err = failure("iam:GetRole", s.object(), err); is(err, planewright.ErrNotFound) {
		return nil, nil //nolint:nilnil // nothing is there, and nothing went wrong
	}
	if err != nil {
		return nil, err
	}
	if found.Role == nil {
		return nil, empty("iam:GetRole", s.object())
	}
	live := &liveRole{arn: aws.ToString(found.Role.Arn), id: aws.ToString(found.Role.RoleId), tags: tagMap(found.Role.Tags)}
	if found.Role.PermissionsBoundary != nil {
		live.boundary = aws.ToString(found.Role.PermissionsBoundary.PermissionsBoundaryArn)
	}
	if live.trust, err = policy.ParseDocument(aws.ToString(found.Role.AssumeRolePolicyDocument)); err != nil {
		return nil, fmt.Errorf("trust policy of role %s: %w", s.name, err)
	}
	if attachments {
		live.attached, err = s.attachments(ctx)
	}
	if is(err, planewright.ErrNotFound) {
		return nil, nil //nolint:nilnil // it went between the two looks
	}
	return live, err
}

func (s roleStep) attachments(ctx context.Context) ([]string, error) {
	var arns []string
	pages := iam.NewListAttachedRolePoliciesPaginator(s.IAM, &iam.ListAttachedRolePoliciesInput{RoleName: aws.String(s.name)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, failure("iam:ListAttachedRolePolicies", s.object(), err)
		}
		for _, p := range page.AttachedPolicies {
			arns = append(arns, aws.ToString(p.PolicyArn))
		}
	}
	return arns, nil
}

// plan is what is to be done to a role.
type rolePlan struct {
	trust   policy.TrustPolicy
	merged  policy.Merged
	missing []string // policies to attach
	// surplus is the policy that was made for the role's buckets, if it has none any more.
	surplus string
	tags    map[string]string
	// stale are tags of ours that no longer say anything.
	stale []string
	// limit is how long the trust policy may be, asked only if it changes.
	limit int
	// deleted says that the trust policy names who no longer exists, nil if all do.
	deleted *policy.DeletedPrincipalError
}

func (s roleStep) plan(run *planewright.Run, live *liveRole) (rolePlan, error) {
	var p rolePlan
	var err error
	if p.trust, err = s.trust(run); err != nil {
		return p, err
	}
	before, tags := policy.Document{}, map[string]string{}
	if live != nil {
		before, tags = live.trust, live.tags
	}
	p.merged, err = before.MergeTrust(p.trust, s.ours(tags)...)
	if err != nil && !errors.As(err, &p.deleted) {
		return p, err
	}
	for _, arn := range s.attached {
		if live == nil || !slices.Contains(live.attached, arn) {
			p.missing = append(p.missing, arn)
		}
	}
	made := policyStep{account: s.account, name: s.name}.arn()
	if live != nil && tags[OwnerTag] == s.owner && tags[AdoptedTag] == "" && slices.Contains(live.attached, made) && !slices.Contains(s.attached, made) {
		p.surplus = made
	}
	wanted := s.ownTags(s.owner)
	maps.Copy(wanted, trustTags(marks(before, tags, p.trust)))
	p.tags = map[string]string{}
	for key, value := range wanted {
		if tags[key] != value {
			p.tags[key] = value
		}
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if _, still := wanted[key]; isTrustTag(key) && !still {
			p.stale = append(p.stale, key)
		}
	}
	return p, nil
}

// ours says which statements of the live trust policy are ours alone, and what
// may be done to those of others.
func (s roleStep) ours(tags map[string]string) []policy.MergeOption {
	marks := trustMarks(tags)
	options := []policy.MergeOption{policy.Replacing(func(providerARN string) bool { return marks[trustMark(providerARN)] })}
	if s.dropDeleted {
		options = append(options, policy.DroppingDeletedPrincipals())
	}
	return options
}

// marks are those of the providers whose statements are, or will be, ours
// alone. One that somebody had bound before is not: in its statement subjects
// are only added.
func marks(before policy.Document, tags map[string]string, trust policy.TrustPolicy) map[string]bool {
	had, marks := trustMarks(tags), map[string]bool{}
	for _, provider := range trust.Providers() {
		if mark := trustMark(provider.ARN()); had[mark] || !before.Binds(provider) {
			marks[mark] = true
		}
	}
	return marks
}

func (s roleStep) check(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
	live, err := s.get(ctx, true)
	if err != nil {
		return planewright.Change{}, err
	}
	p, err := s.plan(run, live)
	if err != nil {
		return planewright.Change{}, err
	}
	if p.merged.Changed {
		if p.limit, err = s.limit(ctx); err != nil {
			return planewright.Change{}, err
		}
	}
	change := planewright.Change{Diff: p.merged.Diff, Fingerprint: "absent"}
	if live != nil {
		change.Fingerprint = live.fingerprint()
	}
	if blocked := s.blocked(live, p); blocked != "" {
		change.Action, change.Reason = planewright.ActionBlocked, blocked
		return change, nil
	}
	for _, arn := range p.missing {
		change.Diff = append(change.Diff, planewright.FieldDiff{Path: "attachedPolicies", After: arn})
	}
	if p.surplus != "" {
		change.Diff = append(change.Diff, planewright.FieldDiff{Path: "attachedPolicies", Before: p.surplus})
	}
	for _, key := range slices.Sorted(maps.Keys(p.tags)) {
		change.Diff = append(change.Diff, planewright.FieldDiff{Path: "tags[" + key + "]", Before: live.tag(key), After: p.tags[key]})
	}
	for _, key := range p.stale {
		change.Diff = append(change.Diff, planewright.FieldDiff{Path: "tags[" + key + "]", Before: live.tag(key)})
	}
	if s.boundary != "" && (live == nil || live.boundary != s.boundary) {
		before := ""
		if live != nil {
			before = live.boundary
		}
		change.Diff = append(change.Diff, planewright.FieldDiff{Path: "permissionsBoundary", Before: before, After: s.boundary})
	}
	change.Findings = s.findings(live, p)
	switch {
	case live == nil:
		change.Action = planewright.ActionCreate
	case live.tags[OwnerTag] != s.owner:
		change.Action = planewright.ActionAdopt
	case len(change.Diff) > 0:
		change.Action = planewright.ActionUpdate
	}
	return change, nil
}

func (l *liveRole) tag(key string) string {
	if l == nil {
		return ""
	}
	return l.tags[key]
}

func (l *liveRole) fingerprint() string {
	tags := make([]string, 0, len(l.tags))
	for _, key := range slices.Sorted(maps.Keys(l.tags)) {
		tags = append(tags, key+"="+l.tags[key])
	}
	return strings.Join([]string{l.id, l.trust.Hash(), l.boundary, strings.Join(slices.Sorted(slices.Values(l.attached)), ","), strings.Join(tags, ",")}, " ")
}

// blocked says why the role must not be written, empty if it may be.
func (s roleStep) blocked(live *liveRole, p rolePlan) string {
	if live != nil {
		switch {
		case live.arn != s.arn():
			return fmt.Sprintf("the role %s exists as %s; a role's name is its own whatever its path or case. Choose another name, or the path it has", s.name, live.arn)
		case live.tags[OwnerTag] != s.owner && !s.adopt:
			return stranger("role "+s.arn(), live.tags)
		}
	}
	if p.deleted != nil {
		return p.deleted.Error() + "; eks.WithoutDeletedPrincipals takes it out"
	}
	if p.merged.Changed && (live == nil || p.merged.Document.Size() > live.trust.Size()) {
		if err := p.merged.Document.CheckLength("trust policy of role "+s.name, p.limit); err != nil {
			return err.Error()
		}
	}
	return ""
}

// findings are what a reader of the plan should know of the role.
func (s roleStep) findings(live *liveRole, p rolePlan) []planewright.Finding {
	object := s.object()
	var findings []planewright.Finding
	if live != nil {
		if other := provisioner(live.tags); other != "" {
			findings = append(findings, planewright.Finding{Severity: planewright.SeverityWarning, Code: CodeProvisioner, Object: &object,
				Cause: "the role belongs to " + other + ", which may set its trust policy back", Fix: "manage it there, or take it out of there"})
		}
		for _, f := range live.trust.Findings() {
			f.Object = &object
			findings = append(findings, f)
		}
	}
	for _, f := range p.merged.Document.FindingsFor(p.trust) {
		f.Object = &object
		findings = append(findings, f)
	}
	if p.merged.Changed && len(p.trust.Providers()) > 0 {
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityInfo, Code: CodeBudget, Object: &object,
			Cause: "its trust policy: " + p.merged.Document.Budget(p.limit).String()})
	}
	return findings
}

func (s roleStep) apply(ctx context.Context, run *planewright.Run) error {
	lock := s.lock(s.name)
	lock.Lock()
	defer lock.Unlock()
	live, err := s.get(ctx, true)
	if err != nil {
		return err
	}
	p, err := s.plan(run, live)
	if err != nil {
		return err
	}
	if p.deleted != nil {
		return p.deleted
	}
	if live == nil {
		if err := s.create(ctx, run, p); err != nil {
			return err
		}
	} else if err := s.update(ctx, run, live, p); err != nil {
		return err
	}
	for _, arn := range p.missing {
		_, err := s.IAM.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: aws.String(s.name), PolicyArn: aws.String(arn)})
		if err != nil {
			return failure("iam:AttachRolePolicy", s.object(), err)
		}
	}
	if p.surplus != "" {
		return s.detach(ctx, p.surplus)
	}
	return nil
}

func (s roleStep) create(ctx context.Context, run *planewright.Run, p rolePlan) error {
	tags := s.ownTags(s.owner)
	maps.Copy(tags, trustTags(marks(policy.Document{}, nil, p.trust)))
	input := &iam.CreateRoleInput{
		RoleName: aws.String(s.name), Path: aws.String(s.path), AssumeRolePolicyDocument: aws.String(p.merged.Document.String()),
		Description: aws.String("Made by planewright for " + s.owner), Tags: tagList(tags),
	}
	if s.boundary != "" {
		input.PermissionsBoundary = aws.String(s.boundary)
	}
	err := s.untilPrincipalsAreSeen(ctx, run, func() error {
		_, err := s.IAM.CreateRole(ctx, input)
		return failure("iam:CreateRole", s.object(), err)
	})
	if is(err, planewright.ErrAlreadyExists) {
		return again{err}
	}
	return err
}

// update writes what differs. The tags that remember our statements come
// before the statements, and those that forget them after, so that an install
// that is killed in between knows what is its own.
func (s roleStep) update(ctx context.Context, run *planewright.Run, live *liveRole, p rolePlan) error {
	now := marks(live.trust, live.tags, p.trust)
	both := trustMarks(live.tags)
	maps.Copy(both, now)
	first := s.ownTags(s.owner)
	maps.Copy(first, trustTags(both))
	if live.tags[OwnerTag] != s.owner {
		first[AdoptedTag] = "true"
	}
	if err := s.tag(ctx, live.tags, first); err != nil {
		return err
	}
	if s.boundary != "" && live.boundary != s.boundary {
		_, err := s.IAM.PutRolePermissionsBoundary(ctx, &iam.PutRolePermissionsBoundaryInput{RoleName: aws.String(s.name), PermissionsBoundary: aws.String(s.boundary)})
		if err != nil {
			return failure("iam:PutRolePermissionsBoundary", s.object(), err)
		}
	}
	if p.merged.Changed {
		if err := s.writeTrust(ctx, run, p.trust, s.ours(first)); err != nil {
			return err
		}
	}
	maps.Copy(live.tags, first)
	last := trustTags(now)
	if err := s.tag(ctx, live.tags, last); err != nil {
		return err
	}
	var stale []string
	for key := range live.tags {
		if _, still := last[key]; isTrustTag(key) && !still {
			stale = append(stale, key)
		}
	}
	if len(stale) == 0 {
		return nil
	}
	_, err := s.IAM.UntagRole(ctx, &iam.UntagRoleInput{RoleName: aws.String(s.name), TagKeys: slices.Sorted(slices.Values(stale))})
	return failure("iam:UntagRole", s.object(), err)
}

// tag writes the tags that differ.
func (s roleStep) tag(ctx context.Context, have, want map[string]string) error {
	differ := map[string]string{}
	for key, value := range want {
		if have[key] != value {
			differ[key] = value
		}
	}
	if len(differ) == 0 {
		return nil
	}
	_, err := s.IAM.TagRole(ctx, &iam.TagRoleInput{RoleName: aws.String(s.name), Tags: tagList(differ)})
	return failure("iam:TagRole", s.object(), err)
}

func (s roleStep) await(ctx context.Context, run *planewright.Run) error {
	return s.settled(ctx, run, "the role", func(ctx context.Context) (bool, error) {
		change, err := s.check(ctx, run)
		return unchanged(change), err
	})
}
