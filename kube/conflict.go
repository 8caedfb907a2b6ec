package kube

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/planewright/planewright"
)

// ConflictError says that another field manager owns fields that an apply
// would change. It matches [planewright.ErrConflict].
type ConflictError struct {
	Object planewright.Object
	// Managers are the other managers with the fields in question, sorted.
	Managers []ManagerFields
}

// ManagerFields are the fields that one manager owns.
type ManagerFields struct {
	Manager string
	// Fields are paths as the API server prints them: ".data.key", ".spec.replicas".
	Fields []string
}

// Error implements error.
func (e *ConflictError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v:", e.Object, planewright.ErrConflict)
	for i, m := range e.Managers {
		if i > 0 {
			b.WriteByte(';')
		}
		fmt.Fprintf(&b, " field manager %q owns %s", m.Manager, strings.Join(m.Fields, ", "))
	}
	b.WriteString("; leave these fields to it, or have it give them up")
	return b.String()
}

// Is makes the error match [planewright.ErrConflict].
func (e *ConflictError) Is(target error) bool { return target == planewright.ErrConflict }

// Retryable reports false: a field conflict does not go away by itself.
func (e *ConflictError) Retryable() bool { return false }

func joinQuoted(list []string) string {
	q := make([]string, len(list))
	for i, s := range list {
		q[i] = strconv.Quote(s)
	}
	return strings.Join(q, ", ")
}
