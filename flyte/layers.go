package flyte

import (
	"slices"
	"strings"

	"github.com/planewright/planewright/kube"
	"sigs.k8s.io/yaml"
)

// layers are the values of one release, by where they come from.
type layers struct {
	// defaults are the chart's own, overlay those of the values file that the
	// deployment starts from, raw the user's.
	defaults, overlay, raw kube.Values
	// merged is what the chart is given.
	merged kube.Values
}

// layer reads the chart's values files and lays the deployment's values over
// them: overlay, then typed, then raw.
func (d Deployment) layer(recipe recipe, chart *kube.Chart, facts Chart, in inputs) (layers, error) {
	l := layers{overlay: kube.Values{}, raw: d.rawLayer()}
	var err error
	if l.defaults, err = chartFile(chart, "values.yaml"); err != nil {
		return layers{}, err
	}
	for _, name := range recipe.overlays(facts) {
		overlay, err := chartFile(chart, name)
		if err != nil {
			return layers{}, err
		}
		l.overlay = l.overlay.Merge(overlay)
	}
	typed := escapeValues(recipe.typed(l.overlay, l.defaults, in), facts)
	l.merged = kube.Values(dropNulls(l.overlay.Merge(typed), l.defaults)).Merge(l.raw)
	return l, nil
}

// overlayName returns the values file inside the chart that the deployment
// starts from, empty if it starts from the chart's own values.
func (d Deployment) overlayName(facts Chart) string {
	if d.storage.compatible {
		// The overlay is for AWS.
		return ""
	}
	return facts.Overlays[d.storage.provider]
}

// chartFile reads a values file out of the chart.
func chartFile(chart *kube.Chart, name string) (kube.Values, error) {
	return chart.Values(name)
}

// escapeValues writes the texts that the chart renders as templates so that
// they come out as they are.
func escapeValues(values kube.Values, facts Chart) kube.Values {
	var templated []valuePath
	for _, value := range facts.Values {
		if value.Tpl {
			templated = append(templated, splitPath(value.Path))
		}
	}
	escaped, _ := escapeAt(nil, map[string]any(values), templated).(map[string]any)
	return escaped
}

func escapeAt(path valuePath, value any, templated []valuePath) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = escapeAt(path.child(key), item, templated)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = escapeAt(path, item, templated)
		}
		return out
	case string:
		for _, t := range templated {
			if path.within(t) {
				v = escapeTemplate(v)
				break
			}
		}
		return strings.ReplaceAll(v, templateOpening, "{{")
	}
	return value
}

// templateOpening stands for the opening of a template in a text of the user's
// until what the deployment itself says has been escaped: a character that
// nobody uses.
const templateOpening = "\uF8FF"

// templateText is a text of the user's among typed values: a template in it is
// left for the chart to render.
func templateText(text string) string { return strings.ReplaceAll(text, "{{", templateOpening) }

// escapeTemplate writes a text so that rendering it as a template gives the
// text. The values are turned into YAML before they are rendered, and no style of
// quoting there touches a backquote.
func escapeTemplate(text string) string {
	return strings.ReplaceAll(text, "{{", "{{`{{`}}")
}

// containsItem reports whether a list of values has an item like this one.
func containsItem(list []any, item any) bool {
	return slices.ContainsFunc(list, func(have any) bool { return sameValue(have, item) })
}

// inlineYAML prints a value on one line.
func inlineYAML(value any) string {
	data, err := yaml.Marshal(value)
	if err == nil {
		data, err = yaml.YAMLToJSON(data)
	}
	if err != nil {
		return ""
	}
	return string(data)
}
