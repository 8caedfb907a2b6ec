package flyte

import (
	"context"
	"fmt"

	"github.com/planewright/planewright"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// pluginsHere are those of the release: of a data plane its own too.
func (b binding) pluginsHere() []Plugin {
	if r, ok := b.recipe.(dataRecipe); ok {
		return mergePlugins(b.plugins, r.plane.plugins)
	}
	return b.plugins
}

// probePlugins looks for the operators of the plugins.
func (b binding) probePlugins(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	var kinds []schema.GroupVersionKind
	for _, p := range b.pluginsHere() {
		if p.resource != "" {
			kinds = append(kinds, p.kind)
		}
	}
	if len(kinds) == 0 {
		return nil, nil
	}
	served, err := b.cluster.Facts.Serves(ctx, kinds...)
	if err != nil {
		return nil, err
	}
	var findings []planewright.Finding
	for _, p := range b.pluginsHere() {
		if p.resource == "" || served[p.kind] {
			continue
		}
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityWarning, Code: CodePlugin,
			Cause: fmt.Sprintf("cluster %s has no %s (%s), so tasks of type %s wait there for ever", b.cluster.Name, p.kind.Kind, p.kind.GroupVersion(), p.id),
			Fix:   "install " + p.operator + ", which is not part of Flyte"})
	}
	return findings, nil
}
