package kubeflow

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// setting is a value that the stack sets itself in the spec of a custom resource.
type setting struct {
	// path is the value's key. If it is not published, it is empty, and label
	// has the words by which the operator's CSV describes the key.
	path  string
	label []string
	value any
	// what says what the value is, by which method sets it.
	what, by string
}

// settings are what the stack sets in a component's custom resource.
func (s KubeflowStack) settings(component Component) []setting {
	switch component {
	case ComponentBase:
		return []setting{{path: "global.kubeflowHost", value: s.host, what: "the host", by: "WithHost"}}
	case ComponentTrainer:
		if s.trainer != nil && s.trainer.jobSet != nil {
			return []setting{{label: []string{"jobset", "enable"}, value: *s.trainer.jobSet, what: "whether JobSet is installed", by: "WithJobSet"}}
		}
	case ComponentPipelines, ComponentModelRegistry:
	}
	return nil
}

// settings are what the stack sets in a registry's custom resource.
func (r ModelRegistry) settings() []setting {
	settings := []setting{{label: []string{"storage", "size"}, value: r.size, what: "the size of the database", by: "WithStorage"}}
	if r.class != "" {
		settings = append(settings, setting{label: []string{"storage", "class"}, value: r.class, what: "the storage class of the database", by: "WithStorage"})
	}
	if r.displayName != "" {
		settings = append(settings, setting{label: []string{"display", "name"}, value: r.displayName, what: "the display name", by: "WithDisplayName"})
	}
	if r.description != "" {
		settings = append(settings, setting{label: []string{"description"}, value: r.description, what: "the description", by: "WithDescription"})
	}
	return settings
}

// custom is what a CSV says about one kind of custom resource.
type custom struct {
	// apiVersion and kind are those of the resource, crd the name of its definition.
	apiVersion, kind, crd string
	// example is the spec of the operator's own example.
	example map[string]any
	// descriptors describe the keys of the spec.
	descriptors []descriptor
}

// descriptor is a key of a custom resource's spec, as people see it.
type descriptor struct{ path, displayName, description string }

// find returns the key that a setting without a path means.
func (c custom) find(label []string) (string, bool) {
	for _, text := range []func(descriptor) string{
		func(d descriptor) string { return d.displayName },
		func(d descriptor) string { return d.path },
	} {
		var found []string
		for _, d := range c.descriptors {
			has := func(word string) bool { return strings.Contains(strings.ToLower(text(d)), word) }
			if !slices.ContainsFunc(label, func(word string) bool { return !has(word) }) {
				found = append(found, d.path)
			}
		}
		if len(found) == 1 {
			return found[0], true
		}
	}
	return "", false
}

// spec makes the spec of a custom resource: the operator's example, the user's
// values over it, and the stack's own settings, which nothing may contradict.
func (c custom) spec(raw kube.Values, settings []setting) (map[string]any, []planewright.Finding, error) {
	values := kube.Values(c.example).Merge(raw)
	var findings []planewright.Finding
	for _, s := range settings {
		path, ok := s.path, true
		if path == "" {
			path, ok = c.find(s.label)
		}
		if !ok {
			findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodeUnknownKey,
				Cause: fmt.Sprintf("this version of the operator does not describe a key for %s in its kind %s", s.what, c.kind),
				Fix:   "leave out " + s.by + ", and set the key by WithValues" + c.keysHint()})
			continue
		}
		if value, set := raw.Get(path); set && !reflect.DeepEqual(value, s.value) {
			return nil, nil, fmt.Errorf("%s: the value %s is %v, and %s says %v; leave one of them out: %w", c.kind, path, value, s.by, s.value, planewright.ErrInvalid)
		}
		values = values.Set(path, s.value)
	}
	spec, err := plain(values)
	return spec, append(findings, c.unknownKeys(raw)...), err
}

func (c custom) keysHint() string {
	if len(c.descriptors) == 0 {
		return ""
	}
	var paths []string
	for _, d := range c.descriptors {
		paths = append(paths, d.path)
	}
	return "; it describes " + strings.Join(paths, ", ")
}

// unknownKeys finds values that neither the operator's example nor its
// descriptors have: custom resources often take any key and ignore those that they do not know.
func (c custom) unknownKeys(raw kube.Values) []planewright.Finding {
	if len(c.descriptors) == 0 && len(c.example) == 0 {
		return nil
	}
	known := map[string]bool{}
	for key := range c.example {
		known[key] = true
	}
	for _, d := range c.descriptors {
		first, _, _ := strings.Cut(d.path, ".")
		known[first] = true
	}
	var findings []planewright.Finding
	for _, key := range sortedKeys(raw) {
		if !known[key] {
			findings = append(findings, planewright.Finding{Severity: planewright.SeverityWarning, Code: CodeUnknownKey,
				Cause: fmt.Sprintf("neither the example nor the description of kind %s has the key %s; a key that the operator does not know is ignored", c.kind, key),
				Fix:   "use one of " + strings.Join(sortedKeys(known), ", ")})
		}
	}
	return findings
}

// plain is a copy of values as an API server takes them.
func plain(values map[string]any) (map[string]any, error) {
	text, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	copied := map[string]any{}
	err = utiljson.Unmarshal(text, &copied)
	return copied, err
}
