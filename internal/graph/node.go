package graph

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Node is one piece of work.
type Node struct {
	// ID is unique in the graph.
	ID string
	// Group names what [Limits.PerGroup] bounds, empty for no such bound.
	Group string
	// Needs are the ids of the nodes that must be done before.
	Needs []string
	// Run does the work. It gets the context of [Run].
	Run func(ctx context.Context) error
}

// Check reports what keeps the nodes from being a graph that can be run:
// ids that occur twice, needs that are not there, cycles. It returns every
// such problem, in the order of the nodes.
func Check(nodes []Node) []string {
	var problems []string
	index := make(map[string]int, len(nodes))
	for i, n := range nodes {
		if _, ok := index[n.ID]; ok {
			problems = append(problems, fmt.Sprintf("%q occurs twice", n.ID))
			continue
		}
		index[n.ID] = i
	}
	for _, n := range nodes {
		for _, need := range n.Needs {
			if _, ok := index[need]; !ok {
				problems = append(problems, fmt.Sprintf("%q needs %q, which is not there", n.ID, need))
			}
		}
	}
	if cycle := findCycle(nodes, index); cycle != nil {
		problems = append(problems, "needs go round in a circle: "+strings.Join(cycle, " needs "))
	}
	return problems
}

// findCycle returns the ids along one cycle, first and last the same, or nil.
// It keeps its own stack: a chain may be longer than the goroutine's stack is wide.
func findCycle(nodes []Node, index map[string]int) []string {
	const (
		fresh = iota
		open
		closed
	)
	state := make([]int, len(nodes))
	type frame struct{ node, next int }
	for start := range nodes {
		if state[start] != fresh {
			continue
		}
		state[start] = open
		path := []frame{{node: start}}
		for len(path) > 0 {
			top := &path[len(path)-1]
			needs := nodes[top.node].Needs
			if top.next == len(needs) {
				state[top.node] = closed
				path = path[:len(path)-1]
				continue
			}
			need, ok := index[needs[top.next]]
			top.next++
			if !ok {
				continue
			}
			switch state[need] {
			case fresh:
				state[need] = open
				path = append(path, frame{node: need})
			case open:
				at := slices.IndexFunc(path, func(f frame) bool { return f.node == need })
				var ids []string
				for _, f := range path[at:] {
					ids = append(ids, nodes[f.node].ID)
				}
				return append(ids, nodes[need].ID)
			}
		}
	}
	return nil
}
