package kubefake

import "strings"

// Match selects calls. It is a value: its methods return changed copies.
type Match struct {
	verb, cluster, kind, name string
}

// Call selects the calls of a verb: get, list, watch, create, update, patch,
// apply, delete, deletecollection, discover. "patch" takes in apply; "write"
// is any verb that is meant to persist something, "read" any other; "" is all.
func Call(verb string) Match { return Match{verb: verb} }

// On selects the calls on one cluster.
func (m Match) On(cluster string) Match { m.cluster = cluster; return m }

// Kind selects the calls about objects of a kind ("Secret"), or about a
// subresource of theirs ("Deployment/status").
func (m Match) Kind(kind string) Match { m.kind = kind; return m }

// Named selects the calls about one object: "flyte/db", or "dp-1" for what
// is not in a namespace. "*" stands for any run of characters.
func (m Match) Named(name string) Match { m.name = name; return m }

// String prints the match the way a call is printed.
func (m Match) String() string {
	s := m.verb
	if s == "" {
		s = "any call"
	}
	for _, part := range []string{m.kind, m.name} {
		if part != "" {
			s += " " + part
		}
	}
	if m.cluster != "" {
		s += " on " + m.cluster
	}
	return s
}

func (m Match) matches(c CallRecord) bool {
	return m.matchesVerb(c) &&
		(m.cluster == "" || m.cluster == c.Cluster) &&
		(m.kind == "" || m.kind == c.kind() || m.kind == c.Kind && c.Subresource == "") &&
		(m.name == "" || glob(m.name, c.qualifiedName()))
}

func (m Match) matchesVerb(c CallRecord) bool {
	switch m.verb {
	case "":
		return true
	case "write":
		return isWrite(c)
	case "read":
		return !isWrite(c)
	case "patch":
		return c.Verb == "patch" || c.Verb == "apply"
	}
	return m.verb == c.Verb
}

// isWrite reports whether a call is meant to persist something.
func isWrite(c CallRecord) bool {
	if c.DryRun || strings.HasSuffix(c.Kind, "Review") || c.Subresource == "token" {
		return false
	}
	switch c.Verb {
	case "create", "update", "patch", "apply", "delete", "deletecollection":
		return true
	}
	return false
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
