package graph

// State says how a node ended.
type State int

// The states.
const (
	// NotStarted: the context ended, or a node that it needs did not get done.
	NotStarted State = iota
	// Done: Run returned nil.
	Done
	// Failed: Run returned an error.
	Failed
)

// Result is how one node ended.
type Result struct {
	State State
	// Err is what Run returned.
	Err error
	// Blocker is the id of a node that failed and that this one needs,
	// directly or through others. It is empty if the node was not started
	// because the context ended.
	Blocker string
}
