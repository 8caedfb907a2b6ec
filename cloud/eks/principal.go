package eks

import (
	"strings"

	policy "github.com/planewright/planewright/cloud/iam"
)

// principal is who gets access.
type principal struct {
	arn  policy.ARN
	name string
	// role tells a role from a user; session says that the ARN is that of a
	// role's session, which lacks the role's path.
	role, session bool
}

// parsePrincipal takes an ARN apart, or says which rule it breaks.
func parsePrincipal(text string) (who principal, rule string) {
	const is = "who gets access is the ARN of an IAM role or user"
	arn, err := policy.ParseARN(text)
	if err != nil {
		return who, is
	}
	parts := strings.Split(arn.Resource, "/")
	who = principal{arn: arn, name: parts[len(parts)-1]}
	switch {
	case strings.ContainsAny(text, "*?") || len(parts) < 2 || who.name == "" || arn.AccountID == "":
		return who, is
	case arn.Service == "sts" && parts[0] == "assumed-role" && len(parts) == 3:
		who.name, who.role, who.session = parts[1], true, true
	case arn.Service == "iam" && parts[0] == "role":
		who.role = true
	case arn.Service == "iam" && parts[0] == "user":
	default:
		return who, is
	}
	return who, ""
}
