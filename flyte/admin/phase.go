package admin

// Phase is where an execution stands.
type Phase string

// The phases of an execution.
const (
	// PhaseUndefined: flyteadmin has recorded it and nothing has run it yet.
	PhaseUndefined Phase = "UNDEFINED"
	// PhaseQueued: it waits for its cluster.
	PhaseQueued Phase = "QUEUED"
	// PhaseRunning: it runs.
	PhaseRunning Phase = "RUNNING"
	// PhaseSucceeding: it is about to succeed.
	PhaseSucceeding Phase = "SUCCEEDING"
	// PhaseSucceeded is terminal.
	PhaseSucceeded Phase = "SUCCEEDED"
	// PhaseFailing: it is about to fail.
	PhaseFailing Phase = "FAILING"
	// PhaseFailed is terminal.
	PhaseFailed Phase = "FAILED"
	// PhaseAborting: somebody has terminated it; its cluster has not said yet
	// that it is gone.
	PhaseAborting Phase = "ABORTING"
	// PhaseAborted is terminal: somebody terminated it.
	PhaseAborted Phase = "ABORTED"
	// PhaseTimedOut is terminal.
	PhaseTimedOut Phase = "TIMED_OUT"
)

// Terminal reports whether the phase never changes any more. One that this
// package does not know is not.
func (p Phase) Terminal() bool {
	switch p {
	case PhaseSucceeded, PhaseFailed, PhaseAborted, PhaseTimedOut:
		return true
	default:
		return false
	}
}
