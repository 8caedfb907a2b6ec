package planewright

// Output is a typed value that one step gives to later ones: a token, an
// endpoint, the name of a role. It is a key; the value lives in the [Run], so
// a stack can take part in several runs at once.
type Output[T any] struct {
	step, name string
}

// NewOutput names an output of the step with the given id.
func NewOutput[T any](step, name string) Output[T] {
	return Output[T]{step: step, name: name}
}

// Set gives the output its value for this run.
func (o Output[T]) Set(run *Run, value T) {
	run.setOutput(o.key(), value)
}

// Get returns the output's value in this run. Before the step that gives it
// has run, it returns an [*UnknownError]; a Check that passes this error on
// makes its step unknown in the plan.
func (o Output[T]) Get(run *Run) (T, error) {
	if v, ok := run.output(o.key()); ok {
		return v.(T), nil
	}
	var zero T
	return zero, &UnknownError{Step: o.step, Output: o.name}
}

// From returns the value that the output got in the run that the report is
// about, as [Output.Get] does.
func (o Output[T]) From(report *Report) (T, error) {
	return o.Get(&Run{runState: report.run})
}

// Step returns the id of the step that gives the output.
func (o Output[T]) Step() string { return o.step }

func (o Output[T]) key() string { return o.step + "#" + o.name }
