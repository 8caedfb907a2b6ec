package planewright

import "slices"

// Stack is a spec on an env: a named set of steps, with the probes that must
// pass first, the lock and the inventory. Products make stacks
// (flyte.Deployment's On); users add steps of their own. A Stack is a value:
// its methods return changed copies, and it can take part in many runs.
type Stack struct {
	name      string
	err       error
	steps     []Step
	probes    []Probe
	locker    Locker
	inventory Inventory
	pruner    Pruner
}

// Pruner makes a step that deletes what an inventory entry names and the
// stack no longer wants. The step confirms by labels or tags that it is ours
// before it deletes. It returns false for an entry that it does not know how to delete.
type Pruner func(entry InventoryEntry) (Step, bool)

// NewStack makes a stack without steps. The name, together with the product's,
// is the first part of its steps' ids: "flyte/ml".
func NewStack(name string) Stack { return Stack{name: name} }

// Name returns the stack's name.
func (s Stack) Name() string { return s.name }

// WithSteps adds steps. They may need steps that the stack already has, and
// later ones may need them.
func (s Stack) WithSteps(steps ...Step) Stack {
	s.steps = append(slices.Clip(s.steps), steps...)
	return s
}

// WithProbes adds probes to the stack's preflight.
func (s Stack) WithProbes(probes ...Probe) Stack {
	s.probes = append(slices.Clip(s.probes), probes...)
	return s
}

// WithLocker sets the lock that is held while the stack is changed. Without
// one nothing keeps two runs apart.
func (s Stack) WithLocker(locker Locker) Stack {
	s.locker = locker
	return s
}

// WithInventory sets where the stack remembers what it made, and how what is
// no longer wanted is deleted.
func (s Stack) WithInventory(inventory Inventory, pruner Pruner) Stack {
	s.inventory = inventory
	s.pruner = pruner
	return s
}

// WithError makes the stack invalid: every verb returns err before it does
// anything else. It is how a spec that is wrong turns into a stack without
// returning an error half way.
func (s Stack) WithError(err error) Stack {
	s.err = err
	return s
}

// Steps returns the stack's steps.
func (s Stack) Steps() []Step { return slices.Clone(s.steps) }
