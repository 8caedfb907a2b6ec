package iam

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/planewright/planewright"
)

// OIDCProvider is the OIDC provider by which one account knows the
// ServiceAccounts of one cluster. It is a value; whether IAM has it is not
// known here.
type OIDCProvider struct {
	partition Partition
	account   string
	id        string
	// given is the issuer or ARN that it was made of, kept to be shown where it is wrong.
	given string
}

// NewOIDCProvider is the provider for a cluster's issuer, which is a URL like
// "https://oidc.eks.us-east-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B716D3041E".
// The account is that of the roles which trust it: IAM knows a role's federated
// principals of the role's own account only. Whether it is right is told by
// [TrustPolicy.Validate] and [OIDCProvider.Validate].
func NewOIDCProvider(partition Partition, account, issuer string) OIDCProvider {
	return OIDCProvider{partition: partition, account: account, id: strings.TrimPrefix(issuer, "https://"), given: issuer}
}

// ParseOIDCProvider is the provider with an ARN. The error matches planewright.ErrInvalid.
func ParseOIDCProvider(arn string) (OIDCProvider, error) {
	a, err := ParseARN(arn)
	if err != nil {
		return OIDCProvider{}, err
	}
	id, ok := strings.CutPrefix(a.Resource, "oidc-provider/")
	if !ok || a.Service != "iam" {
		return OIDCProvider{}, fmt.Errorf("%q is the ARN of a %s %s, not of an OIDC provider: %w", arn, a.Service, strings.SplitN(a.Resource, "/", 2)[0], planewright.ErrInvalid)
	}
	p := OIDCProvider{partition: a.Partition, account: a.AccountID, id: id, given: "https://" + id}
	return p, p.Validate()
}

// ARN is the provider's full name.
func (p OIDCProvider) ARN() string {
	return ARN{Partition: p.partition, Service: "iam", AccountID: p.account, Resource: "oidc-provider/" + p.id}.String()
}

// ID is the issuer without its scheme: what the condition keys begin with.
func (p OIDCProvider) ID() string { return p.id }

// Issuer is the issuer's URL.
func (p OIDCProvider) Issuer() string { return "https://" + p.id }

// AccountID is the account that has the provider.
func (p OIDCProvider) AccountID() string { return p.account }

// Partition is the partition that the account is in.
func (p OIDCProvider) Partition() Partition { return p.partition }

// String names the provider as a plan does.
func (p OIDCProvider) String() string { return "OIDC provider " + p.id }

// Validate reports everything that is wrong with the provider, as a
// [*planewright.ValidationError].
func (p OIDCProvider) Validate() error {
	var problems planewright.Problems
	p.validate(&problems, "provider")
	return problems.Err("OIDC provider")
}

// issuerURL matches an issuer whose characters may stand in ARNs and condition keys.
var issuerURL = regexp.MustCompile(`^https://[A-Za-z0-9.-]+(/[A-Za-z0-9._~-]+)*$`)

func (p OIDCProvider) validate(problems *planewright.Problems, path string) {
	if !p.partition.known() {
		fix := "take it from the cluster's ARN"
		if p.partition == "aws-gov" {
			fix = "GovCloud's is aws-us-gov"
		}
		problems.Add(path+".partition", string(p.partition), "there is no such partition of AWS", fix)
	}
	if !accountID.MatchString(p.account) {
		problems.Add(path+".account", p.account, "an account id has 12 digits", "take it from the cluster's ARN")
	}
	const fix = "use the issuer as the cluster tells it (identity.oidc.issuer)"
	u, err := url.Parse(p.given)
	switch {
	case err != nil || p.given == "":
		problems.Add(path+".issuer", p.given, "an issuer is a URL", fix)
	case !strings.HasPrefix(p.given, "https://"):
		problems.Add(path+".issuer", p.given, "an issuer is reached by https", fix)
	case u.Port() != "" || strings.HasSuffix(u.Host, ":"):
		problems.Add(path+".issuer", p.given, "IAM takes no issuer with a port", fix)
	case strings.HasSuffix(p.given, ".") || strings.HasSuffix(u.Host, "."):
		problems.Add(path+".issuer", p.given, "an issuer does not end in a dot: condition keys made of it would never match", fix)
	case strings.HasSuffix(p.given, "/"):
		problems.Add(path+".issuer", p.given, "an issuer does not end in a slash", fix)
	case u.Host == "" || u.User != nil || !issuerURL.MatchString(p.given):
		problems.Add(path+".issuer", p.given, "an issuer is a scheme, a host and a path", fix)
	}
}

// audKey and subKey are the condition keys of the provider's tokens.
func (p OIDCProvider) audKey() string { return p.id + ":aud" }
func (p OIDCProvider) subKey() string { return p.id + ":sub" }
