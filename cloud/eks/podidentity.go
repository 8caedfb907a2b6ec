package eks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
)

// podIdentityStep sees to the associations of EKS Pod Identity that give a role
// to ServiceAccounts of one cluster.
type podIdentityStep struct {
	*account
	id, role, owner string
	needs           []string
	cluster         cloud.ClusterRef
	// region is the EKS of the cluster's region, which may be another one.
	region EKS
	// accounts are "namespace/name", sorted.
	accounts []string
}

// associate makes the steps for an identity's associations, one for each
// cluster, and returns their ids.
func (p *provisioning) associate(spec cloud.IdentitySpec, role roleStep) []string {
	if !p.associates(spec) {
		return nil
	}
	var ids []string
	groups := byCluster(spec.Subjects)
	for _, group := range groups {
		name := idPart(group.cluster.Name)
		if slices.ContainsFunc(groups, func(g clusterAccounts) bool {
			return idPart(g.cluster.Name) == name && clusterKey(g.cluster) != clusterKey(group.cluster)
		}) {
			name += "." + idPart(group.cluster.Account.Location) // of the same name elsewhere
		}
		s := podIdentityStep{
			account: p.account, id: p.prefix + "/" + idPart(spec.Name) + "/pod-identity/" + name,
			role: role.arn(), owner: spec.Owner, cluster: group.cluster, region: p.eksOf(group.cluster), accounts: group.accounts,
			needs: append([]string{role.id}, group.cluster.Needs...),
		}
		ids = append(ids, s.id)
		p.made.Steps = append(p.made.Steps, s.step())
		p.agentProbe(p.prefix+"/preflight/pod-identity-agent/"+name, group.cluster, s.region)
	}
	return ids
}

// accountOf is the account that a cluster is in, nil if another package made it.
func accountOf(cluster cloud.ClusterRef) *account {
	if c, ok := cluster.Account.Clusters.(*clusters); ok {
		return c.account
	}
	return nil
}

// eksOf is the EKS of a cluster's region: associations are made there.
func (a *account) eksOf(cluster cloud.ClusterRef) EKS {
	if at := accountOf(cluster); at != nil && at.EKS != nil {
		return at.EKS
	}
	return a.EKS
}

type clusterAccounts struct {
	cluster  cloud.ClusterRef
	accounts []string
}

func byCluster(subjects []cloud.Subject) []clusterAccounts {
	var groups []clusterAccounts
	for _, s := range subjects {
		i := slices.IndexFunc(groups, func(g clusterAccounts) bool { return clusterKey(g.cluster) == clusterKey(s.Cluster) })
		if i < 0 {
			i = len(groups)
			groups = append(groups, clusterAccounts{cluster: s.Cluster})
		}
		groups[i].accounts = appendNew(groups[i].accounts, s.Namespace+"/"+s.ServiceAccount)
	}
	for _, g := range groups {
		slices.Sort(g.accounts)
	}
	return groups
}

// associationsKind is the kind of the associations of a role in a cluster. As
// an object they are named by the role, and their namespace is REGION/CLUSTER.
const associationsKind = "PodIdentityAssociations"

func (s podIdentityStep) object() planewright.Object {
	return planewright.Object{APIVersion: "eks", Kind: associationsKind, Namespace: s.cluster.Account.Location + "/" + s.cluster.Name, Name: s.role}
}

func (s podIdentityStep) step() planewright.Step {
	return planewright.Step{
		ID: s.id, Title: fmt.Sprintf("Pod Identity of %s in cluster %s", s.role[strings.LastIndex(s.role, "/")+1:], s.cluster.Name), Needs: s.needs,
		Objects: []planewright.Object{s.object()},
		Check:   s.check, Apply: s.apply, Undo: s.undo,
	}
}

// association is what there is for one ServiceAccount.
type association struct {
	id, role, owner string
}

// live reads the associations of the ServiceAccounts, and further ones of ours
// for the role, which are no longer wanted.
func (s podIdentityStep) live(ctx context.Context) (map[string]association, error) {
	var all []types.PodIdentityAssociationSummary
	pages := eks.NewListPodIdentityAssociationsPaginator(s.region, &eks.ListPodIdentityAssociationsInput{ClusterName: aws.String(s.cluster.Name)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, failure("eks:ListPodIdentityAssociations", clusterObject(s.cluster.Name), err)
		}
		all = append(all, page.Associations...)
	}
	var mu sync.Mutex
	found := map[string]association{}
	// The list does not tell the roles.
	return found, each(ctx, all, func(ctx context.Context, summary types.PodIdentityAssociationSummary) error {
		one, err := s.region.DescribePodIdentityAssociation(ctx, &eks.DescribePodIdentityAssociationInput{ClusterName: aws.String(s.cluster.Name), AssociationId: summary.AssociationId})
		err = failure("eks:DescribePodIdentityAssociation", clusterObject(s.cluster.Name), err)
		switch {
		case is(err, planewright.ErrNotFound):
			return nil // it went since
		case err != nil:
			return err
		case one.Association == nil:
			return empty("eks:DescribePodIdentityAssociation", clusterObject(s.cluster.Name))
		}
		a := association{id: aws.ToString(summary.AssociationId), role: aws.ToString(one.Association.RoleArn), owner: one.Association.Tags[OwnerTag]}
		key := aws.ToString(summary.Namespace) + "/" + aws.ToString(summary.ServiceAccount)
		if slices.Contains(s.accounts, key) || a.role == s.role && a.owner == s.owner {
			mu.Lock()
			found[key] = a
			mu.Unlock()
		}
		return nil
	})
}

func (s podIdentityStep) check(ctx context.Context, _ *planewright.Run) (planewright.Change, error) {
	live, err := s.live(ctx)
	if is(err, planewright.ErrNotFound) && len(s.cluster.Needs) > 0 {
		return planewright.Change{}, &planewright.UnknownError{Step: s.cluster.Needs[len(s.cluster.Needs)-1], Output: "cluster"}
	}
	if err != nil {
		return planewright.Change{}, err
	}
	var change planewright.Change
	var prints []string
	add := func(account, before, after string) {
		change.Diff = append(change.Diff, planewright.FieldDiff{Path: "associations[" + account + "]", Before: before, After: after})
	}
	for _, account := range s.accounts {
		a, there := live[account]
		prints = append(prints, account+"="+a.id+" "+a.role)
		switch {
		case !there:
			add(account, "", s.role)
		case a.role == s.role:
		case a.owner != s.owner:
			change.Action = planewright.ActionBlocked
			change.Reason = fmt.Sprintf("ServiceAccount %s of cluster %s is associated with %s, and not by this stack; delete that association, or use another ServiceAccount", account, s.cluster.Name, a.role)
		default:
			add(account, a.role, s.role)
		}
	}
	for account, a := range live {
		if !slices.Contains(s.accounts, account) {
			prints = append(prints, account+"="+a.id)
			add(account, a.role, "")
		}
	}
	slices.Sort(prints)
	slices.SortFunc(change.Diff, func(a, b planewright.FieldDiff) int { return strings.Compare(a.Path, b.Path) })
	change.Fingerprint = strings.Join(prints, ",")
	switch {
	case change.Action == planewright.ActionBlocked || len(change.Diff) == 0:
	case len(live) == 0:
		change.Action = planewright.ActionCreate
	default:
		change.Action = planewright.ActionUpdate
	}
	return change, nil
}

func (s podIdentityStep) apply(ctx context.Context, _ *planewright.Run) error {
	live, err := s.live(ctx)
	if err != nil {
		return err
	}
	for _, account := range s.accounts {
		namespace, name, _ := strings.Cut(account, "/")
		a, there := live[account]
		switch {
		case !there:
			_, err = s.region.CreatePodIdentityAssociation(ctx, &eks.CreatePodIdentityAssociationInput{
				ClusterName: aws.String(s.cluster.Name), Namespace: aws.String(namespace), ServiceAccount: aws.String(name), RoleArn: aws.String(s.role), Tags: s.ownTags(s.owner),
			})
			if err = failure("eks:CreatePodIdentityAssociation", clusterObject(s.cluster.Name), err); is(err, planewright.ErrAlreadyExists) {
				return again{err}
			}
		case a.role != s.role:
			_, err = s.region.UpdatePodIdentityAssociation(ctx, &eks.UpdatePodIdentityAssociationInput{ClusterName: aws.String(s.cluster.Name), AssociationId: aws.String(a.id), RoleArn: aws.String(s.role)})
			err = failure("eks:UpdatePodIdentityAssociation", clusterObject(s.cluster.Name), err)
		}
		if err != nil {
			return err
		}
	}
	for account, a := range live {
		if !slices.Contains(s.accounts, account) {
			if err := s.delete(ctx, a.id); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s podIdentityStep) delete(ctx context.Context, id string) error {
	_, err := s.region.DeletePodIdentityAssociation(ctx, &eks.DeletePodIdentityAssociationInput{ClusterName: aws.String(s.cluster.Name), AssociationId: aws.String(id)})
	if err = failure("eks:DeletePodIdentityAssociation", clusterObject(s.cluster.Name), err); is(err, planewright.ErrNotFound) {
		return nil
	}
	return err
}

func (s podIdentityStep) undo(ctx context.Context, _ *planewright.Run) error {
	live, err := s.live(ctx)
	if is(err, planewright.ErrNotFound) {
		return nil // the cluster is gone, and they with it
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, a := range live {
		if a.owner == s.owner && a.role == s.role {
			errs = append(errs, s.delete(ctx, a.id))
		}
	}
	return errors.Join(errs...)
}

// agentProbe asks whether a cluster has the agent of Pod Identity. It may have
// been installed otherwise than as an add-on, so its absence is a warning.
func (p *provisioning) agentProbe(id string, cluster cloud.ClusterRef, region EKS) {
	if slices.ContainsFunc(p.made.Probes, func(have planewright.Probe) bool { return have.ID == id }) {
		return
	}
	p.made.Probes = append(p.made.Probes, planewright.Probe{ID: id, Run: func(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
		object := clusterObject(cluster.Name)
		finding := planewright.Finding{Severity: planewright.SeverityWarning, Code: CodePodIdentityAgent, Object: &object}
		addon, err := region.DescribeAddon(ctx, &eks.DescribeAddonInput{ClusterName: aws.String(cluster.Name), AddonName: aws.String("eks-pod-identity-agent")})
		err = failure("eks:DescribeAddon", object, err)
		switch {
		case is(err, planewright.ErrNotFound) && len(cluster.Needs) > 0:
			return nil, nil
		case is(err, planewright.ErrNotFound):
			finding.Cause = "the cluster has no add-on eks-pod-identity-agent, without which no pod gets its role"
			finding.Fix = "install it: aws eks create-addon --cluster-name " + cluster.Name + " --addon-name eks-pod-identity-agent"
		case is(err, planewright.ErrDenied):
			finding.Severity, finding.Cause = planewright.SeverityUnprobed, err.Error()
		case err != nil:
			return nil, err
		case addon.Addon == nil || addon.Addon.Status != "ACTIVE" && addon.Addon.Status != "UPDATING":
			finding.Cause = "the add-on eks-pod-identity-agent is not active"
			finding.Fix = "see why: aws eks describe-addon --cluster-name " + cluster.Name + " --addon-name eks-pod-identity-agent"
		default:
			return nil, nil
		}
		return []planewright.Finding{finding}, nil
	}})
}
