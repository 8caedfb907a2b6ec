package flyte

import (
	"slices"

	"github.com/planewright/planewright"
)

// afterClusters has the steps on a cluster that the same install makes wait
// for those that make it.
func (e Env) afterClusters(steps []planewright.Step) []planewright.Step {
	for i, step := range steps {
		for _, need := range e.clouds[step.Cluster].Needs {
			if need != step.ID && !slices.Contains(steps[i].Needs, need) {
				steps[i].Needs = append(slices.Clip(steps[i].Needs), need)
			}
		}
	}
	return steps
}
