package flyte

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// placeholders match what the charts' values files hold where a real value
// must be put in.
var placeholders = regexp.MustCompile(`<[A-Z][A-Z0-9]*(?:[_-][A-Z0-9]+)*>|<your-[A-Za-z0-9-]+>|flyte\.mydomain\.com|flyte\.company\.com|my-organization-(?:flyte-container|gcp-project)`)

// placeholderIn returns the first placeholder in the text, empty if there is none.
func placeholderIn(text string) string { return placeholders.FindString(text) }

// leftPlaceholder is one placeholder that reached a rendered object.
type leftPlaceholder struct {
	object planewright.Object
	field  string
	text   string
}

// placeholdersIn finds the placeholders in the objects, in their order. What
// is in a Secret is looked at too; only the placeholder itself is told.
func placeholdersIn(cluster string, objects []*unstructured.Unstructured) []leftPlaceholder {
	var found []leftPlaceholder
	for _, obj := range objects {
		for _, leaf := range leaves(obj.Object) {
			text, ok := leaf.value.(string)
			if !ok {
				continue
			}
			seen := map[string]bool{}
			for _, p := range placeholders.FindAllString(text, -1) {
				if !seen[p] {
					seen[p] = true
					found = append(found, leftPlaceholder{kube.RefOf(obj).In(cluster), leaf.path.String(), p})
				}
			}
		}
	}
	return found
}

// placeholderFindings makes findings of the placeholders that are left in the
// objects, with the values to set.
func placeholderFindings(cluster string, objects []*unstructured.Unstructured, values, defaults kube.Values) []planewright.Finding {
	var findings []planewright.Finding
	for _, left := range placeholdersIn(cluster, objects) {
		fix := "set the value that it comes from"
		if paths := placeholderSources(left.text, values, defaults); len(paths) > 0 {
			fix = "set " + joinOr(paths) + ", or switch off the part that uses it"
		}
		findings = append(findings, planewright.Finding{
			Severity: planewright.SeverityError,
			Code:     CodePlaceholder,
			Object:   &left.object,
			Cause:    fmt.Sprintf("the field %s holds the placeholder %s", left.field, left.text),
			Fix:      fix,
		})
	}
	return findings
}

// placeholderSources returns the paths of the values that hold the
// placeholder: of those given to the chart, or else of the chart's own.
func placeholderSources(text string, layers ...kube.Values) []string {
	for _, values := range layers {
		var paths []string
		for _, leaf := range leaves(values) {
			if s, ok := leaf.value.(string); ok && slices.Contains(placeholders.FindAllString(s, -1), text) {
				paths = append(paths, leaf.path.String())
			}
		}
		if len(paths) > 0 {
			slices.SortFunc(paths, cmp.Compare[string])
			return paths
		}
	}
	return nil
}
