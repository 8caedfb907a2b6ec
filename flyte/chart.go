package flyte

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright/kube"
)

// Chart is what is known about one published Helm chart: where it is, that it
// is the one that is meant, and how its templates use its values.
type Chart struct {
	// Name and Version are as Chart.yaml has them.
	Name, Version string
	// Digest is the "sha256:…" of the published archive. Empty accepts any.
	Digest string
	// Values are the values that the chart's templates read. If there are
	// none, values are not checked against the templates, and no text is
	// escaped for those that render values as templates.
	Values []ChartValue
	// Overlays are the values files inside the archive that a deployment
	// starts from, by the storage's provider: "s3", "gcs". A provider that is
	// missing starts from the chart's own values.
	Overlays map[string]string
	// Architectures are the node architectures that the chart's images are
	// published for, as Kubernetes spells them. If there are none, nodes are not checked.
	Architectures []string
	// Traps are values that do not do what they seem to.
	Traps []Trap
	// Changes are what this chart's version, and those before it, changed:
	// an upgrade over them tells of them.
	Changes []ChartChange
}

// ChartValue is one value that a chart's templates read. Where a template
// passes it on whole, everything below its path is read too.
type ChartValue struct {
	// Path names the value: "configuration.database.host".
	Path string
	// Tpl marks a value whose text is rendered as a template of its own, so
	// that a "{{" in it does not survive unless it is escaped.
	Tpl bool
	// Secret marks a value that is secret in itself: it is left out of rendered files.
	Secret bool
	// Templates are the templates that read it.
	Templates []string
}

// Trap is a value that does not do what it seems to do. A raw value at its
// path or below is a finding.
type Trap struct {
	// Path names the value, Cause what happens, Fix what to do instead.
	Path, Cause, Fix string
	// Error refuses the value; otherwise it is a warning.
	Error bool
}

// reads reports whether the chart's templates read a value.
func (c Chart) reads(path string) bool {
	return slices.ContainsFunc(c.Values, func(v ChartValue) bool { return splitPath(path).within(splitPath(v.Path)) })
}

// ref asks a source for the chart.
func (c Chart) ref() kube.ChartRef {
	return kube.ChartRef{Name: c.Name, Version: c.Version, Digest: c.Digest}
}

// parseChartValues reads the facts about a chart's values as they are kept in
// the folder charts: path, use and templates, separated by tabs.
func parseChartValues(table string) ([]ChartValue, error) {
	var values []ChartValue
	for n, line := range strings.Split(table, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, "\t")
		if len(cells) != 3 || !slices.Contains([]string{"plain", "tpl", "secret"}, cells[1]) {
			return nil, fmt.Errorf("line %d: %q is not path, use (plain, tpl or secret) and templates", n+1, line)
		}
		values = append(values, ChartValue{Path: cells[0], Tpl: cells[1] == "tpl", Secret: cells[1] == "secret", Templates: strings.Split(cells[2], ",")})
	}
	return values, nil
}

// mustChartValues parses a table that is part of this package; a test parses it too.
func mustChartValues(table string) []ChartValue {
	values, err := parseChartValues(table)
	if err != nil {
		panic("flyte: embedded chart table: " + err.Error())
	}
	return values
}
