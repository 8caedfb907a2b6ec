package iam

import (
	"slices"
	"strings"
)

// binding is what a statement says that trusts ServiceAccounts of one cluster
// and does nothing else: the statements made here, by eksctl and by most guides.
type binding struct {
	// provider is the ARN of the OIDC provider.
	provider, audience string
	// subjects are sorted. If like is set they are patterns.
	subjects []string
	like     bool
}

const webIdentityAction = "sts:AssumeRoleWithWebIdentity"

// binding returns what the statement binds, if that is all it does.
func (s Statement) binding() (binding, bool) {
	if s.bound == nil {
		return binding{}, false
	}
	return *s.bound, true
}

// Binds reports whether a statement of the shape made here is for the provider:
// whether somebody, here or elsewhere, has bound ServiceAccounts of its cluster.
func (d Document) Binds(provider OIDCProvider) bool {
	return slices.ContainsFunc(d.statements, func(s Statement) bool { return s.binds() && s.bound.provider == provider.ARN() })
}

// binds reports whether the statement is a binding.
func (s Statement) binds() bool { return s.bound != nil }

// findBinding looks for the shape. A statement with a name is somebody's; one
// with further conditions says something that would be lost.
func (s Statement) findBinding() (binding, bool) {
	if !slices.Equal(s.withoutEmptySid(), []string{"Action", "Condition", "Effect", "Principal"}) || s.effect != "Allow" ||
		len(s.actions) != 1 || !strings.EqualFold(s.actions[0], webIdentityAction) ||
		len(s.principals) != 1 || len(s.principals["Federated"]) != 1 || len(s.conditions) != 2 {
		return binding{}, false
	}
	provider, err := ParseOIDCProvider(s.principals["Federated"][0])
	if err != nil {
		return binding{}, false
	}
	b := binding{provider: provider.ARN()}
	for _, c := range s.conditions {
		if c.operator != "StringEquals" && c.operator != "StringLike" {
			return binding{}, false
		}
		like := c.operator == "StringLike"
		switch {
		case strings.EqualFold(c.key, provider.audKey()) && len(c.values) == 1 && !strings.ContainsAny(c.values[0], "*?"):
			b.audience = c.values[0]
		case strings.EqualFold(c.key, provider.subKey()) && len(c.values) > 0:
			b.subjects, b.like = canonical(c.values, like)
			if !like && strings.ContainsAny(strings.Join(c.values, ""), "*?") {
				return binding{}, false // it never matches; to widen it is not ours
			}
		default:
			return binding{}, false
		}
	}
	return b, b.audience != "" && len(b.subjects) > 0
}

// withoutEmptySid are the statement's elements, but for a name that is none.
func (s Statement) withoutEmptySid() []string {
	if s.sid != "" {
		return s.elements
	}
	return slices.DeleteFunc(slices.Clone(s.elements), func(name string) bool { return name == "Sid" })
}

// statement writes the binding.
func (b binding) statement(provider OIDCProvider) Statement {
	operator := "StringEquals"
	if b.like {
		operator = "StringLike"
	}
	return clause{
		principalType: "Federated", principal: provider.ARN(), actions: []string{webIdentityAction},
		conditions: []condition{
			{"StringEquals", provider.audKey(), []string{b.audience}},
			{operator, provider.subKey(), b.subjects},
		},
	}.statement()
}

// covers reports whether whoever a subject stands for is bound.
func (b binding) covers(subject string) bool {
	return slices.ContainsFunc(b.subjects, func(have string) bool {
		return have == subject || b.like && patternCovers(have, subject)
	})
}

// canonical sorts subjects, and leaves out those that a pattern among them
// covers, so that it does not matter in which order they came.
func canonical(subjects []string, like bool) ([]string, bool) {
	subjects = slices.Compact(slices.Sorted(slices.Values(subjects)))
	if !like {
		return subjects, false
	}
	kept := slices.DeleteFunc(slices.Clone(subjects), func(s string) bool {
		return slices.ContainsFunc(subjects, func(pattern string) bool {
			// Of two patterns that cover each other the first stays.
			return pattern != s && patternCovers(pattern, s) && (!patternCovers(s, pattern) || pattern < s)
		})
	})
	return kept, slices.ContainsFunc(kept, func(s string) bool { return strings.ContainsAny(s, "*?") })
}

// patternCovers reports whether all that a pattern b stands for, a stands for
// too. It is told from the texts: '*' of a stands for anything of b, '?' for
// one character that is no '*'. It may miss a case, and never claims one.
func patternCovers(a, b string) bool {
	return glob(a, b, func(pattern, char byte) bool { return pattern == char && char != '*' || pattern == '?' && char != '*' })
}

// matches reports whether a text matches a pattern of '*' and '?', as
// StringLike and ArnLike have it.
func matches(pattern, text string) bool {
	return glob(pattern, text, func(pattern, char byte) bool { return pattern == '?' || pattern == char })
}

// glob matches in linear time and no memory: of all stars only the last needs
// to be tried again.
func glob(pattern, text string, same func(pattern, char byte) bool) bool {
	p, t, star, mark := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p < len(pattern) && same(pattern[p], text[t]):
			p++
			t++
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
