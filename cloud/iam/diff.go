package iam

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright"
)

// Diff tells what a document says that another does not, for a plan: the
// subjects of each cluster one by one, other statements as they are written.
func (d Document) Diff(after Document) []planewright.FieldDiff {
	var diff []planewright.FieldDiff
	if d.version != after.version && len(d.statements) > 0 {
		diff = append(diff, planewright.FieldDiff{Path: "Version", Before: d.version, After: after.version})
	}
	before, now := d.trusted(), after.trusted()
	for _, path := range sortedKeys(before, now) {
		if before[path] != now[path] {
			diff = append(diff, planewright.FieldDiff{Path: path, Before: before[path], After: now[path]})
		}
	}
	gone, come := d.others(), after.others()
	for i, s := range gone {
		if !contains(come, s) {
			diff = append(diff, planewright.FieldDiff{Path: s.path(i), Before: s.raw})
		}
	}
	for i, s := range come {
		if !contains(gone, s) {
			diff = append(diff, planewright.FieldDiff{Path: s.path(i), After: s.raw})
		}
	}
	return diff
}

// contains looks for a statement that says the same, first among those that
// are written the same.
func contains(statements []Statement, s Statement) bool {
	return slices.ContainsFunc(statements, func(have Statement) bool { return have.raw == s.raw }) || slices.ContainsFunc(statements, s.equal)
}

// trusted are the subjects that bindings let in, and how they are matched.
func (d Document) trusted() map[string]string {
	trusted := map[string]string{}
	for _, s := range d.statements {
		if b, ok := s.binding(); ok {
			operator := "StringEquals"
			if b.like {
				operator = "StringLike"
			}
			provider, _ := ParseOIDCProvider(b.provider) // it was parsed from it
			audience := ""
			if b.audience != DefaultAudience {
				audience = " for " + b.audience
			}
			for _, subject := range b.subjects {
				trusted[fmt.Sprintf("trust[%s][%s]%s", provider.ID(), strings.TrimPrefix(subject, subjectPrefix), audience)] = operator
			}
		}
	}
	return trusted
}

// others are the statements that are no bindings.
func (d Document) others() []Statement {
	return slices.DeleteFunc(slices.Clone(d.statements), Statement.binds)
}

func (s Statement) path(i int) string {
	if s.sid != "" {
		return "Statement[" + s.sid + "]"
	}
	return fmt.Sprintf("Statement[%d]", i)
}

func sortedKeys(maps ...map[string]string) []string {
	var keys []string
	for _, m := range maps {
		for key := range m {
			keys = append(keys, key)
		}
	}
	return set(keys)
}
