package planewright

import "time"

// EventKind tells what an [Event] is about.
type EventKind string

// The kinds of events.
const (
	// EventChecking: a plan or verification begins to look at a step.
	EventChecking EventKind = "checking"
	// EventChecked: the step was looked at; Action says what would be done.
	EventChecked EventKind = "checked"
	// EventStarted: the step is being applied or undone.
	EventStarted EventKind = "started"
	// EventProgress: what the step is doing or waiting for.
	EventProgress EventKind = "progress"
	// EventRetry: an attempt failed and will be made again.
	EventRetry EventKind = "retry"
	// EventFinished: the step is over; Outcome says how.
	EventFinished EventKind = "finished"
	// EventFinding: a probe or check found something.
	EventFinding EventKind = "finding"
	// EventLock: the lock is waited for, taken, lost or released.
	EventLock EventKind = "lock"
)

// Event is one thing that happened during a run. Events come one at a time,
// in order, from one goroutine; the run does not wait for whoever handles
// them, but does not return before the last one is handled.
type Event struct {
	Time time.Time `json:"time"`
	Kind EventKind `json:"kind"`
	// Stack is the name of the stack, Step the id of the step or probe, Cluster its cluster.
	Stack   string `json:"stack,omitempty"`
	Step    string `json:"step,omitempty"`
	Title   string `json:"title,omitempty"`
	Cluster string `json:"cluster,omitempty"`
	// Action is set in EventChecked and EventStarted, Outcome in EventFinished.
	Action  Action  `json:"action,omitempty"`
	Outcome Outcome `json:"outcome,omitempty"`
	// Attempt counts from 1.
	Attempt int `json:"attempt,omitempty"`
	// Message is for people. Never a secret.
	Message string `json:"message,omitempty"`
	// Finding is set in EventFinding.
	Finding *Finding `json:"finding,omitempty"`
	// Err is what went wrong, in EventRetry and EventFinished.
	Err error `json:"-"`
}
