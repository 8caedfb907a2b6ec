package flyte

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
)

// unread returns the raw values that no template of the chart reads.
func unread(raw kube.Values, facts Chart) []valuePath {
	if len(facts.Values) == 0 {
		return nil
	}
	var paths []valuePath
	for _, leaf := range leaves(raw) {
		if len(leaf.path) == 0 {
			continue
		}
		read := slices.ContainsFunc(facts.Values, func(v ChartValue) bool {
			known := splitPath(v.Path)
			return leaf.path.within(known) || known.within(leaf.path)
		})
		if !read {
			paths = append(paths, leaf.path)
		}
	}
	return paths
}

// nearest returns up to three values of the chart whose paths are most like
// the given one, the likest first; none if nothing is like it.
func nearest(path valuePath, facts Chart) []string {
	type candidate struct {
		path string
		far  int
	}
	var candidates []candidate
	for _, v := range facts.Values {
		known := splitPath(v.Path)
		// The value may be passed on whole, so that only the way to it counts.
		text := path[:min(len(path), len(known))].String()
		far := distance(text, v.Path)
		if len(path) < len(known) && slices.Equal(known[len(known)-len(path):], path) {
			// The right keys in the wrong place.
			far = 1
		}
		if far <= max(len(text), len(v.Path))/4 {
			candidates = append(candidates, candidate{v.Path, far})
		}
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.far, b.far), cmp.Compare(a.path, b.path))
	})
	var paths []string
	for _, c := range candidates[:min(3, len(candidates))] {
		if c.far <= candidates[0].far+1 {
			paths = append(paths, c.path)
		}
	}
	return paths
}

// distance is the Levenshtein distance of two texts: how many letters have to
// be put in, taken out or changed.
func distance(a, b string) int {
	previous := make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	current := make([]int, len(b)+1)
	for i := range len(a) {
		current[0] = i + 1
		for j := range len(b) {
			change := previous[j]
			if a[i] != b[j] {
				change++
			}
			current[j+1] = min(change, previous[j+1]+1, current[j]+1)
		}
		previous, current = current, previous
	}
	return previous[len(b)]
}

// rawFindings tells of raw values that do nothing, or not what they seem to.
func (d Deployment) rawFindings(facts Chart) []planewright.Finding {
	raw := d.rawLayer()
	severity := planewright.SeverityWarning
	if d.strict {
		severity = planewright.SeverityError
	}
	var findings []planewright.Finding
	dead := map[string]bool{}
	for _, path := range unread(raw, facts) {
		if i := slices.IndexFunc(facts.Traps, func(t Trap) bool { return path.within(splitPath(t.Path)) }); i >= 0 {
			// More is known about it.
			dead[facts.Traps[i].Path] = true
			continue
		}
		fix := "leave it out"
		if near := nearest(path, facts); len(near) > 0 {
			fix = "did you mean " + joinOr(near) + "? Otherwise leave it out"
		}
		findings = append(findings, planewright.Finding{
			Severity: severity,
			Code:     CodeUnreadValue,
			Cause:    fmt.Sprintf("the raw value %s is read by no template of chart %s %s", path, facts.Name, facts.Version),
			Fix:      fix,
		})
	}
	for _, trap := range facts.Traps {
		if _, ok := raw.Get(trap.Path); ok && !trap.Error {
			of := planewright.SeverityWarning
			if dead[trap.Path] {
				of = severity
			}
			findings = append(findings, planewright.Finding{
				Severity: of,
				Code:     CodeTrap,
				Cause:    fmt.Sprintf("the raw value %s: %s", trap.Path, trap.Cause),
				Fix:      trap.Fix,
			})
		}
	}
	return findings
}

// templateFindings looks at the resource templates as they come out of all
// layers, for what the typed ones alone do not show.
func (d Deployment) templateFindings(recipe recipe, merged kube.Values) []planewright.Finding {
	templates, custom, everywhere := recipe.templates(merged)
	domains := d.domainsOf(merged, recipe.domainList())
	variables := customDataOf(merged, custom, everywhere, domains)
	users, _, _ := recipe.templates(d.rawLayer())
	var findings []planewright.Finding
	for _, leaf := range leaves(templates) {
		text, ok := leaf.value.(string)
		if !ok || len(leaf.path) != 1 {
			continue
		}
		severity := planewright.SeverityError
		if _, ok := users[leaf.path[0]]; ok && !d.strict {
			// It may count on attributes that only flyteadmin's database has.
			severity = planewright.SeverityWarning
		}
		for _, problem := range checkTemplate(text, domains, variables) {
			findings = append(findings, planewright.Finding{
				Severity: severity,
				Code:     CodeResourceTemplate,
				Cause:    fmt.Sprintf("the resource template %s: %s%s", leaf.path[0], quoted(problem.value), problem.rule),
				Fix:      problem.fix,
			})
		}
	}
	return findings
}

func quoted(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("%q: ", text)
}

// domainsOf returns the domains that the merged values give to flyteadmin.
func (d Deployment) domainsOf(merged kube.Values, path string) []string {
	value, ok := merged.Get(path)
	list, isList := value.([]any)
	if !ok || !isList {
		return d.Domains()
	}
	var domains []string
	for _, item := range list {
		if m, ok := asMap(item); ok {
			if id, ok := m["id"].(string); ok {
				domains = append(domains, id)
			}
		}
	}
	return domains
}

// customDataOf reads the variables by domain out of the merged values, in
// either of the forms that flyteadmin takes, with those that are the same everywhere.
func customDataOf(merged kube.Values, custom, templateData string, domains []string) map[string]map[string]string {
	value, _ := merged.Get(custom)
	everywhere, _ := merged.Get(templateData)
	variables := map[string]map[string]string{}
	for _, domain := range domains {
		variables[domain] = map[string]string{}
		for name, source := range pairs(everywhere) {
			variables[domain][name] = sourceText(source)
		}
	}
	for domain, data := range pairs(value) {
		if variables[domain] == nil {
			variables[domain] = map[string]string{}
		}
		for name, source := range pairs(data) {
			variables[domain][name] = sourceText(source)
		}
	}
	return variables
}

// sourceText is the text that a variable's source stands for, or an example
// of it where only Flyte's pods can tell.
func sourceText(source any) string {
	m, _ := asMap(source)
	if value, ok := m["value"]; ok && value != nil {
		return fmt.Sprint(value)
	}
	return "value"
}

// pairs returns the entries of a map, or of a list of maps.
func pairs(value any) map[string]any {
	if m, ok := asMap(value); ok {
		return m
	}
	out := map[string]any{}
	list, _ := value.([]any)
	for _, item := range list {
		m, _ := asMap(item)
		for key, v := range m {
			out[key] = v
		}
	}
	return out
}
