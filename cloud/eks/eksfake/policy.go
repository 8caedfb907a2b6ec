package eksfake

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	policies "github.com/planewright/planewright/cloud/iam"
)

// versions is how many versions a managed policy has at most. The quota is fixed.
const versions = 5

// managedPolicy is a managed policy.
type managedPolicy struct {
	name, path string
	tags       map[string]string
	versions   []policyVersion
	serial     int
}

type policyVersion struct {
	id, document string
	isDefault    bool
	created      time.Time
}

func (p *managedPolicy) clone() *managedPolicy {
	c := *p
	c.tags, c.versions = maps.Clone(p.tags), slices.Clone(p.versions)
	return &c
}

func (p *managedPolicy) defaultVersion() policyVersion {
	for _, v := range p.versions {
		if v.isDefault {
			return v
		}
	}
	return policyVersion{}
}

// hasPolicy reports whether a policy may be attached. AWS's own all exist.
func (f *Fake) hasPolicy(arn string) bool {
	a, err := policies.ParseARN(arn)
	if err != nil || a.Partition != f.partition {
		return false
	}
	return a.AccountID == "aws" || current(f.policies, arn) != nil
}

// GetPolicy implements eks.IAM.
func (f *iamFake) GetPolicy(ctx context.Context, in *iam.GetPolicyInput, _ ...func(*iam.Options)) (*iam.GetPolicyOutput, error) {
	arn := aws.ToString(in.PolicyArn)
	return do(ctx, f.Fake, call{"iam:GetPolicy", arn, false}, func() (*iam.GetPolicyOutput, error) {
		p := f.policies[arn].read()
		if p == nil {
			return nil, noSuchEntity("Policy %s was not found.", arn)
		}
		return &iam.GetPolicyOutput{Policy: &types.Policy{Arn: aws.String(arn), PolicyName: aws.String(p.name), Path: aws.String(p.path),
			DefaultVersionId: aws.String(p.defaultVersion().id), Tags: tagsFor(p.tags)}}, nil
	})
}

// GetPolicyVersion implements eks.IAM.
func (f *iamFake) GetPolicyVersion(ctx context.Context, in *iam.GetPolicyVersionInput, _ ...func(*iam.Options)) (*iam.GetPolicyVersionOutput, error) {
	arn := aws.ToString(in.PolicyArn)
	return do(ctx, f.Fake, call{"iam:GetPolicyVersion", arn, false}, func() (*iam.GetPolicyVersionOutput, error) {
		if p := current(f.policies, arn); p != nil {
			for _, v := range p.versions {
				if v.id == aws.ToString(in.VersionId) {
					return &iam.GetPolicyVersionOutput{PolicyVersion: &types.PolicyVersion{VersionId: aws.String(v.id), Document: encode(v.document), IsDefaultVersion: v.isDefault, CreateDate: aws.Time(v.created)}}, nil
				}
			}
		}
		return nil, noSuchEntity("Policy %s version %s does not exist or is not attachable.", arn, aws.ToString(in.VersionId))
	})
}

// ListPolicyVersions implements eks.IAM, one version a page.
func (f *iamFake) ListPolicyVersions(ctx context.Context, in *iam.ListPolicyVersionsInput, _ ...func(*iam.Options)) (*iam.ListPolicyVersionsOutput, error) {
	arn := aws.ToString(in.PolicyArn)
	return do(ctx, f.Fake, call{"iam:ListPolicyVersions", arn, false}, func() (*iam.ListPolicyVersionsOutput, error) {
		p := current(f.policies, arn)
		if p == nil {
			return nil, noSuchEntity("Policy %s was not found.", arn)
		}
		at := 0
		if in.Marker != nil {
			if _, err := fmt.Sscan(*in.Marker, &at); err != nil {
				return nil, invalid("Invalid Marker.")
			}
		}
		out := &iam.ListPolicyVersionsOutput{}
		if at < len(p.versions) {
			v := p.versions[at]
			out.Versions = []types.PolicyVersion{{VersionId: aws.String(v.id), IsDefaultVersion: v.isDefault, CreateDate: aws.Time(v.created)}}
		}
		if at+1 < len(p.versions) {
			out.IsTruncated, out.Marker = true, aws.String(fmt.Sprint(at+1))
		}
		return out, nil
	})
}

// CreatePolicy implements eks.IAM.
func (f *iamFake) CreatePolicy(ctx context.Context, in *iam.CreatePolicyInput, _ ...func(*iam.Options)) (*iam.CreatePolicyOutput, error) {
	name := aws.ToString(in.PolicyName)
	arn := policies.PolicyARN(f.partition, f.account, path(in.Path), name)
	return do(ctx, f.Fake, call{"iam:CreatePolicy", arn, true}, func() (*iam.CreatePolicyOutput, error) {
		if current(f.policies, arn) != nil {
			return nil, alreadyExists("A policy called %s already exists. Duplicate names are not allowed.", name)
		}
		if err := f.document(aws.ToString(in.PolicyDocument), false, "PolicySizeQuota", "PolicySize"); err != nil {
			return nil, err
		}
		tags, err := tagged(nil, in.Tags)
		if err != nil {
			return nil, err
		}
		write(f.Fake, f.policies, arn, &managedPolicy{name: name, path: path(in.Path), tags: tags, serial: 1,
			versions: []policyVersion{{"v1", aws.ToString(in.PolicyDocument), true, time.Now()}}})
		return &iam.CreatePolicyOutput{Policy: &types.Policy{Arn: aws.String(arn)}}, nil
	})
}

// alter writes a changed copy of a policy.
func (f *Fake) alter(arn string, change func(*managedPolicy) error) error {
	have := current(f.policies, arn)
	if have == nil {
		return noSuchEntity("Policy %s was not found.", arn)
	}
	p := have.clone()
	if err := change(p); err != nil {
		return err
	}
	write(f, f.policies, arn, p)
	return nil
}

// CreatePolicyVersion implements eks.IAM. Each call makes a version; a sixth is refused.
func (f *iamFake) CreatePolicyVersion(ctx context.Context, in *iam.CreatePolicyVersionInput, _ ...func(*iam.Options)) (*iam.CreatePolicyVersionOutput, error) {
	arn := aws.ToString(in.PolicyArn)
	return do(ctx, f.Fake, call{"iam:CreatePolicyVersion", arn, true}, func() (*iam.CreatePolicyVersionOutput, error) {
		return &iam.CreatePolicyVersionOutput{}, f.alter(arn, func(p *managedPolicy) error {
			if len(p.versions) >= versions {
				return limitExceeded("A managed policy can have up to %d versions. Before you create a new version, you must delete an existing version.", versions)
			}
			if err := f.document(aws.ToString(in.PolicyDocument), false, "PolicySizeQuota", "PolicySize"); err != nil {
				return err
			}
			p.serial++
			if in.SetAsDefault {
				for i := range p.versions {
					p.versions[i].isDefault = false
				}
			}
			p.versions = append(p.versions, policyVersion{fmt.Sprintf("v%d", p.serial), aws.ToString(in.PolicyDocument), in.SetAsDefault, time.Now()})
			return nil
		})
	})
}

// DeletePolicyVersion implements eks.IAM. The default version stays.
func (f *iamFake) DeletePolicyVersion(ctx context.Context, in *iam.DeletePolicyVersionInput, _ ...func(*iam.Options)) (*iam.DeletePolicyVersionOutput, error) {
	arn := aws.ToString(in.PolicyArn)
	return do(ctx, f.Fake, call{"iam:DeletePolicyVersion", arn, true}, func() (*iam.DeletePolicyVersionOutput, error) {
		return &iam.DeletePolicyVersionOutput{}, f.alter(arn, func(p *managedPolicy) error {
			i := slices.IndexFunc(p.versions, func(v policyVersion) bool { return v.id == aws.ToString(in.VersionId) })
			switch {
			case i < 0:
				return noSuchEntity("Policy %s version %s does not exist or is not attachable.", arn, aws.ToString(in.VersionId))
			case p.versions[i].isDefault:
				return deleteConflict("Cannot delete the default version of a policy.")
			}
			p.versions = slices.Delete(p.versions, i, i+1)
			return nil
		})
	})
}

// TagPolicy implements eks.IAM.
func (f *iamFake) TagPolicy(ctx context.Context, in *iam.TagPolicyInput, _ ...func(*iam.Options)) (*iam.TagPolicyOutput, error) {
	arn := aws.ToString(in.PolicyArn)
	return do(ctx, f.Fake, call{"iam:TagPolicy", arn, true}, func() (*iam.TagPolicyOutput, error) {
		return &iam.TagPolicyOutput{}, f.alter(arn, func(p *managedPolicy) (err error) {
			p.tags, err = tagged(p.tags, in.Tags)
			return err
		})
	})
}

// DeletePolicy implements eks.IAM.
func (f *iamFake) DeletePolicy(ctx context.Context, in *iam.DeletePolicyInput, _ ...func(*iam.Options)) (*iam.DeletePolicyOutput, error) {
	arn := aws.ToString(in.PolicyArn)
	return do(ctx, f.Fake, call{"iam:DeletePolicy", arn, true}, func() (*iam.DeletePolicyOutput, error) {
		p := current(f.policies, arn)
		switch {
		case p == nil:
			return nil, noSuchEntity("Policy %s was not found.", arn)
		case len(p.versions) > 1:
			return nil, deleteConflict("This policy has more than one version. Before you delete a policy, you must delete the policy's versions. The default version is deleted with the policy.")
		}
		for _, v := range f.roles {
			if v.now != nil && slices.Contains(v.now.attached, arn) {
				return nil, deleteConflict("Cannot delete a policy attached to entities.")
			}
		}
		write(f.Fake, f.policies, arn, nil)
		return &iam.DeletePolicyOutput{}, nil
	})
}

// GetAccountSummary implements eks.IAM.
func (f *iamFake) GetAccountSummary(ctx context.Context, _ *iam.GetAccountSummaryInput, _ ...func(*iam.Options)) (*iam.GetAccountSummaryOutput, error) {
	return do(ctx, f.Fake, call{"iam:GetAccountSummary", f.account, false}, func() (*iam.GetAccountSummaryOutput, error) {
		summary := maps.Clone(f.quotas)
		summary["Roles"] = int32(f.count()) //nolint:gosec // a count of a test's roles
		for arn := range f.policies {
			if current(f.policies, arn) != nil {
				summary["Policies"]++
			}
		}
		return &iam.GetAccountSummaryOutput{SummaryMap: summary}, nil
	})
}

// Policy returns the default version of a managed policy by its name, and how
// many versions there are; 0 if there is no such policy.
func (f *Fake) Policy(name string) (document string, versions int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for arn := range f.policies {
		if p := current(f.policies, arn); p != nil && p.name == name {
			return p.defaultVersion().document, len(p.versions)
		}
	}
	return "", 0
}

// PutPolicy puts a managed policy there as somebody else would, with versions
// of which the last is the default.
func (f *Fake) PutPolicy(name string, tags map[string]string, documents ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := &managedPolicy{name: name, path: "/", tags: maps.Clone(tags)}
	for i, d := range documents {
		p.serial++
		p.versions = append(p.versions, policyVersion{fmt.Sprintf("v%d", p.serial), d, i == len(documents)-1, time.Now().Add(time.Duration(i-len(documents)) * time.Hour)})
	}
	write(f, f.policies, policies.PolicyARN(f.partition, f.account, "/", name), p)
}

// provider is an OIDC provider.
type provider struct {
	url         string
	clients     []string
	tags        map[string]string
	thumbprints []string
}

func (f *Fake) providerARN(url string) string {
	return policies.NewOIDCProvider(f.partition, f.account, "https://"+strings.TrimPrefix(url, "https://")).ARN()
}

// GetOpenIDConnectProvider implements eks.IAM.
func (f *iamFake) GetOpenIDConnectProvider(ctx context.Context, in *iam.GetOpenIDConnectProviderInput, _ ...func(*iam.Options)) (*iam.GetOpenIDConnectProviderOutput, error) {
	arn := aws.ToString(in.OpenIDConnectProviderArn)
	return do(ctx, f.Fake, call{"iam:GetOpenIDConnectProvider", arn, false}, func() (*iam.GetOpenIDConnectProviderOutput, error) {
		p := f.providers[arn].read()
		if p == nil {
			return nil, noSuchEntity("OpenIDConnect Provider not found for arn %s", arn)
		}
		return &iam.GetOpenIDConnectProviderOutput{Url: aws.String(strings.TrimPrefix(p.url, "https://")), ClientIDList: slices.Clone(p.clients), Tags: tagsFor(p.tags), ThumbprintList: slices.Clone(p.thumbprints)}, nil
	})
}

// CreateOpenIDConnectProvider implements eks.IAM. Without thumbprints IAM finds them itself.
func (f *iamFake) CreateOpenIDConnectProvider(ctx context.Context, in *iam.CreateOpenIDConnectProviderInput, _ ...func(*iam.Options)) (*iam.CreateOpenIDConnectProviderOutput, error) {
	arn := f.providerARN(aws.ToString(in.Url))
	return do(ctx, f.Fake, call{"iam:CreateOpenIDConnectProvider", arn, true}, func() (*iam.CreateOpenIDConnectProviderOutput, error) {
		if current(f.providers, arn) != nil {
			return nil, alreadyExists("Provider with url %s already exists.", aws.ToString(in.Url))
		}
		if !strings.HasPrefix(aws.ToString(in.Url), "https://") {
			return nil, invalid("Invalid Open ID Connect Provider URL")
		}
		if quota := f.quotas["OpenIdConnectProvidersQuota"]; quota > 0 && len(f.providers) >= int(quota) {
			return nil, limitExceeded("Cannot exceed quota for OpenIdConnectProvidersPerAccount: %d", quota)
		}
		tags, err := tagged(nil, in.Tags)
		if err != nil {
			return nil, err
		}
		thumbprints := in.ThumbprintList
		if len(thumbprints) == 0 {
			thumbprints = []string{strings.Repeat("9", 40)}
		}
		write(f.Fake, f.providers, arn, &provider{url: aws.ToString(in.Url), clients: slices.Clone(in.ClientIDList), tags: tags, thumbprints: thumbprints})
		return &iam.CreateOpenIDConnectProviderOutput{OpenIDConnectProviderArn: aws.String(arn)}, nil
	})
}

// AddClientIDToOpenIDConnectProvider implements eks.IAM.
func (f *iamFake) AddClientIDToOpenIDConnectProvider(ctx context.Context, in *iam.AddClientIDToOpenIDConnectProviderInput, _ ...func(*iam.Options)) (*iam.AddClientIDToOpenIDConnectProviderOutput, error) {
	arn := aws.ToString(in.OpenIDConnectProviderArn)
	return do(ctx, f.Fake, call{"iam:AddClientIDToOpenIDConnectProvider", arn, true}, func() (*iam.AddClientIDToOpenIDConnectProviderOutput, error) {
		have := current(f.providers, arn)
		if have == nil {
			return nil, noSuchEntity("OpenIDConnect Provider not found for arn %s", arn)
		}
		p := *have
		if !slices.Contains(p.clients, aws.ToString(in.ClientID)) {
			p.clients = append(slices.Clone(p.clients), aws.ToString(in.ClientID))
		}
		write(f.Fake, f.providers, arn, &p)
		return &iam.AddClientIDToOpenIDConnectProviderOutput{}, nil
	})
}

// Provider is an OIDC provider as tests look at it, and put it there.
type Provider struct {
	Issuer      string
	ClientIDs   []string
	Tags        map[string]string
	Thumbprints []string
}

// PutProvider puts an OIDC provider there as somebody else would.
func (f *Fake) PutProvider(p Provider) {
	f.mu.Lock()
	defer f.mu.Unlock()
	write(f, f.providers, f.providerARN(p.Issuer), &provider{url: p.Issuer, clients: p.ClientIDs, tags: p.Tags, thumbprints: p.Thumbprints})
}

// Provider returns the OIDC provider for an issuer.
func (f *Fake) Provider(issuer string) (Provider, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := current(f.providers, f.providerARN(issuer))
	if p == nil {
		return Provider{}, false
	}
	return Provider{Issuer: p.url, ClientIDs: slices.Clone(p.clients), Tags: maps.Clone(p.tags), Thumbprints: slices.Clone(p.thumbprints)}, true
}
