package iam

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/planewright/planewright"
)

// TrustPolicy says who may assume a role. It is a value; its methods return
// changed copies, and [TrustPolicy.Validate] reports everything that is wrong.
type TrustPolicy struct {
	grants       []grant
	services     []string
	podIdentity  []PodIdentity
	audience     string
	anyNamespace bool
}

// grant is what one provider's tokens are trusted for.
type grant struct {
	provider OIDCProvider
	subjects []Subject
}

// DefaultAudience is the audience of the tokens that EKS gives to pods for
// IAM. It is the same in every partition: it names no endpoint.
const DefaultAudience = "sts.amazonaws.com"

// NewTrustPolicy trusts nobody yet.
func NewTrustPolicy() TrustPolicy { return TrustPolicy{} }

// WithServiceAccounts trusts ServiceAccounts of the cluster that the provider
// stands for. Calls for the same provider add up. Exact ones are matched by
// StringEquals; if there is a pattern among a provider's, all of them are by
// StringLike, since two operators would both have to hold.
func (t TrustPolicy) WithServiceAccounts(provider OIDCProvider, subjects ...Subject) TrustPolicy {
	t.grants = slices.Clone(t.grants)
	for i, g := range t.grants {
		if g.provider.ARN() == provider.ARN() {
			t.grants[i].subjects = append(slices.Clip(g.subjects), subjects...)
			return t
		}
	}
	t.grants = append(t.grants, grant{provider, slices.Clone(subjects)})
	return t
}

// WithAudience sets the audience that tokens must have: the annotation
// eks.amazonaws.com/audience of the ServiceAccount. By default [DefaultAudience].
func (t TrustPolicy) WithAudience(audience string) TrustPolicy {
	t.audience = audience
	return t
}

// WithService trusts services of AWS, "eks.amazonaws.com" for one.
func (t TrustPolicy) WithService(names ...string) TrustPolicy {
	t.services = append(slices.Clip(t.services), names...)
	return t
}

// WithPodIdentity trusts EKS Pod Identity: which pods get the role is then said
// by associations of each cluster, and the document stays the same however
// many there are. Restrictions narrow it; without any, every association of the account counts.
func (t TrustPolicy) WithPodIdentity(restrictions ...PodIdentity) TrustPolicy {
	if len(restrictions) == 0 {
		restrictions = []PodIdentity{{}}
	}
	t.podIdentity = append(slices.Clip(t.podIdentity), restrictions...)
	return t
}

// AllowingAnyNamespace is the opt-in for patterns that cover every namespace of
// a cluster, such as ServiceAccountPattern("*", "default"). Whoever may make a
// pod in any namespace can then take on the role.
func (t TrustPolicy) AllowingAnyNamespace() TrustPolicy {
	t.anyNamespace = true
	return t
}

// Merge trusts whom either trusts. The other's audience counts if it has one.
func (t TrustPolicy) Merge(other TrustPolicy) TrustPolicy {
	for _, g := range other.grants {
		t = t.WithServiceAccounts(g.provider, g.subjects...)
	}
	t.services = append(slices.Clip(t.services), other.services...)
	t.podIdentity = append(slices.Clip(t.podIdentity), other.podIdentity...)
	t.anyNamespace = t.anyNamespace || other.anyNamespace
	if other.audience != "" {
		t.audience = other.audience
	}
	return t
}

// IsZero reports whether nobody is trusted.
func (t TrustPolicy) IsZero() bool {
	return len(t.grants) == 0 && len(t.services) == 0 && len(t.podIdentity) == 0
}

// Providers returns the OIDC providers, in the order of their ARNs.
func (t TrustPolicy) Providers() []OIDCProvider {
	var providers []OIDCProvider
	for _, g := range t.sorted() {
		providers = append(providers, g.provider)
	}
	return providers
}

// Document is the policy as a document of its own.
func (t TrustPolicy) Document() (Document, error) {
	if err := t.Validate(); err != nil {
		return Document{}, err
	}
	merged, err := newDocument().MergeTrust(t)
	return merged.Document, err
}

func (t TrustPolicy) sorted() []grant {
	return slices.SortedFunc(slices.Values(t.grants), func(a, b grant) int { return strings.Compare(a.provider.ARN(), b.provider.ARN()) })
}

func (t TrustPolicy) audienceOf() string {
	if t.audience == "" {
		return DefaultAudience
	}
	return t.audience
}

// serviceName matches a service principal.
var serviceName = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)*\.amazonaws\.com(\.cn)?$`)

// Validate reports everything that is wrong with the policy, as a
// [*planewright.ValidationError].
func (t TrustPolicy) Validate() error {
	var p planewright.Problems
	if t.IsZero() {
		p.Add("", "", "a trust policy trusts somebody", "use WithServiceAccounts, WithPodIdentity or WithService")
	}
	if strings.ContainsAny(t.audience, `*?"\ `) {
		p.Add("audience", t.audience, "an audience is matched as it stands", "leave it out to use "+DefaultAudience)
	}
	if t.audience == "sts.amazonaws.com.cn" {
		p.Add("audience", t.audience, "the audience of EKS's tokens is "+DefaultAudience+" in China too: it names no endpoint", "leave it out")
	}
	partitions, accounts := map[string]bool{}, map[string]bool{}
	for i, g := range t.grants {
		path := fmt.Sprintf("serviceAccounts[%d]", i)
		g.provider.validate(&p, path+".provider")
		if g.provider.partition.known() {
			partitions[string(g.provider.partition)] = true
		}
		accounts[g.provider.account] = true
		if len(g.subjects) == 0 {
			p.Add(path, g.provider.ID(), "without subjects every ServiceAccount of the cluster would be trusted", "name the ServiceAccounts")
		}
		for j, s := range g.subjects {
			s.validate(&p, fmt.Sprintf("%s.subjects[%d]", path, j), t.anyNamespace)
		}
	}
	for _, pod := range t.podIdentity {
		for _, cluster := range pod.Clusters {
			if arn, err := ParseARN(cluster); err == nil {
				partitions[string(arn.Partition)] = true
			}
		}
	}
	if names := slices.Sorted(maps.Keys(partitions)); len(names) > 1 {
		p.Add("serviceAccounts", strings.Join(names, ", "), "one role is in one partition, and trusts nobody in another", "make a role for each partition")
	}
	if names := slices.Sorted(maps.Keys(accounts)); len(names) > 1 {
		p.Add("serviceAccounts", strings.Join(names, ", "), "a role trusts OIDC providers of its own account only", "register each cluster's issuer in the role's account")
	}
	for i, name := range t.services {
		if !serviceName.MatchString(name) {
			p.Add(fmt.Sprintf("services[%d]", i), name, "a service of AWS is called like eks.amazonaws.com", "use the service's principal")
		}
	}
	for i, pod := range t.podIdentity {
		pod.validate(&p, fmt.Sprintf("podIdentity[%d]", i))
	}
	return p.Err("trust policy")
}
