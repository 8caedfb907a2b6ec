package admin

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/planewright/planewright"
)

// Error says that a call to flyteadmin failed. errors.Is tells by root's
// sentinels why: planewright.ErrNotFound, ErrAlreadyExists, ErrDenied,
// ErrInvalid, ErrConflict, ErrThrottled, ErrUnavailable, ErrTimeout,
// ErrUnsupported.
type Error struct {
	// Op is flyteadmin's own name of the call, "RegisterProject"; "Health" for
	// the health check and "Token" for a login.
	Op string
	// Path is the path of the call, without the endpoint: "/api/v1/projects".
	Path string
	// Status is the HTTP status, 0 if there was no answer.
	Status int
	// Code is the gRPC code in the answer, [CodeNone] if it held none.
	Code Code
	// Message is what the server said, on one line and not longer than
	// [MaxMessage] bytes.
	Message string
	// Hint says what to do, if that is known.
	Hint string
	// Kind is the sentinel that the error matches, nil for none.
	Kind error
	// Transient says that the same call may succeed later.
	Transient bool
	// Uncertain says that the call may have had its effect all the same: the
	// answer was lost, or the server failed on the way.
	Uncertain bool
	// Err is the error below, if there is one.
	Err error

	retryAfter time.Duration
}

// MaxMessage bounds [Error.Message].
const MaxMessage = 512

// Error implements error: the call, what was answered, and the hint.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "flyteadmin: %s %s: ", e.Op, e.Path)
	switch {
	case e.Status != 0 && e.Code != CodeNone:
		fmt.Fprintf(&b, "%d %s", e.Status, e.Code)
	case e.Status != 0:
		fmt.Fprintf(&b, "%d", e.Status)
	case e.Kind != nil:
		b.WriteString(e.Kind.Error())
	default:
		b.WriteString("no answer")
	}
	switch {
	case e.Message != "":
		b.WriteString(": " + e.Message)
	case e.Err != nil:
		b.WriteString(": " + e.Err.Error())
	}
	if e.Uncertain {
		b.WriteString("; it may have had its effect")
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Is matches the sentinel.
func (e *Error) Is(target error) bool { return e.Kind != nil && errors.Is(e.Kind, target) }

// Unwrap returns the error below.
func (e *Error) Unwrap() error { return e.Err }

// Retryable implements [planewright.Retryable]: the same call may succeed later.
func (e *Error) Retryable() bool { return e.Transient }

var _ planewright.Retryable = (*Error)(nil)

// Code is a gRPC status code, as the gateway puts it into the answers of calls
// that failed.
type Code int

// The codes.
const (
	// CodeNone: the answer held no code, so it may not be flyteadmin's own.
	CodeNone Code = iota
	// CodeCancelled: the caller went away.
	CodeCancelled
	// CodeUnknown: flyteadmin does not say; often an error of its database.
	CodeUnknown
	// CodeInvalidArgument: the request breaks a rule; unknown projects and
	// domains are told this way too.
	CodeInvalidArgument
	// CodeDeadlineExceeded: flyteadmin gave up.
	CodeDeadlineExceeded
	// CodeNotFound: it does not exist.
	CodeNotFound
	// CodeAlreadyExists: it exists.
	CodeAlreadyExists
	// CodePermissionDenied: the credentials do not allow it.
	CodePermissionDenied
	// CodeResourceExhausted: a limit is reached.
	CodeResourceExhausted
	// CodeFailedPrecondition: it cannot be done in this state.
	CodeFailedPrecondition
	// CodeAborted: somebody else came in between.
	CodeAborted
	// CodeOutOfRange: a value is outside of what exists.
	CodeOutOfRange
	// CodeUnimplemented: this version does not offer it.
	CodeUnimplemented
	// CodeInternal: flyteadmin failed.
	CodeInternal
	// CodeUnavailable: flyteadmin cannot serve now.
	CodeUnavailable
	// CodeDataLoss: data is damaged.
	CodeDataLoss
	// CodeUnauthenticated: credentials are missing or not valid.
	CodeUnauthenticated
)

// String returns the code's name in gRPC's documentation, "NOT_FOUND".
func (c Code) String() string {
	names := [...]string{
		"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED",
		"FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
	}
	if c < 0 || int(c) >= len(names) {
		return fmt.Sprintf("code %d", int(c))
	}
	return names[c]
}
