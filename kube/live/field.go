package live

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"sigs.k8s.io/yaml"
)

// maxText is how much of a value a diff shows.
const maxText = 160

// fieldDiffs compares two objects field by field, sorted by path. Before is nil
// for an object to be created. What a Secret holds is marked and not shown.
func fieldDiffs(before, after map[string]any, ref kube.Ref) []planewright.FieldDiff {
	d := differ{secret: secretFieldsOf(ref)}
	var b any
	if before != nil {
		b = before
	}
	d.compare("", b, after)
	slices.SortFunc(d.found, func(a, b planewright.FieldDiff) int { return strings.Compare(a.Path, b.Path) })
	return d.found
}

// secretFieldsOf tells which fields of an object must not be shown.
func secretFieldsOf(ref kube.Ref) func(path string) bool {
	if ref.Kind == "Secret" && ref.APIVersion == "v1" {
		return isSecretField
	}
	return func(string) bool { return false }
}

// isSecretField reports whether a path leads to what a Secret keeps secret,
// which kubectl copies into an annotation.
func isSecretField(path string) bool {
	for _, prefix := range []string{"data", "stringData", `metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]`} {
		if rest, ok := strings.CutPrefix(path, prefix); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

type differ struct {
	secret func(path string) bool
	found  []planewright.FieldDiff
}

// compare notes how before becomes after. nil means that it is not there.
func (d *differ) compare(path string, before, after any) {
	if before == nil && after == nil || reflect.DeepEqual(before, after) {
		return
	}
	bm, bIsMap := before.(map[string]any)
	am, aIsMap := after.(map[string]any)
	if (bIsMap || before == nil) && (aIsMap || after == nil) && len(bm)+len(am) > 0 {
		for _, k := range keys(bm, am) {
			d.compare(join(path, k), bm[k], am[k])
		}
		return
	}
	bl, bIsList := before.([]any)
	al, aIsList := after.([]any)
	if (bIsList || before == nil) && (aIsList || after == nil) && len(bl)+len(al) > 0 {
		d.compareLists(path, bl, al)
		return
	}
	d.add(path, before, after)
}

func (d *differ) compareLists(path string, before, after []any) {
	bn, bNamed := byName(before)
	an, aNamed := byName(after)
	if !bNamed || !aNamed {
		for i := range max(len(before), len(after)) {
			var b, a any
			if i < len(before) {
				b = before[i]
			}
			if i < len(after) {
				a = after[i]
			}
			d.compare(path+"["+strconv.Itoa(i)+"]", b, a)
		}
		return
	}
	for _, name := range keys(bn, an) {
		d.compare(path+"[name="+name+"]", bn[name], an[name])
	}
	if len(bn) == len(an) && len(keys(bn, an)) == len(an) {
		if b, a := order(before), order(after); b != a {
			d.found = append(d.found, planewright.FieldDiff{Path: path + " (order)", Before: b, After: a})
		}
	}
}

// compareYAML compares two texts by what they mean, if both are YAML maps, as
// the configuration files in ConfigMaps are. It tells whether it found a difference.
func (d *differ) compareYAML(path string, before, after any) bool {
	b, bIsText := before.(string)
	a, aIsText := after.(string)
	if !bIsText || !aIsText || !strings.Contains(b, "\n") || !strings.Contains(a, "\n") {
		return false
	}
	var bm, am map[string]any
	if yaml.Unmarshal([]byte(b), &bm) != nil || yaml.Unmarshal([]byte(a), &am) != nil || len(bm) == 0 || len(am) == 0 {
		return false
	}
	found := len(d.found)
	d.compare(path, bm, am)
	return len(d.found) > found
}

func (d *differ) add(path string, before, after any) {
	if !d.secret(path) && d.compareYAML(path, before, after) {
		return
	}
	f := planewright.FieldDiff{Path: path}
	if d.secret(path) {
		f.Secret = true
	} else {
		f.Before, f.After = texts(before, after)
	}
	d.found = append(d.found, f)
}

// byName keys a list by its elements' names, if each has one of its own.
func byName(list []any) (map[string]any, bool) {
	named := make(map[string]any, len(list))
	for _, item := range list {
		m, ok := item.(map[string]any)
		if !ok {
			return nil, false
		}
		name, ok := m["name"].(string)
		if _, twice := named[name]; !ok || twice {
			return nil, false
		}
		named[name] = m
	}
	return named, true
}

func order(list []any) string {
	var names []string
	for _, item := range list {
		names = append(names, item.(map[string]any)["name"].(string))
	}
	return strings.Join(names, ", ")
}

func keys(a, b map[string]any) []string {
	all := make([]string, 0, len(a)+len(b))
	for k := range a {
		all = append(all, k)
	}
	for k := range b {
		if _, both := a[k]; !both {
			all = append(all, k)
		}
	}
	slices.Sort(all)
	return all
}

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// join appends a key to a path: "metadata.labels", `metadata.labels["app.kubernetes.io/name"]`.
func join(path, key string) string {
	if !plainKey.MatchString(key) {
		return path + "[" + strconv.Quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// texts shows two values of a field. Of texts of many lines it shows where they
// begin to differ.
func texts(before, after any) (string, string) {
	b, bIsText := before.(string)
	a, aIsText := after.(string)
	if !bIsText || !aIsText || !strings.Contains(b+a, "\n") {
		return text(before), text(after)
	}
	bl, al := strings.Split(b, "\n"), strings.Split(a, "\n")
	first := 0
	for first < min(len(bl), len(al)) && bl[first] == al[first] {
		first++
	}
	last := 0
	for last < min(len(bl), len(al))-first && bl[len(bl)-1-last] == al[len(al)-1-last] {
		last++
	}
	return lines(bl, first, len(bl)-last), lines(al, first, len(al)-last)
}

func lines(all []string, from, to int) string {
	if from >= to {
		return fmt.Sprintf("line %d: (nothing)", from+1)
	}
	t := fmt.Sprintf("line %d: %s", from+1, strings.TrimSpace(all[from]))
	if more := to - from - 1; more > 0 {
		t += fmt.Sprintf(" (and %d more lines)", more)
	}
	return shorten(t)
}

// text shows a value on one line: a plain text as it is, anything else as JSON.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if v != "" && strings.TrimSpace(v) == v && !strings.Contains(v, "\n") {
			return shorten(v)
		}
		return shorten(strconv.Quote(v))
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return shorten(string(data))
}

func shorten(s string) string {
	r := []rune(s)
	if len(r) <= maxText {
		return s
	}
	return string(r[:maxText-1]) + "…"
}
