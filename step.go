package planewright

import (
	"context"
	"time"
)

// Step is one thing that must be so: a namespace, a Helm release, an IAM role
// with a given trust policy. It is checked (read only), applied (idempotent),
// awaited and undone by its functions, all of which get the [Run] they are
// part of. Functions that are nil have nothing to do; Check must be there.
//
// A Step is a value without state: the same step may be checked by several
// runs at once.
type Step struct {
	// ID names the step. It is made of segments of lower-case letters,
	// digits, '-', '_' and '.', joined by '/', from the general to the
	// particular: "flyte/ml/controlplane/release". Plans, events and reports
	// use it, so it stays the same from run to run.
	ID string
	// Title says in a few words what the step is about: "Helm release flyte/flyte-backend".
	Title string
	// Cluster is the name of the cluster that the step writes to, empty if it
	// writes to none. It bounds how many steps work on one cluster at a time.
	Cluster string
	// Needs lists the ids of the steps that must be done before this one.
	Needs []string
	// Objects lists what the step owns. It feeds the inventory, from which
	// what is no longer wanted is found, and is what a step "touches".
	Objects []Object
	// Check compares the world with what the step wants. It never writes. It
	// runs again right before Apply. It sets the step's outputs as far as
	// they are known. An error that comes from reading an [Output] not yet
	// known makes the step unknown in a plan, nothing worse.
	Check func(ctx context.Context, run *Run) (Change, error)
	// Apply makes it so. It is called only when Check found something to do
	// and must be safe to call again after it was cut off at any point. It
	// does not return while something it began still writes. It sets the
	// step's outputs that Check could not know.
	Apply func(ctx context.Context, run *Run) error
	// Await waits until what was applied has taken effect.
	Await func(ctx context.Context, run *Run) error
	// Verify probes whether the thing works, beyond being as wanted.
	Verify func(ctx context.Context, run *Run) ([]Finding, error)
	// CheckUndo tells what speaks against undoing the step. All steps are asked
	// before the first is undone; a finding of [SeverityError] refuses the whole
	// uninstall. It never writes.
	CheckUndo func(ctx context.Context, run *Run) ([]Finding, error)
	// Undo takes away what Apply made, and tells [Run.Keep] what it leaves.
	// It returns nil when there is nothing to take away.
	Undo func(ctx context.Context, run *Run) error
	// Render returns the desired state as files.
	Render func(ctx context.Context, run *Run) ([]File, error)
	// Timeout bounds Apply and Await together. Zero means the run's default,
	// see [WithTimeout].
	Timeout time.Duration
	// Unlocked marks a step that the lock itself stands on (the namespace
	// that holds it, say): it is applied before the lock is taken and must be
	// safe when two do it at once.
	Unlocked bool
}

// File is one rendered file.
type File struct {
	// Name is a slash-separated path relative to the render's root.
	Name string
	Data []byte
}

// Probe is one question that is asked before anything is planned: a
// precondition of the whole stack. Its findings appear in the plan.
type Probe struct {
	// ID follows the grammar of [Step.ID].
	ID string
	// Cluster is the name of the cluster asked, empty if none is.
	Cluster string
	// Run asks. An error means that the question could not be asked (an
	// unreachable server); what was found wrong is a finding of [SeverityError].
	Run func(ctx context.Context, run *Run) ([]Finding, error)
}
