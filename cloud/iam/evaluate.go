package iam

import (
	"fmt"
	"slices"
	"strings"
)

// Request is somebody who asks to assume a role.
type Request struct {
	// Action is what is asked for: "sts:AssumeRoleWithWebIdentity".
	Action string
	// PrincipalType and Principal say who asks: "Federated" and a provider's ARN,
	// "Service" and a service's name, "AWS" and an ARN.
	PrincipalType, Principal string
	// Context holds the values of the condition keys.
	Context map[string][]string
}

// WebIdentityRequest is a pod of a ServiceAccount that asks with the token that
// EKS has given it. Its audience is [DefaultAudience].
func WebIdentityRequest(provider OIDCProvider, account Subject) Request {
	return Request{
		Action: webIdentityAction, PrincipalType: "Federated", Principal: provider.ARN(),
		Context: map[string][]string{
			provider.audKey(): {DefaultAudience},
			provider.subKey(): {account.String()},
		},
	}
}

// PodIdentityRequest is a pod of a ServiceAccount with an EKS Pod Identity
// association in the cluster of the ARN.
func PodIdentityRequest(clusterARN string, account Subject) Request {
	context := map[string][]string{
		"aws:RequestTag/eks-cluster-arn":            {clusterARN},
		"aws:RequestTag/kubernetes-namespace":       {account.namespace},
		"aws:RequestTag/kubernetes-service-account": {account.name},
		"aws:SourceArn":                             {clusterARN},
	}
	if arn, err := ParseARN(clusterARN); err == nil {
		context["aws:SourceAccount"] = []string{arn.AccountID}
	}
	return Request{Action: "sts:AssumeRole", PrincipalType: "Service", Principal: podIdentityService, Context: context}
}

// Decision is what a trust policy says to a request.
type Decision struct {
	Allowed bool
	// Statement is the number of the statement that decides, from 1; 0 if none
	// comes near. Sid is its name, if it has one.
	Statement int
	Sid       string
	// Condition is the condition that decides, as "OPERATOR KEY"; empty if none does.
	Condition string
	// Reason says it in a sentence.
	Reason string
}

// Evaluate tells whether a trust policy lets somebody assume its role, and
// which condition decides. An explicit Deny wins. It knows the operators for
// strings, ARNs and booleans; a condition that it does not know lets nobody in,
// and keeps out whomever it is about.
func Evaluate(d Document, r Request) Decision {
	context := map[string][]string{}
	for key, values := range r.Context {
		context[strings.ToLower(key)] = values
	}
	nearest := Decision{Reason: "no statement trusts " + r.Principal}
	closest := 0
	var allowed *Decision
	for i, s := range d.statements {
		one := Decision{Statement: i + 1, Sid: s.sid}
		near, why, condition := s.applies(r, context)
		one.Condition = condition
		switch {
		case s.effect == "Deny" && near == full:
			one.Reason = fmt.Sprintf("%s denies it%s", one.name(), why)
			return one
		case s.effect == "Allow" && near == full && allowed == nil:
			one.Allowed, one.Reason = true, fmt.Sprintf("%s allows it%s", one.name(), why)
			allowed = &one
		case s.effect == "Allow" && near > closest:
			one.Reason = one.name() + " does not: " + why
			nearest, closest = one, near
		}
	}
	if allowed != nil {
		return *allowed
	}
	return nearest
}

func (d Decision) name() string {
	if d.Sid != "" {
		return fmt.Sprintf("statement %d (%s)", d.Statement, d.Sid)
	}
	return fmt.Sprintf("statement %d", d.Statement)
}

// How near a statement comes to a request.
const (
	aboutPrincipal = 1
	aboutAction    = 2
	full           = 3
)

// applies reports how near the statement comes, and what keeps it away, or,
// where it applies, which condition made it so.
func (s Statement) applies(r Request, context map[string][]string) (near int, why, deciding string) {
	if !s.hasPrincipal(r) {
		return 0, "", ""
	}
	if !s.hasAction(r.Action) {
		return aboutPrincipal, "it is not about " + r.Action, ""
	}
	for _, c := range s.conditions {
		met, because := c.holds(context)
		if !met && (s.effect == "Allow" || !c.unknown()) {
			return aboutAction, because, c.operator + " " + c.key
		}
		// The subject decides more than the audience does.
		if deciding == "" || strings.HasSuffix(strings.ToLower(c.key), ":sub") {
			deciding, why = c.operator+" "+c.key, ": "+because
		}
	}
	if len(s.unknown) > 0 && s.effect == "Allow" {
		return aboutAction, "its element " + s.unknown[0] + " is not known", ""
	}
	return full, why, deciding
}

func (s Statement) hasPrincipal(r Request) bool {
	if len(s.principals) == 0 {
		// NotPrincipal names everybody else; whom it spares cannot be told safely.
		return s.effect == "Deny" && len(s.notPrincipals) > 0 && !slices.Contains(s.notPrincipals[r.PrincipalType], r.Principal)
	}
	for kind, values := range s.principals {
		for _, v := range values {
			switch {
			case kind == "*", kind == "AWS" && v == "*":
				return true
			case kind != r.PrincipalType:
			case v == r.Principal, kind == "AWS" && sameAccount(v, r.Principal):
				return true
			}
		}
	}
	return false
}

// sameAccount reports whether a principal is the whole account of another.
func sameAccount(principal, of string) bool {
	arn, err := ParseARN(of)
	if err != nil {
		return false
	}
	if whole, err := ParseARN(principal); err == nil {
		return whole.Service == "iam" && whole.Resource == "root" && whole.AccountID == arn.AccountID
	}
	return principal == arn.AccountID
}

func (s Statement) hasAction(action string) bool {
	about := func(patterns []string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { return matches(strings.ToLower(p), strings.ToLower(action)) })
	}
	if len(s.notActions) > 0 {
		return !about(s.notActions)
	}
	return about(s.actions)
}
