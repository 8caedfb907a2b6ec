package planewright

import (
	"fmt"
	"strings"
)

// Problem is one broken rule in a spec.
type Problem struct {
	// Path leads to the field as a user wrote it: "dataplanes[1].cluster".
	Path string
	// Value is the offending value as short text, empty if it is missing or a secret.
	Value string
	// Rule says what must hold, Fix what to write instead.
	Rule, Fix string
}

// String prints the problem on one line.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Path)
	if p.Value != "" {
		fmt.Fprintf(&b, " %q", p.Value)
	}
	b.WriteString(": ")
	b.WriteString(p.Rule)
	if p.Fix != "" {
		b.WriteString("; fix: ")
		b.WriteString(p.Fix)
	}
	return b.String()
}

// ValidationError holds every problem of a spec. It matches [ErrInvalid].
type ValidationError struct {
	// Spec names what was validated: "flyte deployment ml".
	Spec string
	// Problems are in the order of the spec's fields; there is at least one.
	Problems []Problem
}

// Error implements error: all problems, one a line.
func (e *ValidationError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v:", e.Spec, ErrInvalid)
	for _, p := range e.Problems {
		b.WriteString("\n  ")
		b.WriteString(p.String())
	}
	return b.String()
}

// Is makes the error match [ErrInvalid].
func (e *ValidationError) Is(target error) bool { return target == ErrInvalid }

// Problems collects problems while a spec is validated. The zero value is ready to use.
type Problems struct {
	list []Problem
}

// Add notes that the value at path breaks the rule, and the fix.
func (p *Problems) Add(path, value, rule, fix string) {
	p.list = append(p.list, Problem{Path: path, Value: value, Rule: rule, Fix: fix})
}

// Err returns a [*ValidationError] with all that was added, or nil if nothing was.
func (p *Problems) Err(spec string) error {
	if len(p.list) == 0 {
		return nil
	}
	return &ValidationError{Spec: spec, Problems: append([]Problem(nil), p.list...)}
}
