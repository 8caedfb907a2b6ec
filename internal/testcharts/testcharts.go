// Package testcharts holds small charts of this project's own, for tests and
// for examples that run on clusters in memory. They stand in for published
// charts: they have their names and versions, read the same values, and
// render objects of the same kinds and names, with templates of their own.
// They install nothing that would work.
package testcharts

import (
	"embed"
	"io/fs"
)

//go:embed all:charts
var charts embed.FS

//go:embed all:flyte2
var flyte2 embed.FS

// FS returns the charts, each in a folder of its name at the root.
func FS() fs.FS {
	sub, err := fs.Sub(charts, "charts")
	if err != nil {
		// The folder is part of this package.
		panic(err)
	}
	return sub
}

// Flyte2 returns the chart of Flyte 2, which has the name of one of Flyte 1's, in
// a folder of that name at the root.
func Flyte2() fs.FS {
	sub, err := fs.Sub(flyte2, "flyte2")
	if err != nil {
		// The folder is part of this package.
		panic(err)
	}
	return sub
}
