package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The examples of day two begin with what they take to be there.
func TestTheExamplesOfDayTwoRunOnRealClusters(t *testing.T) {
	three := strings.Join(planesClusters(), ",")
	for _, source := range chartSources(t) {
		for _, c := range []struct {
			name, clusters string
			args           []string
			// changed are lines of the plan.
			changed []string
		}{
			{"adddataplane", three, []string{"-no-admin"}, []string{"+ release", "Helm release flyte/flyte-core-data of flyte-core v1.16.8"}},
			{"rotate", three, nil, []string{"Secret flyte/flyteadmin-token-2"}},
			{"adopt", "control,dp-1", nil, []string{"adopt"}},
		} {
			t.Run(source.name+"/"+c.name, func(t *testing.T) {
				args := append(append([]string{}, source.args...), c.args...)
				out := runExample(t, c.name, c.clusters, append(args, "-from-scratch")...)
				for _, line := range c.changed {
					assert.Contains(t, out, line)
				}
				assert.Contains(t, out, "verify: working")
				assert.True(t, strings.HasSuffix(out, "second install: no changes\n"), out)
				runExample(t, c.name, c.clusters, append(args, "-uninstall")...)
			})
		}
	}
}
