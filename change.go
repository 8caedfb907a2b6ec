package planewright

// Action says what applying a step would do to the world.
type Action string

// The actions. Their values are part of the plan's JSON form.
const (
	// ActionNone means that all is as the step wants it.
	ActionNone Action = "none"
	// ActionCreate means that something is missing and will be made.
	ActionCreate Action = "create"
	// ActionUpdate means that something of ours is there and differs.
	ActionUpdate Action = "update"
	// ActionDelete means that something of ours is no longer wanted.
	ActionDelete Action = "delete"
	// ActionAdopt means that something we did not make is there and will be
	// made ours; only by a named opt-in, or where the platform means it to be shared.
	ActionAdopt Action = "adopt"
	// ActionBlocked means that the step must not be applied; Reason says why.
	ActionBlocked Action = "blocked"
	// ActionUnknown means that an input of the step is not known before
	// another step has run; Reason names it.
	ActionUnknown Action = "unknown"
)

// Change is what a step's check found: what would be done, field by field,
// and what it saw of the world.
type Change struct {
	// Action is what applying the step would do. The zero value means [ActionNone].
	Action Action `json:"action"`
	// Reason says why a step is blocked or unknown, or what a reader of the
	// plan should know about the action. Never a secret.
	Reason string `json:"reason,omitempty"`
	// Pending says what is as wanted and has not taken effect yet ("1 of 2
	// replicas are available"), although nothing is to be written: what an
	// install that was cut off has left. An install awaits it.
	Pending string `json:"pending,omitempty"`
	// Diff holds the fields that differ, in a stable order.
	Diff []FieldDiff `json:"diff,omitempty"`
	// Findings are what the check noticed beside the change. A finding of
	// severity [SeverityError] stops an install before anything is written.
	Findings []Finding `json:"findings,omitempty"`
	// Err is what a blocked step runs into, for programs that tell reasons apart
	// by type: [ExecutionPlan.Err] wraps it. It may be nil, and is not part of a
	// plan's JSON form.
	Err error `json:"-"`
	// Fingerprint stands for the state of the world that the check saw, made
	// of identities and versions (uid, generation, revision), never of
	// contents. A plan whose fingerprints no longer hold is stale.
	Fingerprint string `json:"fingerprint,omitempty"`
}

// FieldDiff is one field that differs between what is and what should be.
type FieldDiff struct {
	// Path names the field, led by the object where a change spans several:
	// "Deployment flyte/flyteadmin: spec.replicas".
	Path string `json:"path"`
	// Before and After are the field's values as short text; Before is empty
	// when the field is added, After when it is removed.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Secret marks a field whose values are not to be seen. Before and After
	// are then always empty.
	Secret bool `json:"secret,omitempty"`
}
