package flyte

import (
	"fmt"
	"slices"
	"strings"
)

// view is one release of a deployment in planes. Its Deployment is what the
// deployment is to that release: its cluster, its name, its raw values.
type view struct {
	Deployment
	recipe recipe
	// id is the part of step ids that tells the releases apart, path the same in errors.
	id, path string
}

// views are the releases, the control plane's first.
func (d Deployment) views() []view {
	list := []view{d.controlView()}
	for i := range d.dataplanes {
		list = append(list, d.dataView(i))
	}
	return list
}

func (d Deployment) controlView() view {
	c := d.control
	d.cluster, d.release, d.identity = c.cluster, c.release, c.identity
	d.raw = slices.Concat(d.raw, c.raw)
	return view{d, controlRecipe{core{d, c.pods}}, "controlplane", "controlplane.values"}
}

func (d Deployment) dataView(i int) view {
	p := d.dataplanes[i]
	d.cluster, d.release, d.identity = p.cluster, p.release, p.identity
	d.raw = slices.Concat(d.raw, p.raw)
	// A data plane has no business with the database.
	d.database = Database{}
	return view{d, dataRecipe{core{d, p.pods}, p}, "dataplanes/" + strings.ToLower(p.name), fmt.Sprintf("dataplanes[%d].values", i)}
}
