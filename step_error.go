package planewright

import (
	"errors"
	"fmt"
	"strings"
)

// The operations in which a [StepError] can happen.
const (
	OpProbe  = "probe"
	OpCheck  = "check"
	OpApply  = "apply"
	OpAwait  = "wait"
	OpVerify = "verify"
	OpUndo   = "undo"
	OpRender = "render"
)

// StepError says which step failed, at what, on which cluster.
type StepError struct {
	// Step is the id of the step or probe, Cluster its cluster, if it has one.
	Step, Cluster string
	// Op is what was being done: [OpCheck], [OpApply], …
	Op string
	// Attempts is how often it was tried.
	Attempts int
	// Err is what went wrong.
	Err error
}

// Error implements error.
func (e *StepError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "step %s", e.Step)
	if e.Cluster != "" {
		fmt.Fprintf(&b, " on cluster %s", e.Cluster)
	}
	fmt.Fprintf(&b, ": %s", e.Op)
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " (%d attempts)", e.Attempts)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	return b.String()
}

// Unwrap returns what went wrong.
func (e *StepError) Unwrap() error { return e.Err }

// RunError says which steps of a run failed, each once, and which were not
// tried because of them. [errors.Is] and [errors.As] find the causes.
type RunError struct {
	// Failed are the steps that failed, in the order of their stacks.
	Failed []*StepError
	// NotTried are the ids of the steps that were not begun.
	NotTried []string
	// Cause is set when the whole run was stopped: the context's cause, or [ErrLockLost].
	Cause error
}

// Error implements error: a line for each failed step.
func (e *RunError) Error() string {
	var lines []string
	if e.Cause != nil {
		lines = append(lines, "stopped: "+e.Cause.Error())
	}
	for _, f := range e.Failed {
		lines = append(lines, f.Error())
	}
	if len(e.NotTried) > 0 {
		lines = append(lines, "not tried: "+strings.Join(e.NotTried, ", "))
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the causes.
func (e *RunError) Unwrap() []error {
	var errs []error
	if e.Cause != nil {
		errs = append(errs, e.Cause)
	}
	for _, f := range e.Failed {
		errs = append(errs, f)
	}
	return errs
}

// retryable reports whether some error in the chain says that a retry makes sense.
func retryable(err error) bool {
	if r, ok := errors.AsType[Retryable](err); ok {
		return r.Retryable()
	}
	return errors.Is(err, ErrThrottled) || errors.Is(err, ErrUnavailable)
}
