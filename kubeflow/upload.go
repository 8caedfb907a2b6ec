package kubeflow

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright"
)

// upload says by which commands the package comes into the catalog, one for each
// architecture of the nodes that the pin runs on.
func (o operatorBinding) upload(ctx context.Context) string {
	nodes, err := o.architecturesOfNodes(ctx)
	if err != nil {
		nodes = nil // who may not look at nodes is told the command all the same
	}
	return "upload its bundle for the nodes' architecture: " + strings.Join(o.violets(o.bundles(nodes)), "; ")
}

// bundles are the architectures of nodes that the pin runs on; all that it runs
// on if the nodes are not known.
func (o operatorBinding) bundles(nodes []string) []string {
	var supported []string
	for _, s := range o.Supports {
		if s.CSV == o.CSV {
			supported = append(supported, s.Architectures...)
		}
	}
	slices.Sort(supported)
	supported = slices.Compact(supported)
	if len(nodes) == 0 {
		return supported
	}
	if len(supported) == 0 {
		return nodes
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(a string) bool { return !slices.Contains(supported, a) })
}

// violets are the commands, one for each architecture. The files are called as
// whoever publishes them calls them; here they have the pin's name.
func (o operatorBinding) violets(architectures []string) []string {
	name := o.CSV
	if name == "" {
		name = o.Package
	}
	files := []string{name + ".tgz"}
	if len(architectures) > 0 {
		files = nil
		for _, a := range architectures {
			files = append(files, name+"."+a+".tgz")
		}
	}
	commands := make([]string, len(files))
	for i, file := range files {
		commands[i] = fmt.Sprintf("violet push %s --platform-address <address> --platform-token <token> --clusters %s --target-catalog-source %s",
			file, o.workload.Name, o.catalog.source)
	}
	return commands
}

// render writes the commands that bring the package into the catalog.
func (s packageStep) render(context.Context, *planewright.Run) ([]planewright.File, error) {
	text := strings.Join(s.violets(s.bundles(nil)), "\n") + "\n"
	return []planewright.File{{Name: string(s.Component) + "/package/upload.txt", Data: []byte(text)}}, nil
}
