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

// FS returns the charts, each in a folder of its name at the root.
func FS() fs.FS {
	sub, err := fs.Sub(charts, "charts")
	if err != nil {
		// The folder is part of this package.
		panic(err)
	}
	return sub
}
