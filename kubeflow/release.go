package kubeflow

import "slices"

// Release is a release of Kubeflow as data: its operators, pinned, and what is
// known about them. [Release2603] is one; make your own with [NewRelease]. A Release is a
// value: its methods return changed copies.
type Release struct {
	name      string
	operators []Operator
}

// NewRelease names a release and its operators.
func NewRelease(name string, operators ...Operator) Release {
	return Release{name: name}.WithOperators(operators...)
}

// Name returns the release's name: "26.03".
func (r Release) Name() string { return r.name }

// String returns the release's name.
func (r Release) String() string { return r.name }

// WithOperators adds operators. One of a component that is there takes its place.
func (r Release) WithOperators(operators ...Operator) Release {
	r.operators = slices.Clone(r.operators)
	for _, o := range operators {
		o = o.clone()
		if i := slices.IndexFunc(r.operators, func(have Operator) bool { return have.Component == o.Component }); i >= 0 {
			r.operators[i] = o
		} else {
			r.operators = append(r.operators, o)
		}
	}
	return r
}

// WithPin sets which version of a component's operator is installed, by the name
// of its ClusterServiceVersion: "kfbase-operator.v26.3.0". A component that the release
// does not have is left out.
func (r Release) WithPin(component Component, csv string) Release {
	if o, ok := r.Operator(component); ok {
		o.CSV = csv
		return r.WithOperators(o)
	}
	return r
}

// Operator returns the operator of a component.
func (r Release) Operator(component Component) (Operator, bool) {
	i := slices.IndexFunc(r.operators, func(o Operator) bool { return o.Component == component })
	if i < 0 {
		return Operator{}, false
	}
	return r.operators[i].clone(), true
}
