package eksfake

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awseks "github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	policies "github.com/planewright/planewright/cloud/iam"
)

// accessEntry says that a principal may come into a cluster.
type accessEntry struct {
	// roleID is the id of the role as it was when the entry was made; one that
	// is made again has another.
	roleID   string
	kind     string
	created  time.Time
	tags     map[string]string
	policies map[string]*types.AccessScope
}

// caller is the ARN of whoever calls.
func (f *Fake) caller() string {
	return policies.ARN{Partition: f.partition, Service: "iam", AccountID: f.account, Resource: "user/deployer"}.String()
}

func (f *Fake) adminPolicy() string {
	return policies.ARN{Partition: f.partition, Service: "eks", AccountID: "aws", Resource: "cluster-access-policy/AmazonEKSClusterAdminPolicy"}.String()
}

// entry finds an access entry; the fake is locked.
func (f *Fake) entry(name, principal string) (*cluster, *accessEntry, error) {
	c, err := f.find(name)
	if err != nil {
		return nil, nil, err
	}
	if c.mode == types.AuthenticationModeConfigMap {
		return nil, nil, badRequest("The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this operation.")
	}
	return c, c.entries[principal], nil
}

// roleIDOf is the id of a role of the account by its exact ARN, empty for
// none and for other principals.
func (f *Fake) roleIDOf(arn string) string {
	if r := current(f.roles, strings.ToLower(arn[strings.LastIndex(arn, "/")+1:])); r != nil && f.arnOf(r) == arn {
		return r.id
	}
	return ""
}

// DescribeAccessEntry implements eks.EKS.
func (f *eksFake) DescribeAccessEntry(ctx context.Context, in *awseks.DescribeAccessEntryInput, _ ...func(*awseks.Options)) (*awseks.DescribeAccessEntryOutput, error) {
	name, principal := aws.ToString(in.ClusterName), aws.ToString(in.PrincipalArn)
	return do(ctx, f.Fake, call{"eks:DescribeAccessEntry", name, false}, func() (*awseks.DescribeAccessEntryOutput, error) {
		_, e, err := f.entry(name, principal)
		if err != nil {
			return nil, err
		}
		if e == nil {
			return nil, notFound("The specified principalArn could not be found. You can view your available access entries with 'list-access-entries'.")
		}
		return &awseks.DescribeAccessEntryOutput{AccessEntry: &types.AccessEntry{
			AccessEntryArn: aws.String(f.ClusterARN(name) + "/access-entry/" + principal), ClusterName: aws.String(name), PrincipalArn: aws.String(principal),
			CreatedAt: aws.Time(e.created), Tags: maps.Clone(e.tags), Type: aws.String(e.kind),
		}}, nil
	})
}

// CreateAccessEntry implements eks.EKS. A principal is a role or a user that
// exists, by its own ARN, and has one entry at most.
func (f *eksFake) CreateAccessEntry(ctx context.Context, in *awseks.CreateAccessEntryInput, _ ...func(*awseks.Options)) (*awseks.CreateAccessEntryOutput, error) {
	name, principal := aws.ToString(in.ClusterName), aws.ToString(in.PrincipalArn)
	return do(ctx, f.Fake, call{"eks:CreateAccessEntry", name, true}, func() (*awseks.CreateAccessEntryOutput, error) {
		c, e, err := f.entry(name, principal)
		arn, bad := policies.ParseARN(principal)
		switch {
		case err != nil:
			return nil, err
		case bad != nil || arn.Service != "iam", arn.AccountID == f.account && strings.HasPrefix(arn.Resource, "role/") && f.roleIDOf(principal) == "":
			return nil, badParameter("The specified principalArn is invalid: invalid principal.")
		case e != nil:
			return nil, inUse("The specified access entry resource is already in use on this cluster.")
		}
		c.entries[principal] = &accessEntry{roleID: f.roleIDOf(principal), kind: aws.ToString(in.Type), created: time.Now(), tags: maps.Clone(in.Tags), policies: map[string]*types.AccessScope{}}
		return &awseks.CreateAccessEntryOutput{AccessEntry: &types.AccessEntry{PrincipalArn: in.PrincipalArn}}, nil
	})
}

// DeleteAccessEntry implements eks.EKS.
func (f *eksFake) DeleteAccessEntry(ctx context.Context, in *awseks.DeleteAccessEntryInput, _ ...func(*awseks.Options)) (*awseks.DeleteAccessEntryOutput, error) {
	name, principal := aws.ToString(in.ClusterName), aws.ToString(in.PrincipalArn)
	return do(ctx, f.Fake, call{"eks:DeleteAccessEntry", name, true}, func() (*awseks.DeleteAccessEntryOutput, error) {
		c, e, err := f.entry(name, principal)
		if err != nil {
			return nil, err
		}
		if e == nil {
			return nil, notFound("The specified principalArn could not be found.")
		}
		delete(c.entries, principal)
		return &awseks.DeleteAccessEntryOutput{}, nil
	})
}

// ListAssociatedAccessPolicies implements eks.EKS.
func (f *eksFake) ListAssociatedAccessPolicies(ctx context.Context, in *awseks.ListAssociatedAccessPoliciesInput, _ ...func(*awseks.Options)) (*awseks.ListAssociatedAccessPoliciesOutput, error) {
	name, principal := aws.ToString(in.ClusterName), aws.ToString(in.PrincipalArn)
	return do(ctx, f.Fake, call{"eks:ListAssociatedAccessPolicies", name, false}, func() (*awseks.ListAssociatedAccessPoliciesOutput, error) {
		_, e, err := f.entry(name, principal)
		if err != nil {
			return nil, err
		}
		if e == nil {
			return nil, notFound("The specified principalArn could not be found.")
		}
		out := &awseks.ListAssociatedAccessPoliciesOutput{ClusterName: in.ClusterName, PrincipalArn: in.PrincipalArn}
		for _, arn := range slices.Sorted(maps.Keys(e.policies)) {
			out.AssociatedAccessPolicies = append(out.AssociatedAccessPolicies, types.AssociatedAccessPolicy{PolicyArn: aws.String(arn), AccessScope: e.policies[arn]})
		}
		return out, nil
	})
}

// AssociateAccessPolicy implements eks.EKS. To associate again changes the scope.
func (f *eksFake) AssociateAccessPolicy(ctx context.Context, in *awseks.AssociateAccessPolicyInput, _ ...func(*awseks.Options)) (*awseks.AssociateAccessPolicyOutput, error) {
	name, principal := aws.ToString(in.ClusterName), aws.ToString(in.PrincipalArn)
	return do(ctx, f.Fake, call{"eks:AssociateAccessPolicy", name, true}, func() (*awseks.AssociateAccessPolicyOutput, error) {
		_, e, err := f.entry(name, principal)
		switch {
		case err != nil:
			return nil, err
		case e == nil:
			return nil, notFound("The specified principalArn could not be found.")
		case e.kind != "" && e.kind != "STANDARD":
			return nil, badRequest("Access policies cannot be associated with an access entry of type %s", e.kind)
		case !strings.Contains(aws.ToString(in.PolicyArn), ":eks::aws:cluster-access-policy/"):
			return nil, badParameter("The policyArn parameter format is not valid")
		}
		e.policies[aws.ToString(in.PolicyArn)] = in.AccessScope
		return &awseks.AssociateAccessPolicyOutput{}, nil
	})
}

// Administers reports whether a principal may do everything in a cluster: by
// an access entry that was made for it, not for an earlier role of its name.
func (f *Fake) Administers(cluster, principal string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.clusters[cluster].entries[principal]
	if e == nil || e.roleID != f.roleIDOf(principal) {
		return false
	}
	scope := e.policies[f.adminPolicy()]
	return scope != nil && scope.Type == types.AccessScopeTypeCluster
}

// AccessEntry is an access entry that somebody else makes.
type AccessEntry struct {
	Principal string
	// Kind is its type: "EC2_LINUX" for nodes; empty means "STANDARD".
	Kind string
	// Namespaces are those that its principal administers, none for no policy at all.
	Namespaces []string
}

// PutAccessEntry puts an access entry there as somebody else would.
func (f *Fake) PutAccessEntry(cluster string, e AccessEntry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	put := &accessEntry{roleID: f.roleIDOf(e.Principal), kind: e.Kind, created: time.Now(), policies: map[string]*types.AccessScope{}}
	if len(e.Namespaces) > 0 {
		put.policies[f.adminPolicy()] = &types.AccessScope{Type: types.AccessScopeTypeNamespace, Namespaces: e.Namespaces}
	}
	f.clusters[cluster].entries[e.Principal] = put
}

// SetAuthenticationMode sets how a cluster authenticates.
func (f *Fake) SetAuthenticationMode(cluster string, mode types.AuthenticationMode) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clusters[cluster].mode = mode
}
