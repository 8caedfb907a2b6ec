package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/releaseutil"
	"k8s.io/client-go/rest"
)

// rendering is what a chart becomes with values: byte for byte what Helm would
// write into a record of the given revision.
type rendering struct {
	chart    *chart.Chart
	manifest string
	hooks    []*release.Hook
}

// renderAs says which revision a chart is rendered for.
type renderAs struct {
	revision int
	install  bool
}

// render renders a release. With a config, the chart's lookups read from the
// cluster.
func render(ctx context.Context, rel kube.Release, as renderAs, caps *chartutil.Capabilities, lookups *rest.Config) (*rendering, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	done, err := gate(ctx, rel.Chart)
	if err != nil {
		return nil, err
	}
	defer done()
	ch, values, err := loadForRender(rel)
	if err != nil {
		return nil, err
	}
	if v := ch.Metadata.KubeVersion; v != "" && !chartutil.IsCompatibleRange(v, caps.KubeVersion.String()) {
		return nil, chartError(rel.Chart, fmt.Errorf("it needs Kubernetes %s, the cluster has %s", v, caps.KubeVersion.String()))
	}
	if err := chartutil.ProcessDependenciesWithMerge(ch, values); err != nil {
		return nil, chartError(rel.Chart, err)
	}
	given, err := chartutil.ToRenderValues(ch, values, chartutil.ReleaseOptions{
		Name: rel.Name, Namespace: rel.Namespace, Revision: as.revision, IsInstall: as.install, IsUpgrade: !as.install,
	}, caps)
	if err != nil {
		return nil, chartError(rel.Chart, err)
	}
	var e engine.Engine
	if lookups != nil {
		e = engine.New(lookups)
	}
	files, err := e.Render(ch, given)
	if err != nil {
		return nil, chartError(rel.Chart, err)
	}
	for name := range files {
		if strings.HasSuffix(name, "NOTES.txt") {
			delete(files, name)
		}
	}
	hooks, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return nil, chartError(rel.Chart, err)
	}
	var all bytes.Buffer
	for _, m := range manifests {
		fmt.Fprintf(&all, "---\n# Source: %s\n%s\n", m.Name, m.Content)
	}
	out := &all
	if !rel.DropCRDs {
		if out, err = (crdKeeper{}).Run(&all); err != nil {
			return nil, chartError(rel.Chart, err)
		}
	}
	return &rendering{chart: ch, manifest: out.String(), hooks: hooks}, nil
}

// loadForRender parses a chart and takes the values, both for one use: Helm
// changes them.
func loadForRender(rel kube.Release) (*chart.Chart, map[string]any, error) {
	ch, err := parsed(rel.Chart)
	if err != nil {
		return nil, nil, chartError(rel.Chart, err)
	}
	if ch.Metadata.Type == "library" {
		return nil, nil, chartError(rel.Chart, errors.New("it is a library, which cannot be installed"))
	}
	if err := action.CheckDependencies(ch, ch.Metadata.Dependencies); err != nil {
		return nil, nil, chartError(rel.Chart, fmt.Errorf("%w; run helm dependency build on it", err))
	}
	values := map[string]any(rel.Values.Merge(nil))
	yieldTables(ch, values)
	return ch, values, nil
}

// parsedChart is the key of a chart that Helm has parsed.
type parsedChart struct{}

// parsed is a chart as Helm has it, for one use: it is parsed once, and copied
// as far as Helm changes it.
func parsed(source *kube.Chart) (*chart.Chart, error) {
	made, err := source.Once(parsedChart{}, func() (any, error) {
		files := source.Files()
		buffered := make([]*loader.BufferedFile, len(files))
		for i, f := range files {
			buffered[i] = &loader.BufferedFile{Name: f.Name, Data: f.Data}
		}
		return loader.LoadFiles(buffered)
	})
	if err != nil {
		return nil, err
	}
	ch, _ := made.(*chart.Chart)
	return copyChart(ch), nil
}

// copyChart copies what Helm changes of a chart while it renders: its values,
// its metadata and its list of dependencies. Templates and files are shared.
func copyChart(ch *chart.Chart) *chart.Chart {
	c := &chart.Chart{Raw: ch.Raw, Lock: ch.Lock, Templates: ch.Templates, Schema: ch.Schema, Files: ch.Files}
	if ch.Values != nil {
		c.Values = kube.Values(ch.Values).Merge(nil)
	}
	if ch.Metadata != nil {
		metadata := *ch.Metadata
		metadata.Dependencies = make([]*chart.Dependency, len(ch.Metadata.Dependencies))
		for i, d := range ch.Metadata.Dependencies {
			dependency := *d
			metadata.Dependencies[i] = &dependency
		}
		c.Metadata = &metadata
	}
	for _, d := range ch.Dependencies() {
		c.AddDependency(copyChart(d))
	}
	return c
}

// yieldTables takes away those of the chart's own values that are tables where
// the given value is none, or the other way round. The given value wins in any
// case; Helm would print the chart's own one to stderr.
func yieldTables(ch *chart.Chart, values map[string]any) {
	yield(ch.Values, values)
	for _, sub := range ch.Dependencies() {
		if given, ok := values[sub.Name()].(map[string]any); ok {
			yieldTables(sub, given)
		}
	}
}

func yield(own, given map[string]any) {
	for k, o := range own {
		g, ok := given[k]
		if !ok || g == nil || o == nil {
			continue
		}
		om, oIsTable := o.(map[string]any)
		gm, gIsTable := g.(map[string]any)
		switch {
		case oIsTable && gIsTable:
			yield(om, gm)
		case oIsTable != gIsTable:
			delete(own, k)
		}
	}
}

// How Helm's engine words what a template raised: with `fail` and `required`, or
// by going wrong.
var (
	raised = regexp.MustCompile(`(?s)execution error at \(([^)]*)\): (.*)`)
)

// chartError is an error of a chart with the values it was given. It matches
// ErrInvalid; nothing about the cluster would change it.
func chartError(ch *kube.Chart, err error) error {
	name := fmt.Sprintf("chart %s %s", ch.Name(), ch.Version())
	if m := raised.FindStringSubmatch(err.Error()); m != nil {
		file, _, _ := strings.Cut(m[1], ":")
		return &callError{
			op: "render", object: name,
			verdict: verdict{sentinel: planewright.ErrInvalid, hint: "the chart's " + path.Join("templates", path.Base(file)) + " says so; change the values"},
			err:     errors.New(strings.TrimSpace(m[2])),
		}
	}
	return &callError{op: "render", object: name, verdict: verdict{sentinel: planewright.ErrInvalid}, err: err}
}

// crdKeeper marks the CustomResourceDefinitions among a chart's templates as to
// be kept: without it, uninstalling deletes them and every object of their kinds.
// It is a post-renderer because an uninstall reads the mark from the manifest.
type crdKeeper struct{}

// Run implements Helm's PostRenderer. What it does not mark it does not touch.
func (crdKeeper) Run(in *bytes.Buffer) (*bytes.Buffer, error) {
	if !bytes.Contains(in.Bytes(), []byte("CustomResourceDefinition")) {
		return in, nil
	}
	return keepCRDs(in.Bytes())
}
