package flyte

import (
	"fmt"

	"github.com/planewright/planewright"
	"k8s.io/apimachinery/pkg/util/version"
)

// minorSteps is how many minor releases lie between two versions of one major release.
func minorSteps(a, b string) int {
	first, err1 := version.ParseSemantic(a)
	second, err2 := version.ParseSemantic(b)
	if err1 != nil || err2 != nil || first.Major() != second.Major() {
		return 0
	}
	if first.Minor() > second.Minor() {
		return int(first.Minor() - second.Minor()) //nolint:gosec // a minor version is a small number
	}
	return int(second.Minor() - first.Minor()) //nolint:gosec // a minor version is a small number
}

// skewFindings warn of an upgrade during which planes work together whose
// versions lie further apart than neighbours: one is changed after the other, the
// data planes first, so that what reads executions is never older than what writes them.
func (s releaseStep) skewFindings(running string) []planewright.Finding {
	if !s.inPlanes() || minorSteps(running, s.facts.Version) < 2 {
		return nil
	}
	object := s.object()
	return []planewright.Finding{{
		Severity: planewright.SeverityWarning, Code: CodeVersionSkew, Object: &object,
		Cause: fmt.Sprintf("the release is of version %s, and until the last release is changed planes of that version and of %s work together", running, s.facts.Version),
		Fix:   "go through the minor releases in between, one install each",
	}}
}
