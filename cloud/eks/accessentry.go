package eks

import (
	"fmt"
	"slices"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
)

// ProvisionAccess returns the steps that make principals administrators of a
// cluster: an access entry for each, with the policy
// AmazonEKSClusterAdminPolicy for the whole cluster. Their ids are
// PREFIX/CLUSTER/access/NAME. Without principals it is the credentials in use
// ([Config.Caller]) that get access: whoever made the cluster has it already.
//
// A principal is the ARN of a role or a user. That of a role's session, which
// EKS does not take, stands for its role. Entries of others are completed and
// never taken away; so are those made here, since whoever uninstalls may come
// in by one. A cluster that knows no access entries (its authentication mode
// is CONFIG_MAP) blocks the step.
//
// The error is a *planewright.ValidationError.
func ProvisionAccess(prefix string, cluster cloud.ClusterRef, principals ...string) ([]planewright.Step, error) {
	a := accountOf(cluster)
	var p planewright.Problems
	if a == nil || a.EKS == nil || a.IAM == nil {
		p.Add("cluster", cluster.Name, "access entries are made by an account of this package with clients for EKS and IAM", "refer to the cluster by an account that eks.New or eks.Open made")
		return nil, p.Err("access to EKS cluster " + cluster.Name)
	}
	if len(principals) == 0 {
		principals = []string{a.Caller}
	}
	var steps []planewright.Step
	seen := map[string]bool{}
	for i, text := range principals {
		who, rule := parsePrincipal(text)
		path := fmt.Sprintf("principals[%d]", i)
		switch {
		case rule != "":
			p.Add(path, text, rule, "use arn:PARTITION:iam::ACCOUNT:role/NAME")
			continue
		case who.arn.Partition != a.Partition:
			p.Add(path, text, fmt.Sprintf("the principal is in partition %s, the cluster in %s", who.arn.Partition, a.Partition), "use a role of the same partition")
			continue
		case who.session && who.arn.AccountID != a.AccountID:
			p.Add(path, text, "EKS takes a role and none of its sessions, and this one's role is in another account, where it cannot be looked up", "name the role: arn:PARTITION:iam::ACCOUNT:role/PATH/NAME")
			continue
		}
		id := prefix + "/" + idPart(cluster.Name) + "/access/" + idPart(who.name)
		if seen[id] {
			p.Add(path, text, "a principal is named once, and no two have the same name", "leave one out")
		}
		seen[id] = true
		steps = append(steps, accessStep{account: a, id: id, owner: stackOf(prefix), cluster: cluster, principal: who}.step())
	}
	if err := p.Err("access to EKS cluster " + cluster.Name); err != nil {
		return nil, err
	}
	return steps, nil
}

// administrators are the steps for access to a cluster that is made here.
func (c *clusters) administrators(prefix string, spec cloud.ClusterSpec, made string) ([]planewright.Step, error) {
	if len(c.admins) == 0 {
		return nil, nil
	}
	ref := cloud.ClusterRef{Account: cloud.Account{Provider: cloud.AWS, ID: c.AccountID, Location: c.Region, Clusters: c}, Name: spec.Name(), Needs: []string{made}}
	return ProvisionAccess(prefix, ref, slices.Clone(c.admins)...)
}
