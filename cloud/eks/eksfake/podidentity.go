package eksfake

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	awseks "github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
)

// maxAssociations is how many associations a cluster has at most.
// https://docs.aws.amazon.com/eks/latest/userguide/pod-identities.html
const maxAssociations = 5000

func (f *Fake) showAssociation(cluster string, a *association) *types.PodIdentityAssociation {
	return &types.PodIdentityAssociation{
		AssociationId: aws.String(a.id), AssociationArn: aws.String(f.ClusterARN(cluster) + "/" + a.id), ClusterName: aws.String(cluster),
		Namespace: aws.String(a.namespace), ServiceAccount: aws.String(a.account), RoleArn: aws.String(a.role), Tags: maps.Clone(a.tags),
	}
}

// firstPage and nextPages are how many associations a list has: a short page
// first, so that whoever reads no further is found out.
const firstPage, nextPages = 2, 100

// ListPodIdentityAssociations implements eks.EKS.
func (f *eksFake) ListPodIdentityAssociations(ctx context.Context, in *awseks.ListPodIdentityAssociationsInput, _ ...func(*awseks.Options)) (*awseks.ListPodIdentityAssociationsOutput, error) {
	name := aws.ToString(in.ClusterName)
	return do(ctx, f.Fake, call{"eks:ListPodIdentityAssociations", name, false}, func() (*awseks.ListPodIdentityAssociationsOutput, error) {
		c, err := f.find(name)
		if err != nil {
			return nil, err
		}
		out := &awseks.ListPodIdentityAssociationsOutput{}
		page := nextPages
		if in.NextToken == nil {
			page = firstPage
		}
		for _, id := range slices.Sorted(maps.Keys(c.associations)) {
			a := c.associations[id]
			if in.Namespace != nil && *in.Namespace != a.namespace || in.ServiceAccount != nil && *in.ServiceAccount != a.account || in.NextToken != nil && id <= *in.NextToken {
				continue
			}
			if len(out.Associations) == page {
				out.NextToken = out.Associations[page-1].AssociationId
				break
			}
			out.Associations = append(out.Associations, types.PodIdentityAssociationSummary{AssociationId: aws.String(id), ClusterName: aws.String(name), Namespace: aws.String(a.namespace), ServiceAccount: aws.String(a.account)})
		}
		return out, nil
	})
}

// associated finds an association; the fake is locked.
func (f *Fake) associated(name, id string) (*cluster, *association, error) {
	c, err := f.find(name)
	if err != nil {
		return nil, nil, err
	}
	a := c.associations[id]
	if a == nil {
		return nil, nil, notFound("Association %s in cluster %s not found", id, name)
	}
	return c, a, nil
}

// DescribePodIdentityAssociation implements eks.EKS.
func (f *eksFake) DescribePodIdentityAssociation(ctx context.Context, in *awseks.DescribePodIdentityAssociationInput, _ ...func(*awseks.Options)) (*awseks.DescribePodIdentityAssociationOutput, error) {
	name := aws.ToString(in.ClusterName)
	return do(ctx, f.Fake, call{"eks:DescribePodIdentityAssociation", name, false}, func() (*awseks.DescribePodIdentityAssociationOutput, error) {
		_, a, err := f.associated(name, aws.ToString(in.AssociationId))
		if err != nil {
			return nil, err
		}
		return &awseks.DescribePodIdentityAssociationOutput{Association: f.showAssociation(name, a)}, nil
	})
}

// CreatePodIdentityAssociation implements eks.EKS. A ServiceAccount has one at most.
func (f *eksFake) CreatePodIdentityAssociation(ctx context.Context, in *awseks.CreatePodIdentityAssociationInput, _ ...func(*awseks.Options)) (*awseks.CreatePodIdentityAssociationOutput, error) {
	name := aws.ToString(in.ClusterName)
	return do(ctx, f.Fake, call{"eks:CreatePodIdentityAssociation", name, true}, func() (*awseks.CreatePodIdentityAssociationOutput, error) {
		c, err := f.find(name)
		if err != nil {
			return nil, err
		}
		for _, a := range c.associations {
			if a.namespace == aws.ToString(in.Namespace) && a.account == aws.ToString(in.ServiceAccount) {
				return nil, inUse("Association already exists: %s", a.id)
			}
		}
		switch {
		case len(c.associations) >= maxAssociations:
			return nil, apiErrorOf(429, "ResourceLimitExceededException", "the cluster has %d associations", maxAssociations)
		case !f.roleIs(aws.ToString(in.RoleArn)):
			return nil, badParameter("Role provided in the request does not exist.")
		}
		a := &association{id: fmt.Sprintf("a-%017d", f.next()), namespace: aws.ToString(in.Namespace), account: aws.ToString(in.ServiceAccount), role: aws.ToString(in.RoleArn), tags: maps.Clone(in.Tags)}
		c.associations[a.id] = a
		return &awseks.CreatePodIdentityAssociationOutput{Association: f.showAssociation(name, a)}, nil
	})
}

// UpdatePodIdentityAssociation implements eks.EKS.
func (f *eksFake) UpdatePodIdentityAssociation(ctx context.Context, in *awseks.UpdatePodIdentityAssociationInput, _ ...func(*awseks.Options)) (*awseks.UpdatePodIdentityAssociationOutput, error) {
	name := aws.ToString(in.ClusterName)
	return do(ctx, f.Fake, call{"eks:UpdatePodIdentityAssociation", name, true}, func() (*awseks.UpdatePodIdentityAssociationOutput, error) {
		_, a, err := f.associated(name, aws.ToString(in.AssociationId))
		if err != nil {
			return nil, err
		}
		if in.RoleArn != nil {
			a.role = *in.RoleArn
		}
		return &awseks.UpdatePodIdentityAssociationOutput{Association: f.showAssociation(name, a)}, nil
	})
}

// DeletePodIdentityAssociation implements eks.EKS.
func (f *eksFake) DeletePodIdentityAssociation(ctx context.Context, in *awseks.DeletePodIdentityAssociationInput, _ ...func(*awseks.Options)) (*awseks.DeletePodIdentityAssociationOutput, error) {
	name := aws.ToString(in.ClusterName)
	return do(ctx, f.Fake, call{"eks:DeletePodIdentityAssociation", name, true}, func() (*awseks.DeletePodIdentityAssociationOutput, error) {
		c, a, err := f.associated(name, aws.ToString(in.AssociationId))
		if err != nil {
			return nil, err
		}
		delete(c.associations, a.id)
		return &awseks.DeletePodIdentityAssociationOutput{}, nil
	})
}

// Associations returns the roles of a cluster's associations by
// "namespace/serviceaccount".
func (f *Fake) Associations(cluster string) map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := map[string]string{}
	for _, a := range f.clusters[cluster].associations {
		all[a.namespace+"/"+a.account] = a.role
	}
	return all
}

// PutAssociation puts an association there as somebody else would.
func (f *Fake) PutAssociation(cluster, namespace, serviceAccount, role string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := fmt.Sprintf("a-%017d", f.next())
	f.clusters[cluster].associations[id] = &association{id: id, namespace: namespace, account: serviceAccount, role: role}
}
