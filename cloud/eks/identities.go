package eks

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	policy "github.com/planewright/planewright/cloud/iam"
)

// identities implements cloud.Identities with IAM roles.
type identities struct{ *account }

// roleAnnotation is how a ServiceAccount names the role of its pods.
const (
	roleAnnotation     = "eks.amazonaws.com/role-arn"
	audienceAnnotation = "eks.amazonaws.com/audience"
)

// Provision implements [cloud.Identities]. Its steps are, for an identity
// called flyte-user of a cluster called main:
//
//	PREFIX/oidc-provider/main   the cluster's OIDC provider in this account
//	PREFIX/flyte-user/policy    the managed policy for the buckets
//	PREFIX/flyte-user/role      the role and its trust policy
//	PREFIX/flyte-user/pod-identity/main   the associations of Pod Identity
func (i *identities) Provision(prefix string, specs ...cloud.IdentitySpec) cloud.IdentityProvision {
	p := provisioning{identities: i, prefix: prefix, providers: map[string]providerStep{}}
	specs = slices.Clone(specs)
	for n := range specs {
		if specs[n].Owner == "" {
			specs[n].Owner = stackOf(prefix)
		}
	}
	if err := i.validate(specs); err != nil {
		return cloud.IdentityProvision{Err: err}
	}
	for _, spec := range specs {
		p.add(spec)
	}
	p.made.Probes = append(p.made.Probes, i.quotaProbe(prefix, specs))
	return p.made
}

var (
	roleName = regexp.MustCompile(`^[A-Za-z0-9+=,.@_-]{1,64}$`)
	rolePath = regexp.MustCompile(`^/([!-~]+/)?$`)
)

// validate reports everything that is wrong with the specs.
func (i *identities) validate(specs []cloud.IdentitySpec) error {
	var p planewright.Problems
	if i.IAM == nil {
		p.Add("account", i.AccountID, "the account has no client for IAM, so it can make no identities", "give eks.Config an IAM, or use eks.Open")
	}
	if i.EKS == nil && i.mode != IRSA && i.mode != "" {
		p.Add("account", i.AccountID, "the account has no client for EKS, which Pod Identity needs", "give eks.Config an EKS, or use eks.Open")
	}
	i.validateMade(&p)
	seen := map[string]bool{}
	takers := map[string]string{}
	for n, spec := range specs {
		path := fmt.Sprintf("identities[%d]", n)
		if !roleName.MatchString(spec.Name) {
			p.Add(path+".name", spec.Name, "a role's name is at most 64 letters, digits and any of + = , . @ _ -", "shorten it")
		}
		if key := strings.ToLower(spec.Name); seen[key] {
			p.Add(path+".name", spec.Name, "role names differ by more than their case", "choose another name")
		} else {
			seen[key] = true
		}
		if len(spec.Subjects) == 0 && spec.Trust.IsZero() {
			p.Add(path+".subjects", "", "somebody has to be trusted", "name a ServiceAccount")
		}
		if !ownerName.MatchString(spec.Owner) {
			p.Add(path+".owner", spec.Owner, "an owner is a tag's value: at most 256 letters, digits, spaces and any of _ . : / = + - @", "leave it out to use the stack's name")
		}
		i.validateSubjects(&p, path, spec)
		i.validateTakers(&p, path, spec, takers)
		i.validateTrust(&p, path, spec)
		for m, arn := range spec.Policies {
			at := fmt.Sprintf("%s.policies[%d]", path, m)
			if arn == "" {
				p.Add(at, "", "a managed policy is named by its ARN", "leave it out")
			}
			i.validatePolicy(&p, at, arn, "a managed policy is named by its ARN")
		}
		if len(spec.Buckets) > 0 {
			if _, err := i.bucketPolicy(spec); err != nil {
				p.Add(path+".buckets", "", err.Error(), "")
			}
		}
	}
	return p.Err("identities in " + i.AccountID)
}

func (i *identities) validateSubjects(p *planewright.Problems, path string, spec cloud.IdentitySpec) {
	for n, s := range spec.Subjects {
		at := fmt.Sprintf("%s.subjects[%d]", path, n)
		where := s.Cluster.Account
		switch {
		case where.Clusters == nil || s.Cluster.Name == "":
			p.Add(at+".cluster", s.Cluster.Name, "a ServiceAccount is in a cluster, and a cluster in an account that can be asked about it", "refer to it by the account: account.Cluster(name)")
		case where.Provider != cloud.AWS:
			p.Add(at+".cluster", s.Cluster.Name, "a role is assumed from EKS; the cluster is in "+where.String(), "give it an identity of its own cloud")
		case policy.PartitionOf(where.Location) != i.Partition:
			p.Add(at+".cluster", s.Cluster.Name, fmt.Sprintf("the cluster is in partition %s, the role in %s, and nothing in one trusts anything in another", policy.PartitionOf(where.Location), i.Partition), "make a role in each partition")
		case i.associates(spec) && where.ID != i.AccountID:
			p.Add(at+".cluster", s.Cluster.Name, fmt.Sprintf("the cluster is in account %s, the role in %s, and Pod Identity gives roles of the cluster's account only", where.ID, i.AccountID), "use IRSA, or a role in the cluster's account")
		case i.associates(spec) && where.Location != i.Region && accountOf(s.Cluster) == nil:
			p.Add(at+".cluster", s.Cluster.Name, fmt.Sprintf("the cluster is in %s, and its account is not one that this package made, so no association can be made there", where.Location), "refer to the cluster by an account that eks.New or eks.Open made")
		case i.mode == PodIdentity && s.Pattern:
			p.Add(at, s.Namespace+"/"+s.ServiceAccount, "an association of Pod Identity names one ServiceAccount", "name the namespaces, or use the mode Hybrid")
		}
	}
	// The rules for names and patterns are those of trust policies.
	if trust := i.trustOf(spec, func(cloud.ClusterRef) (policy.OIDCProvider, error) {
		return policy.NewOIDCProvider(i.Partition, i.AccountID, "https://oidc.example/id/X"), nil
	}); trust.err == nil {
		if err := trust.policy.Validate(); err != nil && !trust.policy.IsZero() {
			p.Add(path+".subjects", "", err.Error(), "")
		}
	}
}

// validateTakers refuses two roles for one ServiceAccount by associations, of
// which EKS keeps one: each install would turn it over to the other role.
func (i *identities) validateTakers(p *planewright.Problems, path string, spec cloud.IdentitySpec, takers map[string]string) {
	if !i.associates(spec) {
		return
	}
	for n, s := range spec.Subjects {
		key := clusterKey(s.Cluster) + " " + s.Namespace + "/" + s.ServiceAccount
		if other, taken := takers[key]; taken && other != spec.Name {
			p.Add(fmt.Sprintf("%s.subjects[%d]", path, n), s.Namespace+"/"+s.ServiceAccount, "by Pod Identity a ServiceAccount has one role, and it has "+other+" already", "name it in one identity, or use IRSA")
		}
		takers[key] = spec.Name
	}
}

// validateTrust refuses further trust in what IAM does not take from this account.
func (i *identities) validateTrust(p *planewright.Problems, path string, spec cloud.IdentitySpec) {
	for _, provider := range spec.Trust.Providers() {
		switch {
		case provider.Partition() != i.Partition:
			p.Add(path+".trust", provider.ARN(), fmt.Sprintf("the provider is in partition %s, the role in %s, and nothing in one trusts anything in another", provider.Partition(), i.Partition), "make a role in each partition")
		case provider.AccountID() != i.AccountID:
			p.Add(path+".trust", provider.ARN(), "a role trusts OIDC providers of its own account only, which is "+i.AccountID, "register the cluster's issuer in the role's account")
		}
	}
}

// associates reports whether an identity's ServiceAccounts get it by
// associations. With a pattern among them none does in the mode Hybrid: all
// carry the same annotation, which the SDKs heed before an association.
func (i *identities) associates(spec cloud.IdentitySpec) bool {
	return i.mode == PodIdentity ||
		i.mode == Hybrid && !slices.ContainsFunc(spec.Subjects, func(s cloud.Subject) bool { return s.Pattern })
}

func (i *identities) bucketPolicy(spec cloud.IdentitySpec) (policy.Document, error) {
	made := policy.NewPolicy().WithPartition(i.Partition)
	for _, b := range spec.Buckets {
		bucket := policy.NewBucket(b.Bucket).WithPrefix(b.Prefix).WithKMSKey(b.KMSKey)
		if b.ReadOnly {
			bucket = bucket.ReadOnly()
		}
		made = made.WithBuckets(bucket)
	}
	return made.Document()
}

// trusted is a trust policy, or why it is not known.
type trusted struct {
	policy policy.TrustPolicy
	err    error
}

// trustOf derives whom a role trusts. It finds the providers of clusters by a function.
func (i *identities) trustOf(spec cloud.IdentitySpec, find func(cloud.ClusterRef) (policy.OIDCProvider, error)) trusted {
	trust := policy.NewTrustPolicy().WithAudience(i.audience)
	associated := false
	for _, s := range spec.Subjects {
		if i.associates(spec) {
			associated = true
			continue
		}
		provider, err := find(s.Cluster)
		if err != nil {
			return trusted{err: err}
		}
		subject := policy.ServiceAccount(s.Namespace, s.ServiceAccount)
		if s.Pattern {
			subject = policy.ServiceAccountPattern(s.Namespace, s.ServiceAccount)
		}
		if s.AnyNamespace {
			trust = trust.AllowingAnyNamespace()
		}
		trust = trust.WithServiceAccounts(provider, subject)
	}
	if associated {
		trust = trust.WithPodIdentity(policy.PodIdentity{SourceAccount: i.AccountID})
	}
	return trusted{policy: trust.Merge(spec.Trust)}
}

// provisioning collects the steps of several identities.
type provisioning struct {
	*identities
	prefix    string
	providers map[string]providerStep
	made      cloud.IdentityProvision
}

func (p *provisioning) add(spec cloud.IdentitySpec) {
	role := roleStep{account: p.account, id: p.prefix + "/" + idPart(spec.Name) + "/role", name: spec.Name, owner: spec.Owner, adopt: spec.Adopt, attached: spec.Policies}
	if len(spec.Buckets) > 0 {
		document, _ := p.bucketPolicy(spec) // it was validated
		made := policyStep{account: p.account, id: p.prefix + "/" + idPart(spec.Name) + "/policy", name: spec.Name, owner: spec.Owner, adopt: spec.Adopt, document: document}
		p.made.Steps = append(p.made.Steps, made.step())
		role.needs = append(role.needs, made.id)
		role.attached = append([]string{made.arn()}, spec.Policies...)
	}
	for _, s := range spec.Subjects {
		if !p.associates(spec) {
			role.needs = appendNew(role.needs, p.provider(s.Cluster, spec.Owner).id)
		}
	}
	providers := p.providers
	role.trust = func(run *planewright.Run) (policy.TrustPolicy, error) {
		trust := p.trustOf(spec, func(cluster cloud.ClusterRef) (policy.OIDCProvider, error) {
			return providers[clusterKey(cluster)].provider.Get(run)
		})
		return trust.policy, trust.err
	}
	p.made.Steps = append(p.made.Steps, role.step())
	identity := cloud.Identity{Principal: role.arn(), Needs: []string{role.id}}
	identity.Needs = append(identity.Needs, p.associate(spec, role)...)
	if !p.associates(spec) {
		identity.Annotations = map[string]string{roleAnnotation: role.arn()}
		if p.audience != "" {
			identity.Annotations[audienceAnnotation] = p.audience
		}
	}
	p.made.Identities = append(p.made.Identities, identity)
}

// provider returns the step for a cluster's provider, one for all identities.
func (p *provisioning) provider(cluster cloud.ClusterRef, owner string) providerStep {
	key := clusterKey(cluster)
	step, ok := p.providers[key]
	if !ok {
		step = p.newProviderStep(p.prefix, cluster, owner)
		for _, other := range p.providers {
			if other.id == step.id { // of the same name elsewhere
				step = p.newProviderStep(p.prefix, cluster, owner, cluster.Account.ID, cluster.Account.Location)
			}
		}
		p.providers[key] = step
		p.made.Steps = append(p.made.Steps, step.step())
	}
	return step
}

// clusterKey tells clusters of several accounts and regions apart.
func clusterKey(cluster cloud.ClusterRef) string {
	return strings.Join([]string{cluster.Account.ID, cluster.Account.Location, cluster.Name}, "/")
}

func appendNew(list []string, item string) []string {
	if slices.Contains(list, item) {
		return list
	}
	return append(list, item)
}
