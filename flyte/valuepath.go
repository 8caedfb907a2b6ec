package flyte

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// valuePath is the way to a value: the keys of maps, and the indexes of lists as "[0]".
type valuePath []string

// plainKey is a key that needs no quotes in a printed path.
var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// String prints the path as a person would write it:
// `ingress.commonAnnotations["kubernetes.io/x"]`, `spec.containers[0].name`.
func (p valuePath) String() string {
	var b strings.Builder
	for i, key := range p {
		switch {
		case strings.HasPrefix(key, "["):
			b.WriteString(key)
		case !plainKey.MatchString(key):
			b.WriteString("[" + strconv.Quote(key) + "]")
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(key)
		}
	}
	return b.String()
}

// child returns the path one key further.
func (p valuePath) child(key string) valuePath { return append(slices.Clip(p), key) }

// within reports whether the path is at or below the other.
func (p valuePath) within(above valuePath) bool {
	return len(p) >= len(above) && slices.Equal(p[:len(above)], above)
}

// splitPath parses a path of plain keys: "configuration.database.host".
func splitPath(path string) valuePath { return strings.Split(path, ".") }

// leaf is one value that is no map and no list with something in it.
type leaf struct {
	path  valuePath
	value any
}

// leaves returns the leaves of a value, in the order of their keys.
func leaves(value any) []leaf { return appendLeaves(nil, nil, value) }

func appendLeaves(list []leaf, path valuePath, value any) []leaf {
	if m, ok := asMap(value); ok && len(m) > 0 {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			list = appendLeaves(list, path.child(key), m[key])
		}
		return list
	}
	if items, ok := value.([]any); ok && len(items) > 0 {
		for i, item := range items {
			list = appendLeaves(list, path.child("["+strconv.Itoa(i)+"]"), item)
		}
		return list
	}
	return append(list, leaf{path, value})
}
