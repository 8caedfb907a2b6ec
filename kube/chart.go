package kube

import (
	"context"
	"slices"
)

// Chart is a Helm chart's files, loaded and not yet parsed. It is immutable
// and may be shared by any number of releases and goroutines.
type Chart struct {
	name, version, appVersion, digest string
	files                             []ChartFile
}

// ChartFile is one file of a chart.
type ChartFile struct {
	// Name is the path inside the chart, without the chart's own folder: "templates/service.yaml".
	Name string
	Data []byte
}

// NewChart makes a chart of its files. Digest is "sha256:…" of the archive it
// came from, empty if it came from none. Most callers get charts from a [ChartSource].
func NewChart(name, version, appVersion, digest string, files []ChartFile) *Chart {
	return &Chart{name: name, version: version, appVersion: appVersion, digest: digest, files: slices.Clone(files)}
}

// Name returns the chart's name.
func (c *Chart) Name() string { return c.name }

// Version returns the chart's version as it is written in Chart.yaml.
func (c *Chart) Version() string { return c.version }

// AppVersion returns the version of what the chart installs.
func (c *Chart) AppVersion() string { return c.appVersion }

// Digest returns "sha256:…" of the archive, empty for a chart from a folder.
func (c *Chart) Digest() string { return c.digest }

// Files returns the chart's files; their data must not be changed.
func (c *Chart) Files() []ChartFile { return slices.Clone(c.files) }

// File returns one file of the chart; its data must not be changed.
func (c *Chart) File(name string) ([]byte, bool) {
	for _, f := range c.files {
		if f.Name == name {
			return f.Data, true
		}
	}
	return nil, false
}

// ChartRef asks for a chart.
type ChartRef struct {
	Name, Version string
	// Digest is the "sha256:…" that the chart's archive must have, empty to
	// accept any. A source that has no archive (a folder) cannot check it.
	Digest string
}

// ChartSource finds charts. A chart that is not there is ErrNotFound; one
// with another name, version or digest than asked is ErrInvalid. Sources load
// a chart once, however many ask for it at the same time.
type ChartSource interface {
	Chart(ctx context.Context, ref ChartRef) (*Chart, error)
}
