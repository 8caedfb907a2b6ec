package container

import (
	"errors"
	"fmt"
	"strings"

	"github.com/planewright/planewright"
)

// Error is what a container engine answers. errors.Is tells by the root
// package's sentinels what it means.
type Error struct {
	// Op is what was asked: "start container".
	Op string
	// Object is what it was about: a container, a volume, an image.
	Object string
	// Kind is the sentinel that it matches, nil for none.
	Kind error
	// Transient says that the same call may succeed later.
	Transient bool
	// Err is what the engine said.
	Err error
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%s %s: %v", e.Op, e.Object, e.Err) }

// Is matches the sentinel.
func (e *Error) Is(target error) bool { return e.Kind != nil && errors.Is(e.Kind, target) }

// Unwrap returns what the engine said.
func (e *Error) Unwrap() error { return e.Err }

// Retryable implements [planewright.Retryable].
func (e *Error) Retryable() bool { return e.Transient }

// NoEngineError says that no container engine answers. It matches
// [planewright.ErrUnavailable], and is not retried: an engine is started by a person.
type NoEngineError struct {
	// Tried are the sockets in the order in which they were tried.
	Tried []Attempt
}

// Attempt is a socket at which no engine answered.
type Attempt struct {
	Socket string
	Err    error
}

// Error implements error: every socket with the reason.
func (e *NoEngineError) Error() string {
	if len(e.Tried) == 0 {
		return "no container engine: there was no socket to try"
	}
	tried := make([]string, len(e.Tried))
	for i, a := range e.Tried {
		tried[i] = fmt.Sprintf("%s (%v)", a.Socket, a.Err)
	}
	return "no container engine answers; tried " + strings.Join(tried, ", ")
}

// Is makes the error match [planewright.ErrUnavailable].
func (e *NoEngineError) Is(target error) bool { return target == planewright.ErrUnavailable }

// Retryable implements [planewright.Retryable].
func (e *NoEngineError) Retryable() bool { return false }
