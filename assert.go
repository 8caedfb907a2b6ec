package planewright

import (
	"slices"
	"strings"
)

// TestingT is the part of [testing.T] that the assertions need.
type TestingT interface {
	Helper()
	Errorf(format string, args ...any)
}

// AssertNoChanges fails the test, showing the plan, if installing would write
// anything: what a test wants to see after an install.
func AssertNoChanges(t TestingT, plan *ExecutionPlan) bool {
	t.Helper()
	if plan.HasChanges() {
		t.Errorf("the plan should have no changes:\n%s", plan)
		return false
	}
	return true
}

// AssertTouchesOnly fails the test if a step that has a change matches none
// of the patterns (see [ExecutionPlan.Touches]), or a pattern matches no step
// that has one: growing a deployment must touch what is new, and nothing else.
func AssertTouchesOnly(t TestingT, plan *ExecutionPlan, patterns ...string) bool {
	t.Helper()
	var others, unused []string
	for _, s := range plan.Changes() {
		if !slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, s.ID) }) {
			others = append(others, s.ID)
		}
	}
	for _, pattern := range patterns {
		if !plan.Touches(pattern) {
			unused = append(unused, pattern)
		}
	}
	if len(others) == 0 && len(unused) == 0 {
		return true
	}
	t.Errorf("the plan should touch only %s; it also touches [%s] and does not touch [%s]:\n%s",
		strings.Join(patterns, ", "), strings.Join(others, ", "), strings.Join(unused, ", "), plan)
	return false
}
