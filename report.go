package planewright

import "time"

// Outcome says how a step ended.
type Outcome string

// The outcomes. Their values are part of the report's JSON form.
const (
	// OutcomeUnchanged: there was nothing to do.
	OutcomeUnchanged Outcome = "unchanged"
	// OutcomeDone: it was applied (or undone) and has taken effect.
	OutcomeDone Outcome = "done"
	// OutcomeFailed: it failed; Err says why.
	OutcomeFailed Outcome = "failed"
	// OutcomeNotTried: it was not begun, because what it needs failed, or the run was stopped.
	OutcomeNotTried Outcome = "not tried"
	// OutcomeUnknown: it was cut off, and looking again did not tell whether it was done.
	OutcomeUnknown Outcome = "unknown"
)

// StepReport is how one step went.
type StepReport struct {
	ID      string  `json:"id"`
	Title   string  `json:"title,omitempty"`
	Cluster string  `json:"cluster,omitempty"`
	Action  Action  `json:"action"`
	Outcome Outcome `json:"outcome"`
	// Reason says for what is not tried which step stands in its way.
	Reason string `json:"reason,omitempty"`
	// Started and Ended are zero for what was not begun.
	Started  time.Time `json:"started,omitzero"`
	Ended    time.Time `json:"ended,omitzero"`
	Attempts int       `json:"attempts,omitempty"`
	Err      error     `json:"-"`
}
