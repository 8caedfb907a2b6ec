package iam

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Equal reports whether two documents say the same, however they are written:
// in whatever order, with single values or lists, an account by its id or its
// root's ARN, actions in capitals. It fails closed: a statement with an
// element that is not known here equals only one that is written the same.
func (d Document) Equal(other Document) bool {
	if d.languageVersion() != other.languageVersion() || len(d.statements) != len(other.statements) {
		return false
	}
	return slices.Equal(d.forms(), other.forms())
}

// languageVersion is what IAM reads a document as.
func (d Document) languageVersion() string {
	if d.version == "" {
		return "2008-10-17"
	}
	return d.version
}

func (d Document) forms() []string {
	forms := make([]string, len(d.statements))
	for i, s := range d.statements {
		forms[i] = s.form()
	}
	slices.Sort(forms)
	return forms
}

func (s Statement) equal(other Statement) bool { return s.raw == other.raw || s.form() == other.form() }

// form is a text that is the same for all statements that say the same.
func (s Statement) form() string {
	if len(s.unknown) > 0 {
		var b bytes.Buffer
		if json.Compact(&b, []byte(s.raw)) != nil {
			return s.raw
		}
		return b.String()
	}
	var b strings.Builder
	part := func(name string, values []string) {
		b.WriteString(name)
		for _, v := range values {
			b.WriteString(" " + quote(v))
		}
		b.WriteByte('\n')
	}
	part("Sid", []string{s.sid})
	part("Effect", []string{s.effect})
	part("Principal", principalForms(s.principals))
	part("NotPrincipal", principalForms(s.notPrincipals))
	part("Action", lower(s.actions))
	part("NotAction", lower(s.notActions))
	part("Resource", set(s.resources))
	part("NotResource", set(s.notResources))
	// An element that is there and empty is not one that is absent, but for conditions.
	part("elements", slices.DeleteFunc(s.withoutEmptySid(), func(name string) bool { return name == "Condition" }))
	var conditions []string
	for _, c := range s.conditions {
		conditions = append(conditions, c.operator+" "+strings.ToLower(c.key)+" "+strings.Join(quoted(set(c.values)), ","))
	}
	// Doubles stay: two spellings of one key are two conditions.
	part("Condition", slices.Sorted(slices.Values(conditions)))
	return b.String()
}

func set(values []string) []string { return slices.Compact(slices.Sorted(slices.Values(values))) }

func lower(values []string) []string {
	lowered := make([]string, len(values))
	for i, v := range values {
		lowered[i] = strings.ToLower(v)
	}
	return set(lowered)
}

func quoted(values []string) []string {
	q := make([]string, len(values))
	for i, v := range values {
		q[i] = quote(v)
	}
	return q
}

// principalForms lists principals as type and value. Anybody may be written as
// "*" or as {"AWS": "*"}; an account as its id or the ARN of its root.
func principalForms(principals map[string][]string) []string {
	var forms []string
	for _, kind := range slices.Sorted(maps.Keys(principals)) {
		for _, value := range principals[kind] {
			form := kind + ":" + value
			if kind == "*" {
				form = "AWS:*"
			}
			if kind == "AWS" {
				if arn, err := ParseARN(value); err == nil && arn.Service == "iam" && arn.Resource == "root" {
					form = "AWS:" + arn.AccountID
				}
			}
			forms = append(forms, form)
		}
		if len(principals[kind]) == 0 {
			forms = append(forms, kind+":") // nobody of this type
		}
	}
	return set(forms)
}
