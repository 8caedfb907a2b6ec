package planewright

import (
	"errors"
	"fmt"
	"strings"
)

// The sentinel errors. Every error that this module returns can be told apart
// with [errors.Is] by these and with [errors.As] by the typed errors that
// match them; no caller has to compare texts.
var (
	// ErrInvalid: a spec breaks a rule. Typed: [*ValidationError].
	ErrInvalid = errors.New("invalid")
	// ErrBlocked: findings or blocked steps forbid the install; nothing was
	// written. Typed: [*BlockedError].
	ErrBlocked = errors.New("blocked")
	// ErrStale: the world is no longer what the plan saw. Typed: [*StaleError].
	ErrStale = errors.New("plan is stale")
	// ErrLocked: somebody else holds the lock. Typed: [*LockedError].
	ErrLocked = errors.New("locked")
	// ErrLockLost: the lock could not be renewed, so the run was stopped.
	ErrLockLost = errors.New("lock lost")
	// ErrUnknown: a value is not known before a step has run. Typed: [*UnknownError].
	ErrUnknown = errors.New("not known yet")
	// ErrNotFound: an object, release, chart, cluster or secret does not exist.
	ErrNotFound = errors.New("not found")
	// ErrAlreadyExists: an object to be created is there already.
	ErrAlreadyExists = errors.New("already exists")
	// ErrConflict: somebody else owns a field or an object, or wrote it in between.
	ErrConflict = errors.New("conflict")
	// ErrDenied: credentials are missing, wrong, or do not allow the call.
	ErrDenied = errors.New("denied")
	// ErrQuota: a limit of the account or the cluster is reached; waiting does not help.
	ErrQuota = errors.New("quota exceeded")
	// ErrThrottled: the other side asks to slow down. Retryable.
	ErrThrottled = errors.New("throttled")
	// ErrUnavailable: the other side cannot be reached or does not answer. Retryable.
	ErrUnavailable = errors.New("unavailable")
	// ErrTimeout: a wait ran out; the error says what it was waiting for.
	ErrTimeout = errors.New("timed out")
	// ErrUnsupported: it cannot be done on this platform or in this version.
	ErrUnsupported = errors.New("not supported")
)

// Retryable is implemented by errors that know whether the same call may
// succeed later. The run retries only errors in whose chain it finds one that
// says so.
type Retryable interface {
	error
	// Retryable reports whether trying again makes sense.
	Retryable() bool
}

// UnknownError says that an output was read before its step gave it a value.
type UnknownError struct {
	// Step is the id of the step that gives the output, Output its name.
	Step, Output string
}

// Error implements error.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("%s of step %s is not known before it has run", e.Output, e.Step)
}

// Is makes the error match [ErrUnknown].
func (e *UnknownError) Is(target error) bool { return target == ErrUnknown }

// StaleError says that a step was not applied because the world has changed
// since the plan was made. Plan again.
type StaleError struct {
	// Step is the id of the step.
	Step string
	// Planned and Found are what the plan saw and what is there now.
	Planned, Found Change
}

// Error implements error.
func (e *StaleError) Error() string {
	return fmt.Sprintf("step %s: %v: planned %s, now %s; make a new plan", e.Step, ErrStale, e.Planned.Action, e.Found.Action)
}

// Is makes the error match [ErrStale].
func (e *StaleError) Is(target error) bool { return target == ErrStale }

// BlockedError says why an install was refused before anything was written.
type BlockedError struct {
	// Findings are those of severity [SeverityError].
	Findings []Finding
	// Steps maps the ids of the blocked steps to the reasons.
	Steps []BlockedStep
}

// BlockedStep is one step that must not be applied.
type BlockedStep struct {
	ID, Reason string
	// Err is the step's [Change.Err], nil if it has none.
	Err error
}

// Error implements error: all reasons, one a line.
func (e *BlockedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v, nothing was written:", ErrBlocked)
	for _, f := range e.Findings {
		b.WriteString("\n  ")
		b.WriteString(f.String())
	}
	for _, s := range e.Steps {
		fmt.Fprintf(&b, "\n  step %s: %s", s.ID, s.Reason)
	}
	return b.String()
}

// Is makes the error match [ErrBlocked].
func (e *BlockedError) Is(target error) bool { return target == ErrBlocked }

// Unwrap returns what the blocked steps run into.
func (e *BlockedError) Unwrap() []error {
	var errs []error
	for _, s := range e.Steps {
		if s.Err != nil {
			errs = append(errs, s.Err)
		}
	}
	return errs
}
