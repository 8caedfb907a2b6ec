package planewright

import "strings"

// Severity ranks a [Finding].
type Severity string

// The severities, from harmless to fatal.
const (
	// SeverityInfo is worth knowing and needs no act.
	SeverityInfo Severity = "info"
	// SeverityWarning works today and will hurt some day.
	SeverityWarning Severity = "warning"
	// SeverityError does not work. An install with such a finding is refused
	// before anything is written.
	SeverityError Severity = "error"
	// SeverityUnprobed means that the question could not be answered from
	// here; the cause says why. It does not stop an install.
	SeverityUnprobed Severity = "unprobed"
)

// CodeNotYet is the code of findings about what could not be asked for,
// because a step of the same install makes what would be asked.
const CodeNotYet = "not-yet"

// CodeOrphan is the code of findings about what an earlier install has made,
// what nobody wants any more, and what cannot be taken away.
const CodeOrphan = "orphan"

// Finding is one result of a preflight or of a verification.
type Finding struct {
	Severity Severity `json:"severity"`
	// Code is a stable short name for the kind of finding, for example
	// "node-architecture"; programs compare it.
	Code string `json:"code"`
	// Step is the id of the step or probe that found it. The engine fills it in.
	Step string `json:"step,omitempty"`
	// Object is what the finding is about, if it is one thing.
	Object *Object `json:"object,omitempty"`
	// Cause says what is so, Fix what to do about it. Neither holds a secret.
	Cause string `json:"cause"`
	Fix   string `json:"fix,omitempty"`
}

// String prints the finding on one line.
func (f Finding) String() string {
	var b strings.Builder
	b.WriteString(string(f.Severity))
	b.WriteString(" [")
	b.WriteString(f.Code)
	b.WriteString("] ")
	if f.Object != nil {
		b.WriteString(f.Object.String())
		b.WriteString(": ")
	}
	b.WriteString(f.Cause)
	if f.Fix != "" {
		b.WriteString("; fix: ")
		b.WriteString(f.Fix)
	}
	return b.String()
}
