package eks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	policy "github.com/planewright/planewright/cloud/iam"
)

// adminPolicy is AWS's access policy for administrators of a whole cluster.
// https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html
const adminPolicy = "AmazonEKSClusterAdminPolicy"

// roleIDTag remembers on an access entry the id of the role that it was made
// for: a role that is deleted and made again has the same ARN and another id,
// and the entry lets nobody in any more, without saying so.
const roleIDTag = ownTagPrefix + "role-id"

// accessStep sees to one access entry.
type accessStep struct {
	*account
	id, owner string
	cluster   cloud.ClusterRef
	principal principal
}

func (s accessStep) object(arn string) planewright.Object {
	return planewright.Object{APIVersion: "eks", Kind: "AccessEntry", Namespace: s.cluster.Name, Name: arn}
}

func (s accessStep) step() planewright.Step {
	return planewright.Step{
		ID: s.id, Title: fmt.Sprintf("access of %s to EKS cluster %s", s.principal.name, s.cluster.Name), Needs: s.cluster.Needs,
		Check: s.check, Apply: s.apply, Await: s.await, Undo: s.undo,
	}
}

// accessLook is what was found: who, and the entry.
type accessLook struct {
	// arn is what the entry names; roleID and made are empty where the role may not be looked at.
	arn, roleID string
	made        time.Time
	// entry is nil if there is none; admin tells how far the policy reaches, empty for not at all.
	entry *types.AccessEntry
	admin string
	// blocked says why nothing can be done.
	blocked string
}

// dead reports whether the entry was made for an earlier role of the same name.
func (l accessLook) dead() bool {
	if l.entry == nil || l.roleID == "" {
		return false
	}
	if id := l.entry.Tags[roleIDTag]; id != "" {
		return id != l.roleID
	}
	return l.entry.CreatedAt != nil && l.entry.CreatedAt.Before(l.made)
}

const wholeCluster = "the whole cluster"

// look asks what there is.
func (s accessStep) look(ctx context.Context) (accessLook, error) {
	l := accessLook{arn: s.principal.arn.String()}
	if blocked, err := s.mode(ctx); err != nil || blocked != "" {
		l.blocked = blocked
		return l, err
	}
	if err := s.lookUp(ctx, &l); err != nil || l.blocked != "" {
		return l, err
	}
	found, err := s.EKS.DescribeAccessEntry(ctx, &eks.DescribeAccessEntryInput{ClusterName: aws.String(s.cluster.Name), PrincipalArn: aws.String(l.arn)})
	if err = failure("eks:DescribeAccessEntry", s.object(l.arn), err); is(err, planewright.ErrNotFound) {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	if l.entry = found.AccessEntry; l.entry == nil {
		return l, empty("eks:DescribeAccessEntry", s.object(l.arn))
	}
	pages := eks.NewListAssociatedAccessPoliciesPaginator(s.EKS, &eks.ListAssociatedAccessPoliciesInput{ClusterName: aws.String(s.cluster.Name), PrincipalArn: aws.String(l.arn)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return l, failure("eks:ListAssociatedAccessPolicies", s.object(l.arn), err)
		}
		for _, p := range page.AssociatedAccessPolicies {
			if aws.ToString(p.PolicyArn) == s.policyARN() {
				l.admin = wholeCluster
				if p.AccessScope != nil && p.AccessScope.Type != types.AccessScopeTypeCluster {
					l.admin = strings.Join(p.AccessScope.Namespaces, ", ")
				}
			}
		}
	}
	return l, nil
}

// mode says why the cluster takes no access entries, empty if it does.
func (s accessStep) mode(ctx context.Context) (string, error) {
	unknown := func() error {
		return &planewright.UnknownError{Step: s.cluster.Needs[len(s.cluster.Needs)-1], Output: "cluster"}
	}
	found, err := s.EKS.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(s.cluster.Name)})
	err = failure("eks:DescribeCluster", clusterObject(s.cluster.Name), err)
	switch {
	case is(err, planewright.ErrNotFound) && len(s.cluster.Needs) > 0:
		return "", unknown()
	case err != nil:
		return "", err
	case found.Cluster == nil:
		return "", empty("eks:DescribeCluster", clusterObject(s.cluster.Name))
	case clusterStatus(found.Cluster.Status) == cloud.ClusterCreating && len(s.cluster.Needs) > 0:
		return "", unknown()
	case found.Cluster.AccessConfig != nil && found.Cluster.AccessConfig.AuthenticationMode == types.AuthenticationModeConfigMap:
		return fmt.Sprintf("cluster %s knows no access entries, its authentication mode is CONFIG_MAP; change it, which cannot be taken back: aws eks update-cluster-config --region %s --name %s --access-config authenticationMode=API_AND_CONFIG_MAP",
			s.cluster.Name, s.Region, s.cluster.Name), nil
	}
	return "", nil
}

// lookUp finds the role behind the principal: its ARN with its path, and its id.
func (s accessStep) lookUp(ctx context.Context, l *accessLook) error {
	if !s.principal.role || s.principal.arn.AccountID != s.AccountID {
		return nil
	}
	found, err := s.IAM.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String(s.principal.name)})
	err = failure("iam:GetRole", planewright.Object{APIVersion: "iam", Kind: "Role", Name: l.arn}, err)
	switch {
	case is(err, planewright.ErrDenied) && !s.principal.session:
		return nil
	case is(err, planewright.ErrNotFound):
		l.blocked = fmt.Sprintf("there is no role %s in account %s; make it, or name another", s.principal.name, s.AccountID)
		return nil
	case err != nil:
		return err
	case found.Role == nil:
		return empty("iam:GetRole", planewright.Object{APIVersion: "iam", Kind: "Role", Name: l.arn})
	}
	live := aws.ToString(found.Role.Arn)
	if !s.principal.session && live != l.arn {
		l.blocked = fmt.Sprintf("the role %s is called %s; EKS takes a role by exactly its own ARN, with path and case", s.principal.name, live)
		return nil
	}
	l.arn, l.roleID, l.made = live, aws.ToString(found.Role.RoleId), aws.ToTime(found.Role.CreateDate)
	return nil
}

func (s accessStep) policyARN() string {
	return policy.ARN{Partition: s.Partition, Service: "eks", AccountID: "aws", Resource: "cluster-access-policy/" + adminPolicy}.String()
}

func (s accessStep) check(ctx context.Context, _ *planewright.Run) (planewright.Change, error) {
	l, err := s.look(ctx)
	if err != nil {
		return planewright.Change{}, err
	}
	change := planewright.Change{Fingerprint: "absent"}
	if l.blocked != "" {
		change.Action, change.Reason = planewright.ActionBlocked, l.blocked
		return change, nil
	}
	add := func(path, before, after string) {
		change.Diff = append(change.Diff, planewright.FieldDiff{Path: path, Before: before, After: after})
	}
	if l.entry == nil {
		change.Action = planewright.ActionCreate
		add("principalArn", "", l.arn)
		add("accessPolicies["+adminPolicy+"]", "", wholeCluster)
		return change, nil
	}
	change.Fingerprint = strings.Join([]string{aws.ToString(l.entry.AccessEntryArn), aws.ToTime(l.entry.CreatedAt).String(), l.roleID, l.admin}, " ")
	switch {
	case l.dead() && l.entry.Tags[OwnerTag] != s.owner:
		change.Action = planewright.ActionBlocked
		change.Reason = fmt.Sprintf("the access entry of %s was made for an earlier role of that name, which is gone, so it lets nobody in, and this stack did not make it; delete it: aws eks delete-access-entry --region %s --cluster-name %s --principal-arn %s", l.arn, s.Region, s.cluster.Name, l.arn)
		return change, nil
	case aws.ToString(l.entry.Type) != "" && aws.ToString(l.entry.Type) != "STANDARD":
		change.Action = planewright.ActionBlocked
		change.Reason = fmt.Sprintf("the access entry of %s is of the type %s, for nodes, and takes no policies; name another principal", l.arn, aws.ToString(l.entry.Type))
		return change, nil
	case l.dead():
		add("roleId", l.entry.Tags[roleIDTag], l.roleID)
	}
	if l.admin != wholeCluster {
		add("accessPolicies["+adminPolicy+"]", l.admin, wholeCluster)
	}
	if len(change.Diff) > 0 {
		change.Action = planewright.ActionUpdate
	}
	return change, nil
}

func (s accessStep) apply(ctx context.Context, run *planewright.Run) error {
	l, err := s.look(ctx)
	if err != nil {
		return err
	}
	name, who := aws.String(s.cluster.Name), aws.String(l.arn)
	if l.dead() && l.entry.Tags[OwnerTag] == s.owner {
		run.Progress("the role was made again; making its access entry again")
		_, err := s.EKS.DeleteAccessEntry(ctx, &eks.DeleteAccessEntryInput{ClusterName: name, PrincipalArn: who})
		if err = failure("eks:DeleteAccessEntry", s.object(l.arn), err); err != nil && !is(err, planewright.ErrNotFound) {
			return err
		}
		l.entry, l.admin = nil, ""
	}
	if l.entry == nil {
		tags := s.ownTags(s.owner)
		if l.roleID != "" {
			tags[roleIDTag] = l.roleID
		}
		_, err := s.EKS.CreateAccessEntry(ctx, &eks.CreateAccessEntryInput{ClusterName: name, PrincipalArn: who, Type: aws.String("STANDARD"), Tags: tags})
		if err = failure("eks:CreateAccessEntry", s.object(l.arn), err); is(err, planewright.ErrAlreadyExists) {
			return again{err}
		}
		if err != nil {
			return err
		}
	}
	if l.admin == wholeCluster {
		return nil
	}
	_, err = s.EKS.AssociateAccessPolicy(ctx, &eks.AssociateAccessPolicyInput{ClusterName: name, PrincipalArn: who, PolicyArn: aws.String(s.policyARN()),
		AccessScope: &types.AccessScope{Type: types.AccessScopeTypeCluster}})
	return failure("eks:AssociateAccessPolicy", s.object(l.arn), err)
}

func (s accessStep) await(ctx context.Context, run *planewright.Run) error {
	return s.settled(ctx, run, "the access entry", func(ctx context.Context) (bool, error) {
		change, err := s.check(ctx, run)
		return unchanged(change), err
	})
}

// undo keeps the entry: whoever uninstalls may come in by it.
func (s accessStep) undo(ctx context.Context, run *planewright.Run) error {
	l, err := s.look(ctx)
	if is(err, planewright.ErrNotFound) || is(err, planewright.ErrUnknown) {
		return nil // the cluster is gone, and its entries with it
	}
	if err == nil && l.entry != nil && l.entry.Tags[OwnerTag] == s.owner {
		run.Keep(s.object(l.arn), fmt.Sprintf("whoever uninstalls may come in by it; when nobody needs it: aws eks delete-access-entry --region %s --cluster-name %s --principal-arn %s", s.Region, s.cluster.Name, l.arn))
	}
	return err
}
