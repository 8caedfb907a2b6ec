package e2e_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// moments is at how many points of an install the process is killed.
const moments = 10

// A process that is killed leaves whatever it has done so far. Running the
// same program again must end in the state of a run that nobody disturbed,
// whenever the kill came.
func TestARunThatWasKilledIsFinishedByThePlainNextOne(t *testing.T) {
	for _, source := range chartSources(t) {
		t.Run(source.name, func(t *testing.T) {
			start := time.Now()
			runExample(t, "singlecluster", killedCluster, source.args...)
			undisturbed := time.Since(start)
			want := takeSnapshot(t, killedCluster)
			uninstallFrom(t, killedCluster, source)

			for i := range moments {
				after := undisturbed * time.Duration(i+1) / (moments + 1)
				ctx, cancel := context.WithTimeout(t.Context(), after)
				err := example(ctx, "singlecluster", killedCluster, source.args...).Run()
				killed := ctx.Err() != nil
				cancel()
				t.Logf("killed after %s: %v (%v)", after.Round(time.Millisecond), killed, err)

				out := runExample(t, "singlecluster", killedCluster, source.args...)
				assert.True(t, strings.HasSuffix(out, "second install: no changes\n"), out)
				got := takeSnapshot(t, killedCluster)
				for key := range got {
					if strings.HasPrefix(key, "Secret flyte/sh.helm.release.v1.") {
						delete(got, key)
					}
				}
				for _, key := range want.keys() {
					if !strings.HasPrefix(key, "Secret flyte/sh.helm.release.v1.") {
						assert.Equal(t, want[key], got[key], "%s after a kill at %s", key, after)
						delete(got, key)
					}
				}
				assert.Empty(t, got.keys(), "nothing is left over")
				var status struct{ Info struct{ Status string } }
				require.NoError(t, json.Unmarshal([]byte(helm(t, killedCluster, "status", "flyte-backend", "-n", "flyte", "-o", "json")), &status))
				assert.Equal(t, "deployed", status.Info.Status)
				uninstallFrom(t, killedCluster, source)
			}
		})
	}
}
