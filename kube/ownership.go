package kube

import (
	"fmt"
	"strings"

	"github.com/planewright/planewright"
)

// OwnershipError says that a release would take over what belongs to somebody
// else. Nothing was written. It matches [planewright.ErrConflict].
type OwnershipError struct {
	// Cluster and Release name the release that was to be installed: "flyte/flyte-backend".
	Cluster, Release string
	// Objects are all that are in the way, in install order.
	Objects []OwnedObject
}

// OwnedObject is an object in the way of a release.
type OwnedObject struct {
	Ref Ref
	// Owner says whose it is: "release other/flyte", "no release".
	Owner string
}

// Error implements error.
func (e *OwnershipError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "release %s in cluster %s: %v, nothing was written: it would take over", e.Release, e.Cluster, planewright.ErrConflict)
	for _, o := range e.Objects {
		fmt.Fprintf(&b, "\n  %s, which belongs to %s", o.Ref, o.Owner)
	}
	b.WriteString("\nremove what is in the way, give the release another name, or allow it to adopt them")
	return b.String()
}

// Is makes the error match [planewright.ErrConflict].
func (e *OwnershipError) Is(target error) bool { return target == planewright.ErrConflict }

// Retryable reports false: who owns an object is for a person to decide.
func (e *OwnershipError) Retryable() bool { return false }
