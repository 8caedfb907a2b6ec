package kube

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/planewright/planewright"
)

// Chart is a Helm chart's files, loaded and not yet parsed. It is immutable
// and may be shared by any number of releases and goroutines.
type Chart struct {
	name, version, appVersion, digest string
	files                             []ChartFile

	mu sync.Mutex
	// made is what packages have made of the chart, see Once.
	made map[any]any
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

// Values parses a values file of the chart, once however often it is asked for.
// What it returns must not be changed. A file that is not there is ErrNotFound.
func (c *Chart) Values(name string) (Values, error) {
	data, ok := c.File(name)
	if !ok {
		return nil, fmt.Errorf("chart %s %s: the file %s is missing: %w", c.name, c.version, name, planewright.ErrNotFound)
	}
	made, err := c.Once(valuesFile(name), func() (any, error) { return ParseValues(data) })
	if err != nil {
		return nil, fmt.Errorf("chart %s %s: the file %s: %w", c.name, c.version, name, err)
	}
	values, _ := made.(Values)
	return values, nil
}

// valuesFile is the key of a values file that was parsed.
type valuesFile string

// Once returns what a function makes of the chart, made once for each key
// however many ask for it; a failure is not kept. It is for adapters that
// parse charts. A key is of a type of the caller's own, as those of a context are.
func (c *Chart) Once(key any, produce func() (any, error)) (any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if made, ok := c.made[key]; ok {
		return made, nil
	}
	made, err := produce()
	if err != nil {
		return nil, err
	}
	if c.made == nil {
		c.made = map[any]any{}
	}
	c.made[key] = made
	return made, nil
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
