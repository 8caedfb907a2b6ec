package flyte

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/util/version"
)

func (s releaseStep) chartFindings(chart *kube.Chart) []planewright.Finding {
	if s.facts.Digest == "" || chart.Digest() != "" {
		return nil
	}
	return []planewright.Finding{{
		Severity: planewright.SeverityInfo,
		Code:     CodeChartUnpinned,
		Cause:    fmt.Sprintf("chart %s %s comes from a folder, which has no digest to compare with the published one", chart.Name(), chart.Version()),
		Fix:      "use an archive or a chart repository where it matters",
	}}
}

// historyFindings compares what is there with what is to come.
func (s releaseStep) historyFindings(ctx context.Context, plan kube.ReleasePlan) ([]planewright.Finding, error) {
	if plan.State == nil {
		return s.otherReleases(ctx)
	}
	object := s.object()
	state := plan.State
	var findings []planewright.Finding
	switch {
	case state.Chart != s.facts.Name:
		findings = append(findings, planewright.Finding{
			Severity: planewright.SeverityError, Code: CodeOtherChart, Object: &object,
			Cause: fmt.Sprintf("the release is of chart %s %s", state.Chart, state.ChartVersion),
			Fix:   "use WithRelease with another name, or uninstall that release",
		})
	case major(state.ChartVersion) != major(s.facts.Version):
		findings = append(findings, planewright.Finding{
			Severity: planewright.SeverityError, Code: CodeOtherChart, Object: &object,
			Cause: fmt.Sprintf("the release is of version %s, which is another product than %s", state.ChartVersion, s.facts.Version),
			Fix:   "use WithRelease and WithNamespace for an installation beside it; there is no way back from Flyte 2 to Flyte 1",
		})
	case older(s.facts.Version, state.ChartVersion):
		findings = append(findings, planewright.Finding{
			Severity: planewright.SeverityWarning, Code: CodeDowngrade, Object: &object,
			Cause: fmt.Sprintf("the release is of version %s, newer than %s; Flyte does not migrate its database back", state.ChartVersion, s.facts.Version),
			Fix:   "use the newer version, or restore the database as it was before the upgrade",
		})
	}
	findings = append(findings, s.skewFindings(state.ChartVersion)...)
	findings = append(findings, s.upgradeFindings(state.ChartVersion, plan)...)
	findings = append(findings, s.fixedFindings(plan)...)
	draining, err := s.drainBefore(ctx, plan)
	if err != nil {
		return nil, err
	}
	findings = append(findings, draining...)
	for _, needed := range s.secretRefs() {
		ref := kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: s.namespace, Name: needed.name}
		if !slices.Contains(plan.Deletes, ref) {
			continue
		}
		deleted := ref.In(s.cluster.Name)
		findings = append(findings, planewright.Finding{
			Severity: planewright.SeverityError, Code: CodeDeletes, Object: &deleted,
			Cause: "the release made this Secret for " + needed.use + ", which is to be taken from it, and the upgrade deletes it",
			Fix:   fmt.Sprintf("keep it: kubectl -n %s annotate secret %s helm.sh/resource-policy=keep; or give the text by another source", s.namespace, needed.name),
		})
	}
	for _, ref := range plan.Deletes {
		if !slices.Contains([]string{"CustomResourceDefinition", "PersistentVolumeClaim", "Namespace"}, ref.Kind) {
			continue
		}
		deleted := ref.In(s.cluster.Name)
		findings = append(findings, planewright.Finding{
			Severity: planewright.SeverityWarning, Code: CodeDeletes, Object: &deleted,
			Cause: "the release no longer has this object, and Helm deletes it with all that it holds",
			Fix:   "annotate it with helm.sh/resource-policy: keep if it is to stay",
		})
	}
	return findings, nil
}

// drainBefore tells of executions that nobody would end after an upgrade.
func (s releaseStep) drainBefore(ctx context.Context, plan kube.ReleasePlan) ([]planewright.Finding, error) {
	if dropsPropeller(plan.Deletes) {
		return s.drainFindings(ctx, withoutPropeller)
	}
	renames, err := s.renamesPropeller(ctx, plan)
	if err != nil || !renames {
		return nil, err
	}
	return s.drainFindings(ctx, underAnotherName)
}

// older reports whether one version came before another; versions that are
// none are not compared.
func older(a, b string) bool {
	first, err1 := version.ParseSemantic(a)
	second, err2 := version.ParseSemantic(b)
	return err1 == nil && err2 == nil && first.LessThan(second)
}

// otherReleases finds Flyte releases of other names in the namespace: a
// second one there is never wanted, and most often a slip in the name.
func (s releaseStep) otherReleases(ctx context.Context) ([]planewright.Finding, error) {
	list, err := s.cluster.Releases.List(ctx, s.namespace)
	if errors.Is(err, planewright.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var findings []planewright.Finding
	for _, other := range list {
		if other.Name == s.release || !isFlyteChart(other.Chart) || s.predecessor != nil && other.Name == s.predecessor.release {
			continue
		}
		object := s.object()
		object.Name = other.Name
		findings = append(findings, planewright.Finding{
			Severity: planewright.SeverityError, Code: CodeOtherFlyte, Object: &object,
			Cause: fmt.Sprintf("namespace %s has a release of %s %s already, under another name than %s", s.namespace, other.Chart, other.ChartVersion, s.release),
			Fix:   fmt.Sprintf("use WithRelease(%q) to upgrade it, or uninstall it first", other.Name),
		})
	}
	return findings, nil
}

func isFlyteChart(name string) bool {
	return name == binaryChart || name == "flyte-core" || name == "flyte"
}
