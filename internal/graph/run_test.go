package graph_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/planewright/planewright/internal/graph"
)

var errBroken = errors.New("broken")

// sleeper makes a node that takes some time of the bubble's clock.
func sleeper(id string, d time.Duration, needs ...string) graph.Node {
	return graph.Node{ID: id, Needs: needs, Run: func(context.Context) error { time.Sleep(d); return nil }}
}

func TestNodesRunAsSoonAsWhatTheyNeedIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		graph.Run(t.Context(), []graph.Node{
			sleeper("a", 3*time.Second),
			sleeper("b", 1*time.Second),
			sleeper("c", 1*time.Second, "b"),
			sleeper("d", 1*time.Second, "a", "c"),
		}, graph.Limits{})
		assert.Equal(t, 4*time.Second, time.Since(start), "a and b, c beside each other, then d")
	})
}

func TestTheLongestWayAheadStartsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		graph.Run(t.Context(), []graph.Node{
			sleeper("short-1", time.Second), sleeper("short-2", time.Second),
			sleeper("long-1", time.Second), sleeper("long-2", time.Second, "long-1"), sleeper("long-3", time.Second, "long-2"),
		}, graph.Limits{Total: 2})
		assert.Equal(t, 3*time.Second, time.Since(start))
	})
}

func TestAFailureStopsOnlyWhatNeedsIt(t *testing.T) {
	fail := func(context.Context) error { return errBroken }
	ok := func(context.Context) error { return nil }
	results := graph.Run(t.Context(), []graph.Node{
		{ID: "broken", Run: fail},
		{ID: "child", Needs: []string{"broken"}, Run: ok},
		{ID: "grandchild", Needs: []string{"child", "fine"}, Run: ok},
		{ID: "fine", Run: ok},
	}, graph.Limits{})
	assert.Equal(t, []graph.Result{
		{State: graph.Failed, Err: errBroken},
		{State: graph.NotStarted, Blocker: "broken"},
		{State: graph.NotStarted, Blocker: "broken"},
		{State: graph.Done},
	}, results)
}

func TestLimitsHoldInAllAndPerGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running, most := map[string]int{}, map[string]int{}
		var nodes []graph.Node
		for i := range 30 {
			group := []string{"a", "b", ""}[i%3]
			nodes = append(nodes, graph.Node{ID: fmt.Sprint(i), Group: group, Run: func(context.Context) error {
				mu.Lock()
				for _, k := range []string{"group " + group, "all"} {
					running[k]++
					most[k] = max(most[k], running[k])
				}
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				running["group "+group]--
				running["all"]--
				mu.Unlock()
				return nil
			}})
		}
		graph.Run(t.Context(), nodes, graph.Limits{Total: 9, PerGroup: 2})
		assert.Equal(t, map[string]int{"group a": 2, "group b": 2, "group ": 5, "all": 9}, most, "two places each for the groups, the rest for those in none")
	})
}

func TestCancellingStartsNothingMoreAndWaitsForWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		finished := false
		results := graph.Run(ctx, []graph.Node{
			{ID: "writer", Run: func(context.Context) error {
				cancel()
				time.Sleep(time.Minute) // It does not listen to its context, as Helm does not.
				finished = true
				return nil
			}},
			{ID: "next", Needs: []string{"writer"}, Run: func(context.Context) error { t.Error("started after the cancel"); return nil }},
		}, graph.Limits{})
		assert.True(t, finished)
		assert.Equal(t, []graph.Result{{State: graph.Done}, {State: graph.NotStarted}}, results)
	})
}

// Random graphs with random faults: no node runs before its needs, every node
// ends in exactly one way, and what needs a failed node is not started.
func TestRandomGraphs(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			var (
				mu    sync.Mutex
				done  = map[string]bool{}
				nodes []graph.Node
			)
			for i := range 1 + random.IntN(40) {
				n := graph.Node{ID: fmt.Sprint(i), Group: fmt.Sprint(random.IntN(3))}
				for j := range i {
					if random.IntN(6) == 0 {
						n.Needs = append(n.Needs, fmt.Sprint(j))
					}
				}
				takes, fails := time.Duration(random.IntN(5))*time.Second, random.IntN(8) == 0
				n.Run = func(context.Context) error {
					mu.Lock()
					for _, need := range n.Needs {
						assert.True(t, done[need], "%s ran before %s", n.ID, need)
					}
					mu.Unlock()
					time.Sleep(takes)
					if fails {
						return errBroken
					}
					mu.Lock()
					done[n.ID] = true
					mu.Unlock()
					return nil
				}
				nodes = append(nodes, n)
			}
			random.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
			require.Empty(t, graph.Check(nodes))
			results := graph.Run(t.Context(), nodes, graph.Limits{Total: 1 + random.IntN(5), PerGroup: random.IntN(3)})
			state := map[string]graph.Result{}
			for i, r := range results {
				state[nodes[i].ID] = r
			}
			for _, n := range nodes {
				blocked := slices.ContainsFunc(n.Needs, func(id string) bool { return state[id].State != graph.Done })
				r := state[n.ID]
				assert.Equal(t, blocked, r.State == graph.NotStarted)
				if blocked {
					assert.Equal(t, graph.Failed, state[r.Blocker].State, "the blocker is what failed, not what it blocked")
				}
			}
		})
	}
}

func TestCheckFindsEveryProblem(t *testing.T) {
	problems := graph.Check([]graph.Node{
		{ID: "a", Needs: []string{"c"}},
		{ID: "b", Needs: []string{"a", "nobody"}},
		{ID: "c", Needs: []string{"b"}},
		{ID: "a"},
	})
	assert.Equal(t, []string{
		`"a" occurs twice`,
		`"b" needs "nobody", which is not there`,
		`needs go round in a circle: a needs c needs b needs a`,
	}, problems)
}

func BenchmarkRun10000Nodes(b *testing.B) {
	var nodes []graph.Node
	for i := range 1000 {
		for step := range 10 {
			n := graph.Node{ID: fmt.Sprintf("%d/%d", i, step), Group: fmt.Sprint(i), Run: func(context.Context) error { return nil }}
			if step > 0 {
				n.Needs = []string{fmt.Sprintf("%d/%d", i, step-1)}
			}
			nodes = append(nodes, n)
		}
	}
	for b.Loop() {
		graph.Run(b.Context(), nodes, graph.Limits{Total: 64, PerGroup: 8})
	}
}
