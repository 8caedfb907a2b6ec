package iam

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright"
)

// The codes of the findings about documents. They are stable.
const (
	// CodeForeignKey: a condition key belongs to another provider than the principal, so it never matches.
	CodeForeignKey = "trust-key-of-other-provider"
	// CodeNoAudience: tokens that were made for somebody else are let in.
	CodeNoAudience = "trust-without-audience"
	// CodeAudience: an audience that no token of EKS has.
	CodeAudience = "trust-audience"
	// CodeNoSubject: every ServiceAccount of the cluster is let in.
	CodeNoSubject = "trust-without-subject"
	// CodeLiteralWildcard: a wildcard that stands for itself.
	CodeLiteralWildcard = "trust-literal-wildcard"
	// CodeTooWide: a pattern that covers every namespace.
	CodeTooWide = "trust-too-wide"
	// CodeSetOperator: ForAllValues or ForAnyValue on a key with one value, or an IfExists, which hold where the key is absent.
	CodeSetOperator = "trust-set-operator"
	// CodeDeletedPrincipal: a principal that no longer exists.
	CodeDeletedPrincipal = "trust-deleted-principal"
	// CodeKeptOut: a statement of somebody else keeps out whom the policy trusts.
	CodeKeptOut = "trust-kept-out"
	// CodeOldLanguage: the document has no version, so it is read as that of 2008.
	CodeOldLanguage = "policy-language-2008"
)

// Findings tells what is wrong in a trust policy, whoever wrote it: conditions
// that never match, and such as let in more than is meant. Trust in a service
// of AWS, EKS Pod Identity's among them, is not too open.
func (d Document) Findings() []planewright.Finding {
	var findings []planewright.Finding
	if d.languageVersion() != currentVersion && len(d.statements) > 0 {
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityInfo, Code: CodeOldLanguage,
			Cause: "the document is in the policy language of 2008, in which variables are plain text", Fix: "set its Version to " + currentVersion + " if no statement relies on that"})
	}
	for i, s := range d.statements {
		look := statementLook{statement: s, name: Decision{Statement: i + 1, Sid: s.sid}.name()}
		look.federated()
		look.deleted()
		findings = append(findings, look.found...)
	}
	return findings
}

// FindingsFor tells whom a policy trusts and the document keeps out all the
// same, by a Deny of somebody else. A pattern is tried on one ServiceAccount
// that it matches.
func (d Document) FindingsFor(t TrustPolicy) []planewright.Finding {
	var findings []planewright.Finding
	sample := strings.NewReplacer("*", "x", "?", "x")
	for _, g := range t.sorted() {
		for _, s := range g.subjects {
			one := ServiceAccount(sample.Replace(s.namespace), sample.Replace(s.name))
			request := WebIdentityRequest(g.provider, one)
			request.Context[g.provider.audKey()] = []string{t.audienceOf()}
			if decision := Evaluate(d, request); !decision.Allowed {
				findings = append(findings, planewright.Finding{Severity: planewright.SeverityWarning, Code: CodeKeptOut,
					Cause: fmt.Sprintf("%s of %s may not assume the role: %s", one, g.provider.ID(), decision.Reason), Fix: "have that statement leave it out"})
			}
		}
	}
	return findings
}

type statementLook struct {
	statement Statement
	name      string
	found     []planewright.Finding
}

func (l *statementLook) warn(code, cause, fix string) {
	l.found = append(l.found, planewright.Finding{Severity: planewright.SeverityWarning, Code: code, Cause: l.name + ": " + cause, Fix: fix})
}

func (l *statementLook) federated() {
	s := l.statement
	var providers []OIDCProvider
	for _, arn := range s.principals["Federated"] {
		if p, err := ParseOIDCProvider(arn); err == nil {
			providers = append(providers, p)
		}
	}
	if s.effect != "Allow" || len(providers) == 0 || !s.hasAction(webIdentityAction) {
		return
	}
	aud, sub := false, false
	for _, c := range s.conditions {
		suffix := c.key[strings.LastIndex(c.key, ":")+1:]
		isAud, isSub := strings.EqualFold(suffix, "aud"), strings.EqualFold(suffix, "sub")
		if !isAud && !isSub {
			continue
		}
		if !slices.ContainsFunc(providers, func(p OIDCProvider) bool {
			return strings.EqualFold(c.key, p.audKey()) || strings.EqualFold(c.key, p.subKey())
		}) {
			l.warn(CodeForeignKey, fmt.Sprintf("the key %s is not of the provider %s, so the condition never holds", c.key, providers[0].ID()),
				"use "+providers[0].ID()+":"+strings.ToLower(suffix))
			aud, sub = aud || isAud, sub || isSub
			continue
		}
		l.operator(c)
		if isAud {
			aud = true
			l.audience(c)
		} else {
			sub = true
			l.subjects(c)
		}
	}
	if !aud {
		l.warn(CodeNoAudience, "no audience is asked for, so tokens that the cluster made for others are let in", "ask for "+DefaultAudience+" by StringEquals on "+providers[0].audKey())
	}
	if !sub {
		l.warn(CodeNoSubject, "no subject is asked for, so every ServiceAccount of the cluster is let in", "name the subjects on "+providers[0].subKey())
	}
}

func (l *statementLook) operator(c condition) {
	if o := c.parts(); o.forAll || o.forAny || o.ifExists {
		l.warn(CodeSetOperator, fmt.Sprintf("%s on %s is for keys with several values, or with none; this key has one, and %s", c.operator, c.key,
			map[bool]string{true: "a token without it would be let in", false: "the plain operator says the same"}[o.forAll || o.ifExists]), "use StringEquals or StringLike")
	}
}

func (l *statementLook) audience(c condition) {
	for _, v := range c.values {
		if v == "sts.amazonaws.com.cn" {
			l.warn(CodeAudience, "the audience "+v+" is that of no token: EKS's is "+DefaultAudience+" in China too", "use "+DefaultAudience)
		}
	}
}

func (l *statementLook) subjects(c condition) {
	for _, v := range c.values {
		wild := strings.ContainsAny(v, "*?")
		like := strings.Contains(c.operator, "Like")
		switch {
		case wild && !like:
			l.warn(CodeLiteralWildcard, fmt.Sprintf("the wildcard in %s stands for itself under %s, so it never matches", v, c.operator), "use StringLike, or name the subjects")
		case wild && (matches(v, subjectPrefix+"kube-system:default") && matches(v, subjectPrefix+"x:default") || matches(v, subjectPrefix+"kube-system:x") && matches(v, subjectPrefix+"y:z")):
			l.warn(CodeTooWide, v+" covers every namespace, kube-system and any that somebody makes included", "narrow it to the namespaces that are meant")
		}
	}
}

func (l *statementLook) deleted() {
	for _, p := range (Document{statements: []Statement{l.statement}}).DeletedPrincipals() {
		l.warn(CodeDeletedPrincipal, "the principal "+p.ID+" no longer exists; IAM takes no document that names it", "take it out of the statement")
	}
}
