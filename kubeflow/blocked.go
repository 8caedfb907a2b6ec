package kubeflow

import (
	"fmt"

	"github.com/planewright/planewright"
)

// blockedBy is the change of a step that runs into an error of this package's;
// programs find it by its type.
func blockedBy(err error, fingerprint string) planewright.Change {
	return planewright.Change{Action: planewright.ActionBlocked, Reason: err.Error(), Err: err, Fingerprint: fingerprint}
}

// blockedError is the error of applying a change that is blocked.
func blockedError(change planewright.Change) error {
	if change.Err != nil {
		return change.Err
	}
	return fmt.Errorf("%s: %w", change.Reason, planewright.ErrConflict)
}
