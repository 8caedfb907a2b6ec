package iam

import (
	"slices"

	"github.com/planewright/planewright"
)

// Merged is a document after a change.
type Merged struct {
	Document Document
	// Changed tells whether it says anything else than before.
	Changed bool
	// Diff is what changed, for a plan.
	Diff []planewright.FieldDiff
}

// MergeOption says how a trust policy is merged.
type MergeOption func(*merger)

// Replacing says which providers' statements are ours alone, by the provider's
// ARN: they are made to trust exactly whom the policy names, and are taken out
// if it does not name the provider. Without it subjects are only ever added.
func Replacing(owned func(providerARN string) bool) MergeOption {
	return func(m *merger) { m.owned = owned }
}

// MergeTrust returns the document with whom the policy trusts trusted too.
// Whoever is trusted already stays so, and statements that are not of the shape
// made here stay byte for byte. For each provider, subjects that another
// statement lets in are not added again; the rest goes into the statement of
// our shape for that provider, or into a new one. Merging again changes
// nothing, and the order of merges does not matter.
//
// An invalid policy is an error, and so is a changed document whose principals
// IAM would refuse to take back: a [*DeletedPrincipalError], unless
// [DroppingDeletedPrincipals] is among the options.
func (d Document) MergeTrust(t TrustPolicy, options ...MergeOption) (Merged, error) {
	if err := t.Validate(); err != nil && !t.IsZero() {
		return Merged{}, err
	}
	m := merger{trust: t, owned: func(string) bool { return false }, statements: slices.Clone(d.statements)}
	for _, option := range options {
		option(&m)
	}
	if m.dropDeleted {
		m.statements = withoutDeleted(m.statements)
	}
	m.drop()
	for _, g := range t.sorted() {
		m.bind(g)
	}
	for _, pod := range t.podIdentity {
		m.add(pod.clause().statement())
	}
	for _, name := range slices.Sorted(slices.Values(t.services)) {
		m.add(clause{principalType: "Service", principal: name, actions: []string{"sts:AssumeRole"}}.statement())
	}
	merged := d.with(m.statements)
	if deleted := merged.Document.DeletedPrincipals(); merged.Changed && len(deleted) > 0 {
		return Merged{}, &DeletedPrincipalError{Principals: deleted}
	}
	return merged, nil
}

// RemoveTrust returns the document without the subjects that the policy names,
// as far as they are in statements of our shape, and without the statements
// for services and Pod Identity that the policy would make. What others wrote stays.
func (d Document) RemoveTrust(t TrustPolicy) Merged {
	gone := map[string][]string{}
	for _, g := range t.grants {
		for _, s := range g.subjects {
			gone[g.provider.ARN()] = append(gone[g.provider.ARN()], s.String())
		}
	}
	var made []Statement
	for _, pod := range t.podIdentity {
		made = append(made, pod.clause().statement())
	}
	for _, name := range t.services {
		made = append(made, clause{principalType: "Service", principal: name, actions: []string{"sts:AssumeRole"}}.statement())
	}
	var left []Statement
	for _, s := range d.statements {
		if slices.ContainsFunc(made, s.equal) {
			continue
		}
		if b, ok := s.binding(); ok && b.audience == t.audienceOf() && len(gone[b.provider]) > 0 {
			rest := slices.DeleteFunc(slices.Clone(b.subjects), func(have string) bool { return slices.Contains(gone[b.provider], have) })
			if len(rest) == 0 {
				continue
			}
			if len(rest) < len(b.subjects) {
				provider, _ := ParseOIDCProvider(b.provider) // it was parsed from it
				b.subjects, b.like = canonical(rest, b.like)
				s = b.statement(provider)
			}
		}
		left = append(left, s)
	}
	return d.with(left)
}

// with returns the document with other statements.
func (d Document) with(statements []Statement) Merged {
	after := d
	after.statements = statements
	if after.version == "" && len(d.statements) == 0 {
		after.version = currentVersion
	}
	changed := len(statements) != len(d.statements)
	for i := 0; !changed && i < len(statements); i++ {
		changed = statements[i].raw != d.statements[i].raw
	}
	return Merged{Document: after, Changed: changed, Diff: d.Diff(after)}
}

type merger struct {
	trust      TrustPolicy
	owned      func(providerARN string) bool
	statements []Statement
	// dropDeleted takes out principals that no longer exist.
	dropDeleted bool
}

// ours returns where the statement of our shape for a provider is, and what it
// binds. Of several the first one counts.
func (m *merger) ours(arn string) (int, binding) {
	for i, s := range m.statements {
		if b, ok := s.binding(); ok && b.provider == arn && b.audience == m.trust.audienceOf() {
			return i, b
		}
	}
	return -1, binding{provider: arn, audience: m.trust.audienceOf()}
}

func (m *merger) bind(g grant) {
	at, have := m.ours(g.provider.ARN())
	want := have
	if m.owned(g.provider.ARN()) {
		want.subjects, want.like = nil, false
	}
	for _, s := range g.subjects {
		if want.covers(s.String()) || m.foreign(g.provider, s) {
			continue
		}
		want.subjects = append(slices.Clip(want.subjects), s.String())
		want.like = want.like || s.pattern
	}
	want.subjects, want.like = canonical(want.subjects, want.like)
	switch {
	case at >= 0 && len(want.subjects) == 0:
		m.statements = slices.Delete(m.statements, at, at+1)
	case len(want.subjects) == 0 || slices.Equal(want.subjects, have.subjects) && want.like == have.like:
	case at >= 0:
		m.statements[at] = want.statement(g.provider)
	default:
		m.insert(want.statement(g.provider))
	}
}

// foreign reports whether a statement that is not of our shape lets the subject in.
func (m *merger) foreign(provider OIDCProvider, s Subject) bool {
	others := slices.DeleteFunc(slices.Clone(m.statements), func(s Statement) bool { return s.binds() || s.effect == "Deny" })
	if len(others) == 0 || s.pattern {
		return false
	}
	request := WebIdentityRequest(provider, s)
	request.Context[provider.audKey()] = []string{m.trust.audienceOf()}
	return Evaluate(Document{statements: others}, request).Allowed
}

// drop takes out of what is ours alone the statements for providers that the
// policy does not name, and for those that it names all but the first with the
// policy's audience: what an earlier policy has left.
func (m *merger) drop() {
	kept := map[string]bool{}
	m.statements = slices.DeleteFunc(m.statements, func(s Statement) bool {
		b, ok := s.binding()
		if !ok || !m.owned(b.provider) {
			return false
		}
		named := slices.ContainsFunc(m.trust.grants, func(g grant) bool { return g.provider.ARN() == b.provider })
		if !named || b.audience != m.trust.audienceOf() || kept[b.provider] {
			return true
		}
		kept[b.provider] = true
		return false
	})
}

// insert puts a statement among those of our shape at the end, sorted by
// provider, so that it does not matter in which order they came.
func (m *merger) insert(s Statement) {
	at := len(m.statements)
	own, _ := s.binding()
	for at > 0 {
		b, ok := m.statements[at-1].binding()
		if !ok || b.provider < own.provider {
			break
		}
		at--
	}
	m.statements = slices.Insert(m.statements, at, s)
}

// add adds a statement for a service, unless there is one that says the same,
// or the same without conditions.
func (m *merger) add(s Statement) {
	unrestricted := s
	unrestricted.conditions = nil
	unrestricted.elements = slices.DeleteFunc(slices.Clone(s.elements), func(name string) bool { return name == "Condition" })
	for _, have := range m.statements {
		if have.equal(s) || have.equal(unrestricted) {
			return
		}
	}
	// Sorted among their kind, before the bindings: order of merges does not matter.
	at := len(m.statements)
	for at > 0 && m.statements[at-1].binds() {
		at--
	}
	for at > 0 && m.statements[at-1].service() && m.statements[at-1].raw > s.raw {
		at--
	}
	m.statements = slices.Insert(m.statements, at, s)
}

// service reports whether a statement is of the shape that add adds.
func (s Statement) service() bool {
	return s.effect == "Allow" && len(s.principals) == 1 && len(s.principals["Service"]) == 1
}
