package cloud

import (
	"errors"
	"strings"

	"github.com/planewright/planewright"
)

// CallError says that a call to a cloud failed. errors.Is tells by root's
// sentinels why: planewright.ErrNotFound, ErrAlreadyExists, ErrDenied,
// ErrThrottled, ErrConflict, ErrQuota, ErrUnavailable, ErrTimeout, ErrInvalid.
type CallError struct {
	// Operation is the cloud's own name of the call: "iam:CreateRole",
	// "container.projects.locations.clusters.get".
	Operation string
	// Object is what the call was about.
	Object planewright.Object
	// Code is the cloud's own code ("LimitExceeded", "PERMISSION_DENIED");
	// RequestID is what its support asks for.
	Code, RequestID string
	// Message is the cloud's own text.
	Message string
	// Hint says what to do, if that is known.
	Hint string
	// Kind is the sentinel that it matches, nil for none.
	Kind error
	// Transient says that the same call may succeed later.
	Transient bool
	// Err is the error below.
	Err error
}

// Error implements error: call, object, what the cloud said, and the hint.
func (e *CallError) Error() string {
	var b strings.Builder
	b.WriteString(e.Operation)
	if e.Object.Name != "" {
		b.WriteString(" " + e.Object.String())
	}
	b.WriteString(": ")
	switch {
	case e.Message != "" && e.Code != "":
		b.WriteString(e.Code + ": " + e.Message)
	case e.Message != "":
		b.WriteString(e.Message)
	case e.Err != nil:
		b.WriteString(e.Err.Error())
	default:
		b.WriteString(e.Code)
	}
	if e.RequestID != "" {
		b.WriteString(" (request " + e.RequestID + ")")
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Is matches the sentinel.
func (e *CallError) Is(target error) bool { return e.Kind != nil && errors.Is(e.Kind, target) }

// Unwrap returns the error below.
func (e *CallError) Unwrap() error { return e.Err }

// Retryable implements [planewright.Retryable].
func (e *CallError) Retryable() bool { return e.Transient }
