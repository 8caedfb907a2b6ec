package graph

import (
	"container/heap"
	"context"
)

// Limits bound how many nodes run at a time. Zero means no bound.
type Limits struct {
	Total    int
	PerGroup int
}

// Run runs the nodes and returns their results in the same order. It starts
// nothing more once the context has ended, and returns only when every node
// that was started has returned. The nodes must pass [Check].
func Run(ctx context.Context, nodes []Node, limits Limits) []Result {
	r := newRunner(nodes, limits)
	for i := range nodes {
		if r.waiting[i] == 0 {
			r.release(i)
		}
	}
	done := make(chan completion)
	stopped := ctx.Done()
	for {
		if ctx.Err() == nil {
			r.start(ctx, done)
		}
		if r.running == 0 {
			break
		}
		select {
		case c := <-done:
			r.finish(c)
		case <-stopped:
			// Nothing more is started; what runs is waited for.
			stopped = nil
		}
	}
	return r.results
}

type completion struct {
	node int
	err  error
}

type runner struct {
	nodes   []Node
	limits  Limits
	results []Result
	// waiting counts, per node, the needs that are not done yet.
	waiting []int
	// dependents lists, per node, the nodes that need it.
	dependents [][]int
	// height is the length of the longest chain of nodes that still follows:
	// the longer, the earlier a node should start.
	height []int

	ready readyQueue
	// parked holds the ready nodes whose group is full.
	parked  map[string]*readyQueue
	inGroup map[string]int
	running int
}

func newRunner(nodes []Node, limits Limits) *runner {
	r := &runner{
		nodes:      nodes,
		limits:     limits,
		results:    make([]Result, len(nodes)),
		waiting:    make([]int, len(nodes)),
		dependents: make([][]int, len(nodes)),
		height:     make([]int, len(nodes)),
		parked:     map[string]*readyQueue{},
		inGroup:    map[string]int{},
	}
	index := make(map[string]int, len(nodes))
	for i, n := range nodes {
		index[n.ID] = i
	}
	for i, n := range nodes {
		r.waiting[i] = len(n.Needs)
		for _, need := range n.Needs {
			r.dependents[index[need]] = append(r.dependents[index[need]], i)
		}
	}
	r.ready.height = r.height
	r.measureHeights()
	return r
}

// measureHeights walks the nodes from those that nobody needs back to those that need nothing.
func (r *runner) measureHeights() {
	index := make(map[string]int, len(r.nodes))
	open := make([]int, len(r.nodes))
	var next []int
	for i, n := range r.nodes {
		index[n.ID] = i
		open[i] = len(r.dependents[i])
		if open[i] == 0 {
			next = append(next, i)
		}
	}
	for len(next) > 0 {
		i := next[len(next)-1]
		next = next[:len(next)-1]
		for _, need := range r.nodes[i].Needs {
			n := index[need]
			r.height[n] = max(r.height[n], r.height[i]+1)
			if open[n]--; open[n] == 0 {
				next = append(next, n)
			}
		}
	}
}

// release puts a node whose needs are done where start finds it.
func (r *runner) release(i int) {
	group := r.nodes[i].Group
	if r.limits.PerGroup > 0 && group != "" && r.inGroup[group] >= r.limits.PerGroup {
		q := r.parked[group]
		if q == nil {
			q = &readyQueue{height: r.height}
			r.parked[group] = q
		}
		heap.Push(q, i)
		return
	}
	if group != "" {
		// The place in the group is taken when the node becomes ready, so
		// that the ready queue never holds a node that may not start.
		r.inGroup[group]++
	}
	heap.Push(&r.ready, i)
}

func (r *runner) start(ctx context.Context, done chan<- completion) {
	for r.ready.Len() > 0 && (r.limits.Total <= 0 || r.running < r.limits.Total) {
		i := heap.Pop(&r.ready).(int)
		r.running++
		go func() { done <- completion{i, r.nodes[i].Run(ctx)} }()
	}
}

func (r *runner) finish(c completion) {
	r.running--
	if group := r.nodes[c.node].Group; group != "" {
		r.inGroup[group]--
		if q := r.parked[group]; q != nil && q.Len() > 0 {
			r.release(heap.Pop(q).(int))
		}
	}
	if c.err != nil {
		r.results[c.node] = Result{State: Failed, Err: c.err}
		r.block(c.node)
		return
	}
	r.results[c.node] = Result{State: Done}
	for _, d := range r.dependents[c.node] {
		if r.waiting[d]--; r.waiting[d] == 0 {
			r.release(d)
		}
	}
}

// block marks everything that needs the failed node. None of it can have been
// started, since its need was not done.
func (r *runner) block(failed int) {
	next := []int{failed}
	for len(next) > 0 {
		i := next[len(next)-1]
		next = next[:len(next)-1]
		for _, d := range r.dependents[i] {
			if r.results[d].Blocker == "" {
				r.results[d].Blocker = r.nodes[failed].ID
				next = append(next, d)
			}
		}
	}
}

// readyQueue orders nodes by height, then by their place in the graph.
type readyQueue struct {
	nodes  []int
	height []int
}

func (q *readyQueue) Len() int { return len(q.nodes) }
func (q *readyQueue) Less(i, j int) bool {
	a, b := q.nodes[i], q.nodes[j]
	if q.height[a] != q.height[b] {
		return q.height[a] > q.height[b]
	}
	return a < b
}
func (q *readyQueue) Swap(i, j int) { q.nodes[i], q.nodes[j] = q.nodes[j], q.nodes[i] }
func (q *readyQueue) Push(x any)    { q.nodes = append(q.nodes, x.(int)) }
func (q *readyQueue) Pop() any {
	last := len(q.nodes) - 1
	x := q.nodes[last]
	q.nodes = q.nodes[:last]
	return x
}
