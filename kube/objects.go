package kube

import (
	"context"
	"time"

	"github.com/planewright/planewright"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Objects reads and writes the objects of one cluster.
//
// Errors match the sentinels of package planewright: ErrNotFound (the object,
// its namespace, or the kind is not served), ErrAlreadyExists, ErrConflict
// ([*ConflictError] or a resourceVersion that no longer holds), ErrDenied
// (401 and 403), ErrInvalid (422, a field or size limit), ErrThrottled,
// ErrUnavailable, ErrTimeout. They name the object and the cluster, and say by
// [planewright.Retryable] whether the same call may succeed later.
type Objects interface {
	// Get reads one object.
	Get(ctx context.Context, ref Ref) (*unstructured.Unstructured, error)
	// List reads the objects of one kind.
	List(ctx context.Context, list ListRequest) ([]*unstructured.Unstructured, error)
	// Diff tells what Apply would change, by a server-side dry run. It
	// persists nothing. Applying to a namespace that does not exist yet, or a
	// kind that is not served yet, is a diff of ActionCreate with NotYet set.
	Diff(ctx context.Context, obj *unstructured.Unstructured, opts ApplyOptions) (Diff, error)
	// Apply makes the object's fields so by server-side apply with
	// [FieldManager], creating it if it is missing. A field of another
	// manager with another value is a [*ConflictError]. With metadata.resourceVersion
	// set it is a precondition.
	Apply(ctx context.Context, obj *unstructured.Unstructured, opts ApplyOptions) (*unstructured.Unstructured, error)
	// Create makes an object that must not exist yet.
	Create(ctx context.Context, obj *unstructured.Unstructured) (*unstructured.Unstructured, error)
	// Update replaces an object; its metadata.resourceVersion is the precondition and must be set.
	Update(ctx context.Context, obj *unstructured.Unstructured) (*unstructured.Unstructured, error)
	// Patch changes single fields of an object that exists. If the object is not
	// as the patch expects it (a test that does not hold, something to be removed
	// that is not there) nothing is changed, and the error matches ErrConflict.
	Patch(ctx context.Context, ref Ref, patch Patch) (*unstructured.Unstructured, error)
	// Delete deletes the object; one that is already gone is no error. It
	// does not wait until it is gone: Wait with [Gone] does.
	Delete(ctx context.Context, ref Ref, opts DeleteOptions) error
	// Wait watches until every object meets the condition. When the context's
	// deadline passes first, the error matches ErrTimeout and holds the
	// reasons: conditions, pods that cannot be scheduled or pull, quota, events.
	Wait(ctx context.Context, wait WaitRequest) error
}

// ListRequest selects objects of one kind.
type ListRequest struct {
	APIVersion, Kind string
	// Namespace is empty for all namespaces.
	Namespace string
	// Labels is a label selector as kubectl's -l takes it, empty for all.
	Labels string
}

// ApplyOptions change how Diff and Apply treat others' fields.
type ApplyOptions struct {
	// Force takes over fields that other managers own. Dangerous: use it only
	// behind an opt-in of the user's.
	Force bool
	// FieldManager is the manager's name, [FieldManager] if empty.
	FieldManager string
}

// DeleteOptions are preconditions of a delete.
type DeleteOptions struct {
	// UID, if set, deletes only the object with this uid; another one is ErrConflict.
	UID string
	// Orphan leaves the objects that this one owns in place.
	Orphan bool
}

// Diff is what applying an object would change.
type Diff struct {
	// Action is ActionNone, ActionCreate or ActionUpdate.
	Action planewright.Action
	// Fields are the differing fields, sorted by path. Values of a Secret's
	// data are marked as secret and empty.
	Fields []planewright.FieldDiff
	// Live is the object as it is, nil if it is missing.
	Live *unstructured.Unstructured
	// NotYet says what must exist before the object can: "namespace flyte".
	NotYet string
}

// Condition tells whether an object is as wanted, and what is missing if it
// is not. The object is nil while it does not exist.
type Condition func(obj *unstructured.Unstructured) (ok bool, reason string)

// WaitRequest says what to wait for.
type WaitRequest struct {
	Refs []Ref
	// Until is the condition, readiness by the object's kind if nil (a
	// Deployment rolled out, a Job complete, a CustomResourceDefinition
	// established, a PersistentVolumeClaim bound; anything else by its
	// Ready condition, or at once if it has none).
	Until Condition
	// Progress, if set, is told what is being waited for whenever that changes.
	Progress func(string)
}

// Gone is the condition that an object no longer exists.
func Gone(obj *unstructured.Unstructured) (bool, string) {
	if obj == nil {
		return true, ""
	}
	reason := "still exists"
	if f := obj.GetFinalizers(); len(f) > 0 {
		reason += ", finalizers " + joinQuoted(f)
	}
	if since := obj.GetDeletionTimestamp(); since != nil {
		reason += ", being deleted since " + since.UTC().Format(time.RFC3339)
	}
	return false, reason
}
