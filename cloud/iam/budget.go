package iam

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright"
)

// The quotas of a new account, in characters that are no white space. What an
// account really has is told by IAM's GetAccountSummary.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
const (
	// DefaultTrustPolicyLimit is a trust policy's. It can be raised.
	DefaultTrustPolicyLimit = 2048
	// DefaultPolicyLimit is a managed policy's. It is fixed.
	DefaultPolicyLimit = 6144
)

// Budget is how much of its quota a trust policy takes.
type Budget struct {
	// Used and Limit are in characters.
	Used, Limit int
	// PerCluster is what one more cluster takes; Fits is how many more there are room for.
	PerCluster, Fits int
}

// Budget reckons how many more clusters a trust policy has room for. A cluster
// takes what the largest statement of the policy for one takes, and a comma.
func (d Document) Budget(limit int) Budget {
	b := Budget{Used: d.Size(), Limit: limit}
	for _, s := range d.statements {
		if s.binds() {
			b.PerCluster = max(b.PerCluster, newDocument(s).Size()-newDocument().Size()+1)
		}
	}
	if b.PerCluster > 0 {
		b.Fits = max(0, (limit-b.Used)/b.PerCluster)
	}
	return b
}

// String says it in a sentence.
func (b Budget) String() string {
	text := fmt.Sprintf("%d of %d characters used", b.Used, b.Limit)
	if b.Used > b.Limit {
		text = fmt.Sprintf("%d characters, %d more than the %d that the account allows", b.Used, b.Used-b.Limit, b.Limit)
	}
	if b.PerCluster > 0 {
		text += fmt.Sprintf("; a cluster takes %d, so %d more %s", b.PerCluster, b.Fits, map[bool]string{true: "fits", false: "fit"}[b.Fits == 1])
	}
	return text
}

// Alternatives are the ways out of a trust policy that is too long, from the
// one that lasts. Wider wildcards are none of them.
func Alternatives() []string {
	return []string{
		"EKS Pod Identity: associations in each cluster say who gets the role, and the trust policy stays the same for any number of clusters",
		"a higher quota: ask for more of \"Role trust policy length\" in Service Quotas",
		"a role for each group of clusters, where domains can be told apart by cluster",
		"patterns of namespaces (\"*-development\") instead of one subject for each project and domain",
	}
}

// TooLongError says that a document is longer than IAM takes. It matches
// planewright.ErrInvalid and planewright.ErrQuota.
type TooLongError struct {
	// What is the document: "trust policy of role flyte-dataplanes".
	What string
	Budget
	// WaysOut are what can be done, from the one that lasts.
	WaysOut []string
}

// Error implements error.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("%s has %s. Ways out: %s", e.What, e.Budget, strings.Join(e.WaysOut, "; "))
}

// Is matches planewright.ErrInvalid and planewright.ErrQuota.
func (e *TooLongError) Is(target error) bool {
	return target == planewright.ErrInvalid || target == planewright.ErrQuota
}

// CheckLength returns a [*TooLongError] if the document has more characters
// than the limit.
func (d Document) CheckLength(what string, limit int) error {
	b := d.Budget(limit)
	if b.Used <= limit {
		return nil
	}
	ways := Alternatives()
	if !slices.ContainsFunc(d.statements, func(s Statement) bool { return len(s.principals)+len(s.notPrincipals) > 0 }) {
		ways = []string{ // the quota of a managed policy cannot be raised
			"prefixes of one bucket instead of many buckets",
			"an identity for each group of buckets",
			"a managed policy of your own beside it, for a part of them",
		}
	}
	return &TooLongError{What: what, Budget: b, WaysOut: ways}
}
