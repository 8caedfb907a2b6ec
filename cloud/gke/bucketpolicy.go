package gke

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/api/storage/v1"
)

// The roles that are granted here.
// https://cloud.google.com/storage/docs/access-control/iam-roles
const (
	roleBucket = "roles/storage.legacyBucketReader" // to look at the bucket itself
	roleRead   = "roles/storage.objectViewer"
	roleWrite  = "roles/storage.objectAdmin"
	// prefixTitle is the title of conditions that are made here.
	prefixTitle = "planewright-prefix"
)

// grant is a role in a bucket, for the whole of it or, by an expression, for a part.
type grant struct{ role, expression string }

func (g grant) String() string {
	if g.expression == "" {
		return g.role
	}
	return g.role + " if " + g.expression
}

func (g grant) condition() *storage.Expr {
	if g.expression == "" {
		return nil
	}
	return &storage.Expr{Title: prefixTitle, Expression: g.expression}
}

// grantOf is the grant of a binding, and whether it is such as are made here.
func grantOf(b *storage.PolicyBindings) (grant, bool) {
	if b.Role != roleBucket && b.Role != roleRead && b.Role != roleWrite {
		return grant{}, false
	}
	if b.Condition == nil {
		return grant{role: b.Role}, true
	}
	return grant{b.Role, b.Condition.Expression}, b.Condition.Title == prefixTitle
}

// wanted are the grants of the accesses, each once.
func (s grantStep) wanted() []grant {
	grants := []grant{{role: roleBucket}}
	for _, access := range s.accesses {
		g := grant{role: roleWrite}
		if access.ReadOnly {
			g.role = roleRead
		}
		if access.Prefix != "" {
			g.expression = fmt.Sprintf("resource.name.startsWith(%q)", "projects/_/buckets/"+s.bucket+"/objects/"+access.Prefix)
		}
		if !slices.Contains(grants, g) {
			grants = append(grants, g)
		}
	}
	return grants
}

func (s grantStep) member() string { return "serviceAccount:" + s.email(s.name) }

// means reports whether a member is the service account: as it is, or as
// policies call it after it was deleted.
func (s grantStep) means(member string) bool {
	return member == s.member() || strings.HasPrefix(member, "deleted:"+s.member()+"?uid=")
}

// has reports whether a policy has a grant.
func (s grantStep) has(policy *storage.Policy, g grant) bool {
	return slices.ContainsFunc(policy.Bindings, func(b *storage.PolicyBindings) bool {
		have, ours := grantOf(b)
		return ours && have == g && slices.Contains(b.Members, s.member())
	})
}

// surplus are the members that mean the service account in grants that are not
// wanted, or that mean one of its name which was deleted.
func (s grantStep) surplus(policy *storage.Policy, wanted []grant) []grant {
	var found []grant
	for _, b := range policy.Bindings {
		g, ours := grantOf(b)
		if ours && slices.ContainsFunc(b.Members, func(m string) bool { return s.means(m) && (m != s.member() || !slices.Contains(wanted, g)) }) {
			found = append(found, g)
		}
	}
	return found
}

// change adds grants and takes all others of those made here, if exactly is
// set. It reports whether it changed anything.
func (s grantStep) change(policy *storage.Policy, wanted []grant, exactly bool) bool {
	changed := false
	for _, g := range wanted {
		if s.has(policy, g) {
			continue
		}
		changed = true
		i := slices.IndexFunc(policy.Bindings, func(b *storage.PolicyBindings) bool {
			have, ours := grantOf(b)
			return ours && have == g
		})
		if i < 0 {
			i = len(policy.Bindings)
			policy.Bindings = append(policy.Bindings, &storage.PolicyBindings{Role: g.role, Condition: g.condition()})
		}
		policy.Bindings[i].Members = append(policy.Bindings[i].Members, s.member())
	}
	if !exactly || len(s.surplus(policy, wanted)) == 0 {
		return changed
	}
	for _, b := range policy.Bindings {
		if g, ours := grantOf(b); ours {
			b.Members = slices.DeleteFunc(b.Members, func(m string) bool { return s.means(m) && (m != s.member() || !slices.Contains(wanted, g)) })
		}
	}
	policy.Bindings = slices.DeleteFunc(policy.Bindings, isEmpty)
	return true
}

// withdraw takes the service account out of some grants.
func (s grantStep) withdraw(policy *storage.Policy, gone []grant) bool {
	changed := false
	for _, b := range policy.Bindings {
		if g, ours := grantOf(b); ours && slices.Contains(gone, g) && slices.ContainsFunc(b.Members, s.means) {
			b.Members, changed = slices.DeleteFunc(b.Members, s.means), true
		}
	}
	policy.Bindings = slices.DeleteFunc(policy.Bindings, isEmpty)
	return changed
}

// isEmpty reports whether a binding such as are made here has no member left.
func isEmpty(b *storage.PolicyBindings) bool {
	_, ours := grantOf(b)
	return ours && len(b.Members) == 0
}
