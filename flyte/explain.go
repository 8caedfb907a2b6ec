package flyte

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand"
	"slices"
	"strings"
)

// PlacementRule is what decides where an execution runs.
type PlacementRule string

// The rules, in the order in which flyteadmin tries them (its
// random_cluster_selector.go). Before them comes a label that the execution
// itself was started with, see [Deployment.ExplainLabel].
const (
	RuleWorkflow      PlacementRule = "workflow"
	RuleProjectDomain PlacementRule = "project and domain"
	RuleProject       PlacementRule = "project"
	RuleDefault       PlacementRule = "default label"
	// RuleExecution is a label that an execution is started with.
	RuleExecution PlacementRule = "execution"
	// RuleOnlyCluster: there is one cluster, and no label is looked at.
	RuleOnlyCluster PlacementRule = "only cluster"
)

// Explanation says where executions run, and why.
type Explanation struct {
	// Rule is what decided.
	Rule PlacementRule
	// Label is the label that was found, empty for RuleOnlyCluster.
	Label string
	// Shares are the clusters that executions land on, sorted by name.
	Shares []ClusterShare

	entries []weighted
}

// ClusterShare is the part of executions that lands on a cluster.
type ClusterShare struct {
	Cluster string
	// Share is between 0 and 1; all shares add up to 1.
	Share float64
}

// weighted is an entry of flyteadmin's weighted random list.
type weighted struct {
	cluster string
	weight  float32
}

// String prints the explanation: "gpu (workflow): dp-1 30%, dp-2 70%".
func (e Explanation) String() string {
	shares := make([]string, len(e.Shares))
	for i, s := range e.Shares {
		shares[i] = fmt.Sprintf("%s %.4g%%", s.Cluster, s.Share*100)
	}
	head := string(e.Rule)
	if e.Label != "" {
		head = fmt.Sprintf("%s (%s)", e.Label, e.Rule)
	}
	return head + ": " + strings.Join(shares, ", ")
}

// ClusterOf predicts the cluster of the execution with the given name, as
// flyteadmin computes it: it is random by weight, and always the same for one
// name. It is empty if no cluster takes executions.
func (e Explanation) ClusterOf(execution string) string {
	if len(e.entries) == 0 {
		return ""
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(execution))
	//nolint:gosec // flyteadmin's own choice: a seed that follows from the name
	random := rand.New(rand.NewSource(int64(hash.Sum64())))
	// The arithmetic is flyteadmin's, in its order: sums of float32 depend on it.
	var total float32
	for _, entry := range e.entries {
		total += entry.weight
	}
	at := random.Float32() * total
	var sum float32
	for _, entry := range e.entries {
		if sum += entry.weight; sum >= at && sum > 0 {
			return entry.cluster
		}
	}
	return e.entries[len(e.entries)-1].cluster
}

// Explain says where the executions of a workflow run, or with an empty
// workflow those that no binding of a workflow is about. The deployment should be valid.
func (d Deployment) Explain(project, domain, workflow string) Explanation {
	if len(d.enabledExecutors()) < 2 && d.labels.IsZero() {
		return d.explained(RuleOnlyCluster, "")
	}
	for _, scope := range []struct {
		rule                      PlacementRule
		project, domain, workflow string
	}{
		{RuleWorkflow, project, domain, workflow},
		{RuleProjectDomain, project, domain, ""},
		{RuleProject, project, "", ""},
	} {
		if scope.rule == RuleWorkflow && workflow == "" {
			continue
		}
		i := slices.IndexFunc(d.labels.bindings, func(b LabelBinding) bool {
			return b.Project == scope.project && b.Domain == scope.domain && b.Workflow == scope.workflow
		})
		if i >= 0 {
			return d.explained(scope.rule, d.labels.bindings[i].Label)
		}
	}
	return d.explained(RuleDefault, d.effectiveLabels().defaultLabel)
}

// ExplainLabel says where executions run that are started with a label of their own.
func (d Deployment) ExplainLabel(name string) Explanation { return d.explained(RuleExecution, name) }

// explained resolves a label to clusters. One that stands for no cluster that
// takes executions is as if it were not there: flyteadmin goes on to the
// default, and then to any cluster.
func (d Deployment) explained(rule PlacementRule, name string) Explanation {
	e := Explanation{Rule: rule, Label: name, entries: d.entriesOf(name)}
	if len(e.entries) == 0 && rule != RuleOnlyCluster {
		fallback := d.effectiveLabels().defaultLabel
		e.Rule, e.Label, e.entries = RuleDefault, fallback, d.entriesOf(fallback)
	}
	if len(e.entries) == 0 {
		if e.Rule != RuleOnlyCluster {
			e.Rule, e.Label = RuleDefault, ""
		}
		e.entries = equally(d.enabledExecutors())
	}
	var total float64
	for _, entry := range e.entries {
		total += float64(entry.weight)
	}
	for _, entry := range e.entries {
		e.Shares = append(e.Shares, ClusterShare{entry.cluster, float64(entry.weight) / total})
	}
	return e
}

// entriesOf is flyteadmin's weighted list of a label: enabled clusters, by name.
func (d Deployment) entriesOf(name string) []weighted {
	l, ok := d.effectiveLabels().label(name)
	if !ok {
		return nil
	}
	enabled := d.enabledExecutors()
	var entries []weighted
	var names []string
	for i, share := range l.decimals() {
		if cluster := l.weights[i].Cluster; slices.Contains(enabled, cluster) {
			names = append(names, cluster)
			if share > 0 {
				entries = append(entries, weighted{cluster, float32(share)})
			}
		}
	}
	if len(entries) == 0 {
		return equally(names)
	}
	slices.SortFunc(entries, func(a, b weighted) int { return cmp.Compare(a.cluster, b.cluster) })
	return entries
}

// equally gives every cluster the same weight, as flyteadmin does where none has one.
func equally(clusters []string) []weighted {
	var entries []weighted
	for _, cluster := range slices.Sorted(slices.Values(clusters)) {
		entries = append(entries, weighted{cluster, 1 / float32(len(clusters))})
	}
	return entries
}

// decimals returns the weights as flyteadmin is given them.
func (l label) decimals() []float64 {
	weights := make([]int, len(l.weights))
	for i, w := range l.weights {
		weights[i] = w.Weight
	}
	return decimals(weights)
}
