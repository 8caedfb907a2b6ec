package eks

import "strings"

// idPart makes a name fit into the id of a step: lower case, and a hyphen for
// what is neither letter nor digit.
func idPart(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '-'
	}, name)
}

// fileOf is the file that a step renders: its id without the stack's part.
func fileOf(id, ending string) string {
	parts := strings.SplitN(id, "/", 3)
	return parts[len(parts)-1] + "." + ending
}
