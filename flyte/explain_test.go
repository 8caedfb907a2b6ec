package flyte

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// placed is a deployment with bindings at every level.
func placed() Deployment {
	return planes().WithLabelMap(NewLabelMap().
		WithLabel("cpu", Weight("dp-1", 1)).
		WithLabel("gpu", Weight("dp-1", 30), Weight("dp-2", 70)).
		WithLabel("new", Weight("dp-2", 1), Weight("dp-1", 0)).
		WithDefault("cpu").
		WithWholeProject("team1", "gpu").
		WithProject("team1", "production", "new").
		WithWorkflow("team1", "production", "train.main", "gpu"))
}

func TestExplainFollowsFlyteadminsOrder(t *testing.T) {
	d := placed()
	for _, c := range []struct{ project, domain, workflow, want string }{
		{"team1", "production", "train.main", "gpu (workflow): dp-1 30%, dp-2 70%"},
		{"team1", "production", "other", "new (project and domain): dp-2 100%"},
		{"team1", "production", "", "new (project and domain): dp-2 100%"},
		{"team1", "staging", "train.main", "gpu (project): dp-1 30%, dp-2 70%"},
		{"team2", "staging", "train.main", "cpu (default label): dp-1 100%"},
	} {
		assert.Equal(t, c.want, d.Explain(c.project, c.domain, c.workflow).String(), "%v", c)
	}
	assert.Equal(t, "gpu (execution): dp-1 30%, dp-2 70%", d.ExplainLabel("gpu").String())
	assert.Equal(t, "cpu (default label): dp-1 100%", d.ExplainLabel("typo").String(), "flyteadmin goes on to the default")
}

func TestExplainKnowsOnlyClustersThatTakeExecutions(t *testing.T) {
	d := placed().WithDataplanes(NewDataplane("dp-2", "two").WithoutNewExecutions())
	assert.Equal(t, "gpu (workflow): dp-1 100%", d.Explain("team1", "production", "train.main").String())
	assert.Equal(t, "new (project and domain): dp-1 100%", d.Explain("team1", "production", "").String(),
		"the only one left has no weight, which counts as an equal one")
	alone := planes().WithoutDataplane("dp-2").WithLabelMap(NewLabelMap())
	assert.Equal(t, "only cluster: dp-1 100%", alone.Explain("team1", "production", "").String())
}

// TestAClusterIsPredictedAsFlyteadminChoosesIt has vectors that come from
// flyteadmin v1.16.8's own list of weights, run beside this package.
func TestAClusterIsPredictedAsFlyteadminChoosesIt(t *testing.T) {
	names := []string{"f1a2b3c4d5", "avx7k2", "team1-canary-1", "a", "fd00e7f2c1b0"}
	for _, c := range []struct {
		entries []weighted
		want    string
	}{
		{[]weighted{{"dp-1", .3}, {"dp-2", .7}}, "[dp-2 dp-2 dp-2 dp-2 dp-1]"},
		{[]weighted{{"a", .333}, {"b", .334}, {"c", .333}}, "[c b c c a]"},
		{equally([]string{"x", "y"}), "[y y y y x]"},
		{[]weighted{{"dp-1", 1}}, "[dp-1 dp-1 dp-1 dp-1 dp-1]"},
		{[]weighted{{"dp-1", .1}, {"dp-3", .9}}, "[dp-3 dp-3 dp-3 dp-3 dp-3]"},
	} {
		var got []string
		for _, name := range names {
			got = append(got, Explanation{entries: c.entries}.ClusterOf(name))
		}
		assert.Equal(t, c.want, fmt.Sprint(got), "%v", c.entries)
	}
	assert.Empty(t, Explanation{}.ClusterOf("a"))
}

func TestPredictionsFollowTheWeights(t *testing.T) {
	e := placed().ExplainLabel("gpu")
	on := map[string]int{}
	for i := range 10_000 {
		on[e.ClusterOf(fmt.Sprintf("f%019d", i))]++
	}
	assert.InDelta(t, 3000, on["dp-1"], 200)
	assert.InDelta(t, 7000, on["dp-2"], 200)
}
