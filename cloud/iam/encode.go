package iam

import (
	"encoding/json"
	"slices"
	"strings"
)

// clause is one statement of ours, in the order in which it is written.
type clause struct {
	principalType, principal string
	actions, resources       []string
	conditions               []condition
}

// statement writes the clause in its shortest form: elements in IAM's usual
// order, lists sorted, lists of one as the one.
func (c clause) statement() Statement {
	var b strings.Builder
	b.WriteString(`{"Effect":"Allow"`)
	if c.principal != "" {
		b.WriteString(`,"Principal":{` + quote(c.principalType) + ":" + quote(c.principal) + "}")
	}
	b.WriteString(`,"Action":` + list(c.actions))
	if len(c.resources) > 0 {
		b.WriteString(`,"Resource":` + list(c.resources))
	}
	if len(c.conditions) > 0 {
		b.WriteString(`,"Condition":{` + c.operators() + "}")
	}
	b.WriteByte('}')
	s, err := parseStatement(json.RawMessage(b.String()))
	if err != nil {
		panic("iam: a statement of our own does not parse: " + err.Error()) // cannot be: every part is quoted
	}
	return s
}

func (c clause) operators() string {
	conditions := slices.Clone(c.conditions)
	slices.SortFunc(conditions, func(a, b condition) int {
		return strings.Compare(a.operator+"\x00"+a.key, b.operator+"\x00"+b.key)
	})
	var b strings.Builder
	for i, one := range conditions {
		switch {
		case i == 0:
			b.WriteString(quote(one.operator) + ":{")
		case one.operator != conditions[i-1].operator:
			b.WriteString("}," + quote(one.operator) + ":{")
		default:
			b.WriteByte(',')
		}
		b.WriteString(quote(one.key) + ":" + list(one.values))
	}
	b.WriteByte('}')
	return b.String()
}

func list(values []string) string {
	values = slices.Compact(slices.Sorted(slices.Values(values)))
	if len(values) == 1 {
		return quote(values[0])
	}
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = quote(v)
	}
	return "[" + strings.Join(quoted, ",") + "]"
}
