package kubeflow

import (
	"fmt"
	"strings"

	"github.com/planewright/planewright"
)

// Sign is what an operator's installation shows when it does not go on.
type Sign string

// The signs, in the order in which an installation can meet them.
const (
	// SignCatalogUnhealthy: the catalog's server does not answer. Matches [planewright.ErrUnavailable].
	SignCatalogUnhealthy Sign = "catalog-unhealthy"
	// SignResolutionFailed: no set of versions fits what is subscribed to. Matches [planewright.ErrConflict].
	SignResolutionFailed Sign = "resolution-failed"
	// SignBundleUnpackFailed: the operator's bundle image cannot be unpacked. Matches [planewright.ErrUnavailable].
	SignBundleUnpackFailed Sign = "bundle-unpack-failed"
	// SignForeignPlan: the install plan would install or upgrade something that
	// is no pin; it is never approved. Matches [planewright.ErrConflict].
	SignForeignPlan Sign = "foreign-plan"
	// SignNotApproved: the install plan may not be approved with these credentials. Matches [planewright.ErrDenied].
	SignNotApproved Sign = "plan-not-approved"
	// SignPlanFailed: the install plan has failed, for good. Matches [planewright.ErrUnavailable].
	SignPlanFailed Sign = "plan-failed"
	// SignRequirements: the operator waits for something that is not there. Matches [planewright.ErrNotFound].
	SignRequirements Sign = "requirements-not-met"
	// SignOperatorGroup: the namespace has no OperatorGroup, several, or one
	// that the operator cannot be installed with. Matches [planewright.ErrConflict].
	SignOperatorGroup Sign = "operator-group"
	// SignInstalling: the operator's Deployment does not become available. Matches [planewright.ErrTimeout].
	SignInstalling Sign = "csv-installing"
	// SignFailed: the operator has failed. Matches [planewright.ErrUnavailable].
	SignFailed Sign = "csv-failed"
	// SignStalled: nothing happens. Matches [planewright.ErrTimeout].
	SignStalled Sign = "stalled"
	// SignReleaseFailed: the operator could not install the component. Matches [planewright.ErrUnavailable].
	SignReleaseFailed Sign = "release-failed"
)

// sentinel is the error of package planewright that the sign matches.
func (s Sign) sentinel() error {
	switch s {
	case SignResolutionFailed, SignForeignPlan, SignOperatorGroup:
		return planewright.ErrConflict
	case SignNotApproved:
		return planewright.ErrDenied
	case SignRequirements:
		return planewright.ErrNotFound
	case SignInstalling, SignStalled:
		return planewright.ErrTimeout
	case SignCatalogUnhealthy, SignBundleUnpackFailed, SignPlanFailed, SignFailed, SignReleaseFailed:
	}
	return planewright.ErrUnavailable
}

// OperatorError says why an operator could not be brought to its pin.
type OperatorError struct {
	Sign Sign
	// Object is what shows the sign.
	Object planewright.Object
	// Cause says what was found, Fix what to do about it.
	Cause, Fix string
	// Err is the error of a wait that ran out, nil if there was none.
	Err error
}

// Error implements error.
func (e *OperatorError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s: %s", e.Object, e.Sign, e.Cause)
	if e.Fix != "" {
		b.WriteString("; fix: " + e.Fix)
	}
	if e.Err != nil {
		b.WriteString("; " + e.Err.Error())
	}
	return b.String()
}

// Is makes the error match the sentinel of its sign.
func (e *OperatorError) Is(target error) bool { return target == e.Sign.sentinel() }

// Unwrap returns the error of the wait that ran out.
func (e *OperatorError) Unwrap() error { return e.Err }

// Retryable reports false: what could pass by itself was waited for.
func (e *OperatorError) Retryable() bool { return false }
