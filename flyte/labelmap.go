package flyte

import (
	"slices"
)

// LabelMap says which data planes run which executions. An execution has one
// label: its own if it was started with one, otherwise that of its workflow, of
// its project's domain, or of its project, in this order, and otherwise the
// default. A label stands for clusters with weights. It is a value: every
// method returns a changed copy.
type LabelMap struct {
	labels       []label
	defaultLabel string
	bindings     []LabelBinding
	// incomplete are the bindings, by their places, that lack what their method is about.
	incomplete []int
}

type label struct {
	name    string
	weights []ClusterWeight
}

// ClusterWeight is a cluster's part in a label: see [Weight].
type ClusterWeight struct {
	// Cluster is the name of a data plane, or of [ControlPlane.WithExecution].
	Cluster string
	// Weight is its share among the weights of the label.
	Weight int
}

// Weight gives a cluster a whole-numbered part in a label: with 30 and 70, or
// 3 and 7, three of ten executions run on the first. Zero keeps the cluster in
// the label without giving it executions.
func Weight(cluster string, weight int) ClusterWeight {
	return ClusterWeight{Cluster: cluster, Weight: weight}
}

// LabelBinding gives a label to executions. An empty Workflow stands for all
// of the domain, an empty Domain for all of the project.
type LabelBinding struct {
	Project, Domain, Workflow, Label string
}

// NewLabelMap has no labels yet.
func NewLabelMap() LabelMap { return LabelMap{} }

// WithLabel sets the clusters of a label. A label is lower case: flyteadmin
// makes it so where it reads the map, and then finds no other. A later call for
// the same label takes the place of an earlier one.
func (m LabelMap) WithLabel(name string, weights ...ClusterWeight) LabelMap {
	m.labels = slices.Clone(m.labels)
	l := label{name, slices.Clone(weights)}
	if i := slices.IndexFunc(m.labels, func(have label) bool { return have.name == name }); i >= 0 {
		m.labels[i] = l
	} else {
		m.labels = append(m.labels, l)
	}
	return m
}

// WithDefault sets the label of executions that have none. It is required as
// soon as there are two clusters to run on: flyteadmin would choose one at random.
func (m LabelMap) WithDefault(name string) LabelMap {
	m.defaultLabel = name
	return m
}

// WithWholeProject gives a label to all of a project.
func (m LabelMap) WithWholeProject(project, label string) LabelMap {
	return m.with(LabelBinding{Project: project, Label: label}, project)
}

// WithProject gives a label to one domain of a project.
func (m LabelMap) WithProject(project, domain, label string) LabelMap {
	return m.with(LabelBinding{Project: project, Domain: domain, Label: label}, project, domain)
}

// WithWorkflow gives a label to one workflow, by its name: "train.main".
func (m LabelMap) WithWorkflow(project, domain, workflow, label string) LabelMap {
	return m.with(LabelBinding{project, domain, workflow, label}, project, domain, workflow)
}

// with adds a binding; none of its parts may be empty.
func (m LabelMap) with(b LabelBinding, parts ...string) LabelMap {
	if slices.Contains(parts, "") {
		m.incomplete = append(slices.Clip(m.incomplete), len(m.bindings))
	}
	m.bindings = append(slices.Clip(m.bindings), b)
	return m
}

// IsZero reports whether nothing is said.
func (m LabelMap) IsZero() bool {
	return len(m.labels) == 0 && m.defaultLabel == "" && len(m.bindings) == 0
}

// Bindings returns the bindings, in the order in which they were given.
func (m LabelMap) Bindings() []LabelBinding { return slices.Clone(m.bindings) }

// label returns the label of the given name.
func (m LabelMap) label(name string) (label, bool) {
	i := slices.IndexFunc(m.labels, func(l label) bool { return l.name == name })
	if i < 0 {
		return label{}, false
	}
	return m.labels[i], true
}
