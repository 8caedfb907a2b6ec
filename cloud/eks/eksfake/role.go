package eksfake

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	policy "github.com/planewright/planewright/cloud/iam"
)

// role is an IAM role.
type role struct {
	name, path, id, trust, description, boundary string
	tags                                         map[string]string
	attached                                     []string
	created                                      time.Time
	// inline stands for inline policies and instance profiles, which keep a role from being deleted.
	inline bool
}

func (r *role) clone() *role {
	c := *r
	c.tags, c.attached = maps.Clone(r.tags), slices.Clone(r.attached)
	return &c
}

func (f *Fake) arnOf(r *role) string {
	return policy.RoleARN(f.partition, f.account, r.path, r.name)
}

func (f *Fake) show(r *role) *types.Role {
	shown := &types.Role{
		RoleName: aws.String(r.name), Path: aws.String(r.path), Arn: aws.String(f.arnOf(r)), RoleId: aws.String(r.id),
		AssumeRolePolicyDocument: encode(r.trust), Description: aws.String(r.description), CreateDate: aws.Time(r.created), Tags: tagsFor(r.tags),
	}
	if r.boundary != "" {
		shown.PermissionsBoundary = &types.AttachedPermissionsBoundary{PermissionsBoundaryArn: aws.String(r.boundary), PermissionsBoundaryType: types.PermissionsBoundaryAttachmentTypePolicy}
	}
	return shown
}

// GetRole implements eks.IAM.
func (f *iamFake) GetRole(ctx context.Context, in *iam.GetRoleInput, _ ...func(*iam.Options)) (*iam.GetRoleOutput, error) {
	name := aws.ToString(in.RoleName)
	return do(ctx, f.Fake, call{"iam:GetRole", name, false}, func() (*iam.GetRoleOutput, error) {
		r := f.roles[strings.ToLower(name)].read()
		if r == nil {
			return nil, noSuchEntity("The role with name %s cannot be found.", name)
		}
		return &iam.GetRoleOutput{Role: f.show(r)}, nil
	})
}

var namePattern = regexp.MustCompile(`^[A-Za-z0-9+=,.@_-]{1,64}$`)

// CreateRole implements eks.IAM. Names are unique whatever their case.
func (f *iamFake) CreateRole(ctx context.Context, in *iam.CreateRoleInput, _ ...func(*iam.Options)) (*iam.CreateRoleOutput, error) {
	name := aws.ToString(in.RoleName)
	return do(ctx, f.Fake, call{"iam:CreateRole", name, true}, func() (*iam.CreateRoleOutput, error) {
		key := strings.ToLower(name)
		if !namePattern.MatchString(name) {
			return nil, invalid("1 validation error detected: Value '%s' at 'roleName' failed to satisfy constraint", name)
		}
		if current(f.roles, key) != nil {
			return nil, alreadyExists("Role with name %s already exists.", name)
		}
		if f.count() >= int(f.quotas["RolesQuota"]) {
			return nil, limitExceeded("Cannot exceed quota for RolesPerAccount: %d", f.quotas["RolesQuota"])
		}
		if err := f.document(aws.ToString(in.AssumeRolePolicyDocument), true, "AssumeRolePolicySizeQuota", "ACLSizePerRole"); err != nil {
			return nil, err
		}
		tags, err := tagged(nil, in.Tags)
		if err != nil {
			return nil, err
		}
		boundary := aws.ToString(in.PermissionsBoundary)
		if boundary != "" && !f.hasPolicy(boundary) {
			return nil, noSuchEntity("Scope ARN: %s does not exist or is not attachable.", boundary)
		}
		r := &role{name: name, path: path(in.Path), id: fmt.Sprintf("AROA%016d", f.next()), trust: aws.ToString(in.AssumeRolePolicyDocument), description: aws.ToString(in.Description), boundary: boundary, tags: tags, created: time.Now()}
		write(f.Fake, f.roles, key, r)
		return &iam.CreateRoleOutput{Role: f.show(r)}, nil
	})
}

func path(given *string) string {
	if aws.ToString(given) == "" {
		return "/"
	}
	return *given
}

func (f *Fake) count() int {
	n := 0
	for _, v := range f.roles {
		if v.now != nil {
			n++
		}
	}
	return n
}

// change writes a changed copy of a role.
func (f *Fake) change(name string, change func(*role) error) error {
	key := strings.ToLower(name)
	have := current(f.roles, key)
	if have == nil {
		return noSuchEntity("The role with name %s cannot be found.", name)
	}
	r := have.clone()
	if err := change(r); err != nil {
		return err
	}
	write(f, f.roles, key, r)
	return nil
}

// UpdateAssumeRolePolicy implements eks.IAM. It replaces the whole document,
// whoever wrote it.
func (f *iamFake) UpdateAssumeRolePolicy(ctx context.Context, in *iam.UpdateAssumeRolePolicyInput, _ ...func(*iam.Options)) (*iam.UpdateAssumeRolePolicyOutput, error) {
	name := aws.ToString(in.RoleName)
	return do(ctx, f.Fake, call{"iam:UpdateAssumeRolePolicy", name, true}, func() (*iam.UpdateAssumeRolePolicyOutput, error) {
		return &iam.UpdateAssumeRolePolicyOutput{}, f.change(name, func(r *role) error {
			r.trust = aws.ToString(in.PolicyDocument)
			return f.document(r.trust, true, "AssumeRolePolicySizeQuota", "ACLSizePerRole")
		})
	})
}

// TagRole implements eks.IAM.
func (f *iamFake) TagRole(ctx context.Context, in *iam.TagRoleInput, _ ...func(*iam.Options)) (*iam.TagRoleOutput, error) {
	name := aws.ToString(in.RoleName)
	return do(ctx, f.Fake, call{"iam:TagRole", name, true}, func() (*iam.TagRoleOutput, error) {
		return &iam.TagRoleOutput{}, f.change(name, func(r *role) (err error) {
			r.tags, err = tagged(r.tags, in.Tags)
			return err
		})
	})
}

// UntagRole implements eks.IAM.
func (f *iamFake) UntagRole(ctx context.Context, in *iam.UntagRoleInput, _ ...func(*iam.Options)) (*iam.UntagRoleOutput, error) {
	name := aws.ToString(in.RoleName)
	return do(ctx, f.Fake, call{"iam:UntagRole", name, true}, func() (*iam.UntagRoleOutput, error) {
		return &iam.UntagRoleOutput{}, f.change(name, func(r *role) error {
			for _, key := range in.TagKeys {
				delete(r.tags, key)
			}
			return nil
		})
	})
}

// PutRolePermissionsBoundary implements eks.IAM.
func (f *iamFake) PutRolePermissionsBoundary(ctx context.Context, in *iam.PutRolePermissionsBoundaryInput, _ ...func(*iam.Options)) (*iam.PutRolePermissionsBoundaryOutput, error) {
	name := aws.ToString(in.RoleName)
	return do(ctx, f.Fake, call{"iam:PutRolePermissionsBoundary", name, true}, func() (*iam.PutRolePermissionsBoundaryOutput, error) {
		return &iam.PutRolePermissionsBoundaryOutput{}, f.change(name, func(r *role) error {
			r.boundary = aws.ToString(in.PermissionsBoundary)
			if !f.hasPolicy(r.boundary) {
				return noSuchEntity("Scope ARN: %s does not exist or is not attachable.", r.boundary)
			}
			return nil
		})
	})
}

// ListAttachedRolePolicies implements eks.IAM. Its first page is empty, as
// IAM's may be, and leads to the next.
func (f *iamFake) ListAttachedRolePolicies(ctx context.Context, in *iam.ListAttachedRolePoliciesInput, _ ...func(*iam.Options)) (*iam.ListAttachedRolePoliciesOutput, error) {
	name := aws.ToString(in.RoleName)
	return do(ctx, f.Fake, call{"iam:ListAttachedRolePolicies", name, false}, func() (*iam.ListAttachedRolePoliciesOutput, error) {
		r := current(f.roles, strings.ToLower(name))
		if r == nil {
			return nil, noSuchEntity("The role with name %s cannot be found.", name)
		}
		if in.Marker == nil && len(r.attached) > 1 {
			return &iam.ListAttachedRolePoliciesOutput{IsTruncated: true, Marker: aws.String("next")}, nil
		}
		out := &iam.ListAttachedRolePoliciesOutput{}
		for _, arn := range r.attached {
			out.AttachedPolicies = append(out.AttachedPolicies, types.AttachedPolicy{PolicyArn: aws.String(arn), PolicyName: aws.String(arn[strings.LastIndex(arn, "/")+1:])})
		}
		return out, nil
	})
}

// AttachRolePolicy implements eks.IAM. To attach again is no error.
func (f *iamFake) AttachRolePolicy(ctx context.Context, in *iam.AttachRolePolicyInput, _ ...func(*iam.Options)) (*iam.AttachRolePolicyOutput, error) {
	name, arn := aws.ToString(in.RoleName), aws.ToString(in.PolicyArn)
	return do(ctx, f.Fake, call{"iam:AttachRolePolicy", name, true}, func() (*iam.AttachRolePolicyOutput, error) {
		if !f.hasPolicy(arn) {
			return nil, noSuchEntity("Policy %s does not exist or is not attachable.", arn)
		}
		return &iam.AttachRolePolicyOutput{}, f.change(name, func(r *role) error {
			if slices.Contains(r.attached, arn) {
				return nil
			}
			if r.attached = append(r.attached, arn); len(r.attached) > int(f.quotas["AttachedPoliciesPerRoleQuota"]) {
				return limitExceeded("Cannot exceed quota for PoliciesPerRole: %d", f.quotas["AttachedPoliciesPerRoleQuota"])
			}
			return nil
		})
	})
}

// DetachRolePolicy implements eks.IAM.
func (f *iamFake) DetachRolePolicy(ctx context.Context, in *iam.DetachRolePolicyInput, _ ...func(*iam.Options)) (*iam.DetachRolePolicyOutput, error) {
	name, arn := aws.ToString(in.RoleName), aws.ToString(in.PolicyArn)
	return do(ctx, f.Fake, call{"iam:DetachRolePolicy", name, true}, func() (*iam.DetachRolePolicyOutput, error) {
		return &iam.DetachRolePolicyOutput{}, f.change(name, func(r *role) error {
			i := slices.Index(r.attached, arn)
			if i < 0 {
				return noSuchEntity("Policy %s was not found.", arn)
			}
			r.attached = slices.Delete(r.attached, i, i+1)
			return nil
		})
	})
}

// DeleteRole implements eks.IAM. Trust policies that name the role show its id
// from then on.
func (f *iamFake) DeleteRole(ctx context.Context, in *iam.DeleteRoleInput, _ ...func(*iam.Options)) (*iam.DeleteRoleOutput, error) {
	name := aws.ToString(in.RoleName)
	return do(ctx, f.Fake, call{"iam:DeleteRole", name, true}, func() (*iam.DeleteRoleOutput, error) {
		key := strings.ToLower(name)
		r := current(f.roles, key)
		switch {
		case r == nil:
			return nil, noSuchEntity("The role with name %s cannot be found.", name)
		case len(r.attached) > 0:
			return nil, deleteConflict("Cannot delete entity, must detach all policies first.")
		case r.inline:
			return nil, deleteConflict("Cannot delete entity, must delete policies first.")
		}
		write(f.Fake, f.roles, key, nil)
		for _, other := range f.roles {
			if other.now != nil {
				other.now.trust = strings.ReplaceAll(other.now.trust, `"`+f.arnOf(r)+`"`, `"`+r.id+`"`)
			}
		}
		return &iam.DeleteRoleOutput{}, nil
	})
}

// Role is a role as tests look at it, and put it there.
type Role struct {
	// Name and Path; an empty path is "/".
	Name, Path string
	// Trust is the trust policy's text.
	Trust    string
	Tags     map[string]string
	Attached []string
	Boundary string
	// Inline says that it has inline policies, which keep it from being deleted.
	Inline bool
}

// PutRole puts a role there as somebody else would.
func (f *Fake) PutRole(r Role) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := fmt.Sprintf("AROA%016d", f.next())
	if have := current(f.roles, strings.ToLower(r.Name)); have != nil {
		id = have.id
	}
	write(f, f.roles, strings.ToLower(r.Name), &role{name: r.Name, path: path(aws.String(r.Path)), id: id, trust: r.Trust, tags: maps.Clone(r.Tags), attached: slices.Clone(r.Attached), boundary: r.Boundary, inline: r.Inline, created: time.Now()})
}

// RemoveRole takes a role away, whatever is attached to it.
func (f *Fake) RemoveRole(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	write(f, f.roles, strings.ToLower(name), nil)
}

// Role returns a role as it is, whatever replicas show.
func (f *Fake) Role(name string) (Role, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := current(f.roles, strings.ToLower(name))
	if r == nil {
		return Role{}, false
	}
	return Role{Name: r.name, Path: r.path, Trust: r.trust, Tags: maps.Clone(r.tags), Attached: slices.Clone(r.attached), Boundary: r.boundary, Inline: r.inline}, true
}
