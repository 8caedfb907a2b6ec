package kubeflow

import (
	"slices"
	"strings"
)

// Operator is what a [Release] knows about the operator of one component.
type Operator struct {
	// Component is the part of Kubeflow that the operator installs.
	Component Component
	// Package is the operator's package in the catalog: "kfbase-operator".
	Package string
	// CSV is the pin: the name of the ClusterServiceVersion that is to be
	// installed, "kubeflow-trainer-operator.v2.1.0". Empty says that it is not
	// known; a plan then lists what the catalog offers.
	CSV string
	// Channel is the channel of the package. Empty takes the package's default
	// channel if it has the pin, otherwise the first one that has it.
	Channel string
	// Through are further CSVs that may be installed on the way to the pin, in an
	// upgrade that the operator's catalog does not offer in one step. Plans with
	// any other CSV are never approved.
	Through []string
	// Kind is the kind of the custom resource from which the operator installs
	// the component. Its group and version are read out of the CSV.
	Kind string
	// Supports are the node architectures of the operator's versions. A version
	// that is not listed is not checked.
	Supports []Support
	// Kubernetes is the oldest version of Kubernetes that the component runs on:
	// "1.32.3". Empty is not checked.
	Kubernetes string
	// Definitions are the CustomResourceDefinitions that the component brings with
	// it, beside those of the operator.
	Definitions []string
}

// Support tells on which architectures a version of an operator runs.
type Support struct {
	// CSV is the version, by the name of its ClusterServiceVersion.
	CSV string
	// Architectures are as Go spells them: "amd64".
	Architectures []string
	// Setting, if set, is a path in the spec of the custom resource that must
	// have the value Value for this to hold: "global.images.x.enabled".
	Setting string
	Value   any
}

func (o Operator) clone() Operator {
	o.Through = slices.Clone(o.Through)
	o.Supports = slices.Clone(o.Supports)
	for i := range o.Supports {
		o.Supports[i].Architectures = slices.Clone(o.Supports[i].Architectures)
	}
	o.Definitions = slices.Clone(o.Definitions)
	return o
}

// allowed are the CSVs that an install plan may install.
func (o Operator) allowed() []string { return append(slices.Clone(o.Through), o.CSV) }

// version is the version that a CSV's name ends in: "2.1.0".
func version(csv string) string {
	_, v, _ := strings.Cut(csv, ".v")
	return v
}
