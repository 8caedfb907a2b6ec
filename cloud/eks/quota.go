package eks

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
)

// quotaProbe asks whether the account has room for the roles and policies that
// may have to be made. The providers that are there are counted too late for
// a number; IAM tells it when one is made.
func (i *identities) quotaProbe(prefix string, specs []cloud.IdentitySpec) planewright.Probe {
	identities := len(specs)
	return planewright.Probe{ID: prefix + "/preflight/quotas", Run: func(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
		summary, err := i.IAM.GetAccountSummary(ctx, &iam.GetAccountSummaryInput{})
		if err = failure("iam:GetAccountSummary", planewright.Object{}, err); quotasUnknown(err) {
			return []planewright.Finding{{Severity: planewright.SeverityUnprobed, Code: CodeQuota,
				Cause: "the account's quotas may not be asked; the usual ones are assumed: " + err.Error()}}, nil
		}
		if err != nil {
			return nil, err
		}
		var findings []planewright.Finding
		for _, q := range []struct{ noun, used, quota string }{{"roles", "Roles", "RolesQuota"}, {"customer managed policies", "Policies", "PoliciesQuota"}} {
			used, quota := int(summary.SummaryMap[q.used]), int(summary.SummaryMap[q.quota])
			if quota > 0 && used+identities > quota {
				findings = append(findings, planewright.Finding{Severity: planewright.SeverityWarning, Code: CodeQuota,
					Cause: fmt.Sprintf("account %s has %d of %d %s, and up to %d may have to be made", i.AccountID, used, quota, q.noun, identities),
					Fix:   "remove what is no longer needed, or ask for more in Service Quotas"})
			}
		}
		return append(findings, i.attachments(specs, int(summary.SummaryMap["AttachedPoliciesPerRoleQuota"]))...), nil
	}}
}

// attachments finds roles that would have more policies attached than a role
// may have. IAM would take the first of them, and leave the role with half its rights.
func (i *identities) attachments(specs []cloud.IdentitySpec, quota int) []planewright.Finding {
	var findings []planewright.Finding
	for _, spec := range specs {
		n := len(spec.Policies)
		if len(spec.Buckets) > 0 {
			n++
		}
		if quota > 0 && n > quota {
			object := roleStep{account: i.account, name: spec.Name}.object()
			findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodeQuota, Object: &object,
				Cause: fmt.Sprintf("the role is to have %d policies, and account %s allows %d", n, i.AccountID, quota), Fix: "put several into one policy, or ask for more in Service Quotas"})
		}
	}
	return findings
}

// quotasUnknown reports whether an error says that quotas may not be asked, or
// that whoever answers (an emulator) does not know the question.
func quotasUnknown(err error) bool {
	return is(err, planewright.ErrDenied) || codeOf(err) == "InvalidAction"
}
