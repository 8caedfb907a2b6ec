package flyte

import (
	"maps"
	"slices"
)

// Version is a release of Flyte as data: the charts that install it, and
// what is known about them. [V1_16_8] and [V1_15_3] are such; make your own with
// [NewVersion] for a release that this package does not know, or with
// [Version.WithCharts] for a chart of your own. A Version is a value.
type Version struct {
	name   string
	charts []Chart
}

// NewVersion names a release of Flyte and its charts. The name is the
// release's own: "v1.16.8".
func NewVersion(name string, charts ...Chart) Version {
	return Version{name: name}.WithCharts(charts...)
}

// Name returns the release's name.
func (v Version) Name() string { return v.name }

// String returns the release's name.
func (v Version) String() string { return v.name }

// Chart returns the version's chart of the given name.
func (v Version) Chart(name string) (Chart, bool) {
	i := slices.IndexFunc(v.charts, func(c Chart) bool { return c.Name == name })
	if i < 0 {
		return Chart{}, false
	}
	return v.charts[i].clone(), true
}

// WithCharts adds charts. One with the name of a chart that is there takes its place.
func (v Version) WithCharts(charts ...Chart) Version {
	v.charts = slices.Clone(v.charts)
	for _, c := range charts {
		c = c.clone()
		if i := slices.IndexFunc(v.charts, func(have Chart) bool { return have.Name == c.Name }); i >= 0 {
			v.charts[i] = c
		} else {
			v.charts = append(v.charts, c)
		}
	}
	return v
}

// WithoutDigests accepts the charts by name and version alone: for a mirror
// that packs charts again. A chart from a folder has no digest to compare in any case.
func (v Version) WithoutDigests() Version {
	v.charts = slices.Clone(v.charts)
	for i := range v.charts {
		v.charts[i].Digest = ""
	}
	return v
}

func (c Chart) clone() Chart {
	c.Values = slices.Clone(c.Values)
	c.Overlays = maps.Clone(c.Overlays)
	c.Architectures = slices.Clone(c.Architectures)
	c.Traps = slices.Clone(c.Traps)
	c.Changes = slices.Clone(c.Changes)
	return c
}
