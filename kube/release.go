package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/planewright/planewright"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ErrReleasePending says that a Helm operation on the release was cut off, or
// is under way in somebody else's hands. Typed: [*PendingError].
var ErrReleasePending = errors.New("release is pending")

// Release is a Helm release as it should be.
type Release struct {
	// Name and Namespace are the release's. The namespace must exist when the
	// release is applied.
	Name, Namespace string
	// Chart is what to install.
	Chart *Chart
	// Values are the values given to the chart, merged over its own as Helm does.
	Values Values
	// Owner marks the release's records as the work of one stack. A release
	// with the same owner that was left pending is recovered; any other is
	// refused with a [*PendingError].
	Owner string
	// RecoverPending recovers a pending release of another owner too, once it
	// is older than PendingAge. Dangerous: somebody may be at work on it.
	RecoverPending bool
	// PendingAge is how old a pending release of another owner must be
	// before RecoverPending touches it. Zero means 15 minutes.
	PendingAge time.Duration
	// Adopt takes over objects that exist and belong to no release or another
	// one. Dangerous. Without it they are an error that lists all of them.
	Adopt bool
	// AdoptOrphans takes over these objects where they exist and belong to no
	// release, as those do that the software has made itself.
	AdoptOrphans []Ref
	// DropCRDs lets Helm delete the chart's CustomResourceDefinitions, and
	// with them every custom resource, when a later revision or an uninstall
	// drops them. Dangerous. By default they are kept.
	DropCRDs bool
	// Timeout bounds Helm's hooks. Zero means 5 minutes.
	Timeout time.Duration
}

// Releases manages the Helm releases of one cluster. What it writes looks to
// the helm command as if helm had written it.
//
// Errors match the sentinels of package planewright as those of [Objects] do,
// and [ErrReleasePending]. An error that a chart raises while it is rendered
// matches ErrInvalid and holds the chart's message. No operation returns while
// Helm still writes, whatever becomes of its context; one whose context ended
// reports the release's state as it was read afterwards.
type Releases interface {
	// Render renders the release without a cluster's facts, for files.
	// Objects come in Helm's install order; the namespace is set on each.
	Render(ctx context.Context, release Release) ([]*unstructured.Unstructured, error)
	// State reads the latest record. A release that does not exist is ErrNotFound.
	State(ctx context.Context, namespace, name string) (ReleaseState, error)
	// History reads all records, oldest first.
	History(ctx context.Context, namespace, name string) ([]ReleaseState, error)
	// List reads the latest record of every release in the namespace, all
	// namespaces if it is empty.
	List(ctx context.Context, namespace string) ([]ReleaseState, error)
	// Plan compares the release with what is deployed: the rendered manifest
	// with the recorded one, and with the live objects. It persists nothing.
	Plan(ctx context.Context, release Release) (ReleasePlan, error)
	// Apply installs or upgrades, so that a Plan afterwards finds nothing. It
	// does not wait for workloads. Objects that the release no longer has are deleted.
	Apply(ctx context.Context, release Release) (ReleaseState, error)
	// Rollback makes an earlier revision the current one, 0 for the one before.
	Rollback(ctx context.Context, namespace, name string, revision int) (ReleaseState, error)
	// Uninstall deletes the release and waits until its objects are gone. It
	// returns what it left in place. A release that does not exist is ErrNotFound.
	Uninstall(ctx context.Context, namespace, name string) (kept []Ref, err error)
}

// ReleaseState is one record of a release.
type ReleaseState struct {
	Name, Namespace string
	Revision        int
	// Status is Helm's word: deployed, failed, superseded, uninstalling,
	// pending-install, pending-upgrade, pending-rollback.
	Status string
	// Chart, ChartVersion and AppVersion are the installed chart's.
	Chart, ChartVersion, AppVersion string
	// Owner is who installed it through this module, empty if nobody did.
	Owner string
	// Updated is when the record was last deployed.
	Updated time.Time
	// Description is Helm's last word on it.
	Description string
	// Objects are the names of the objects in its manifest, in install order.
	Objects []Ref
}

// Pending reports whether a Helm operation was begun and not finished.
func (s ReleaseState) Pending() bool {
	switch s.Status {
	case "pending-install", "pending-upgrade", "pending-rollback", "uninstalling":
		return true
	}
	return false
}

// ReleasePlan is what applying a release would do.
type ReleasePlan struct {
	// Action is ActionNone, ActionCreate, ActionUpdate or ActionAdopt.
	Action planewright.Action
	// Reason says why, beyond the diff: "revision 3 failed", "recovering a pending install".
	Reason string
	// Diff is the difference between the recorded manifest and the rendered
	// one, and, marked "(drift)" in the path, between the manifest and the
	// live objects. What is in Secrets is marked as secret.
	Diff []planewright.FieldDiff
	// Drift reports whether live objects differ from the recorded manifest.
	Drift bool
	// Deletes are the objects that the new revision no longer has and Helm would delete.
	Deletes []Ref
	// Objects are the rendered objects, in install order.
	Objects []*unstructured.Unstructured
	// State is the latest record, nil if there is none.
	State *ReleaseState
	// Fingerprint stands for what was seen, see planewright.Change.
	Fingerprint string
}

// PendingError says that a release is in the middle of a Helm operation that
// is not known to be ours. It matches [ErrReleasePending].
type PendingError struct {
	Cluster string
	State   ReleaseState
	// Age is how long ago the operation began.
	Age time.Duration
}

// Error implements error.
func (e *PendingError) Error() string {
	return fmt.Sprintf("release %s/%s in cluster %s: %v: revision %d is %s for %s; if nobody is at work on it, roll it back with helm, or allow its recovery",
		e.State.Namespace, e.State.Name, e.Cluster, ErrReleasePending, e.State.Revision, e.State.Status, e.Age.Round(time.Second))
}

// Is makes the error match [ErrReleasePending].
func (e *PendingError) Is(target error) bool { return target == ErrReleasePending }

// Retryable reports false: a pending release of somebody else's is for a person to judge.
func (e *PendingError) Retryable() bool { return false }
