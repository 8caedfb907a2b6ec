package admin

import "strconv"

// Literal is an input of an execution: a string, an integer or a boolean. The
// zero value is no literal.
type Literal struct {
	field string
	value any
}

// StringLiteral is a string.
func StringLiteral(s string) Literal { return Literal{"string_value", s} }

// IntegerLiteral is an integer.
func IntegerLiteral(n int64) Literal { return Literal{"integer", strconv.FormatInt(n, 10)} }

// BooleanLiteral is a boolean.
func BooleanLiteral(b bool) Literal { return Literal{"boolean", b} }

func (l Literal) body() map[string]any {
	return map[string]any{"scalar": map[string]any{"primitive": map[string]any{l.field: l.value}}}
}
