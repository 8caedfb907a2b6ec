package adminfake

import (
	"net/http"
	"strings"
)

// Match selects calls. It is a value: its methods return changed copies.
type Match struct{ operation, method, path string }

// Operation selects the calls of an operation by flyteadmin's name:
// "UpdateProjectDomainAttributes". "write" is any call that is meant to change
// something, "read" any other; "" is all.
func Operation(name string) Match { return Match{operation: name} }

// Path selects the calls to a path: "/api/v1/projects". "*" stands for any run
// of characters.
func Path(pattern string) Match { return Match{path: pattern} }

// On restricts the match to a path, as [Path] does.
func (m Match) On(pattern string) Match { m.path = pattern; return m }

// Method restricts the match to a method: "GET".
func (m Match) Method(method string) Match { m.method = method; return m }

// String prints the match the way a call is printed.
func (m Match) String() string {
	parts := []string{"any call"}
	if m.operation != "" {
		parts[0] = m.operation
	}
	for _, part := range []string{m.method, m.path} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " ")
}

func (m Match) matches(c Call) bool {
	return m.matchesOperation(c) && (m.method == "" || m.method == c.Method) && (m.path == "" || glob(m.path, c.Path))
}

func (m Match) matchesOperation(c Call) bool {
	write := c.Method != http.MethodGet && c.Operation != "Token"
	switch m.operation {
	case "":
		return true
	case "write":
		return write
	case "read":
		return !write
	}
	return m.operation == c.Operation
}

// glob reports whether the text matches a pattern in which * stands for any
// run of characters.
func glob(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	first, last := parts[0], parts[len(parts)-1]
	if !strings.HasPrefix(text, first) || len(text) < len(first)+len(last) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return true
}
