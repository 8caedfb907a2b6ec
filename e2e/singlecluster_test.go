package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/planewright/planewright"
)

func TestSingleClusterIsInstalledVerifiedFoundUnchangedAndTakenAway(t *testing.T) {
	for _, source := range chartSources(t) {
		t.Run(source.name, func(t *testing.T) {
			before := takeSnapshot(t, singleCluster)

			out := runExample(t, "singlecluster", singleCluster, source.args...)
			assert.Contains(t, out, "verify: working")
			assert.True(t, strings.HasSuffix(out, "second install: no changes\n"), out)

			var releases []struct{ Name, Namespace, Status, Chart, Revision string }
			require.NoError(t, json.Unmarshal([]byte(helm(t, singleCluster, "list", "-n", "flyte", "-o", "json")), &releases))
			require.Len(t, releases, 1)
			assert.Equal(t, "flyte-backend", releases[0].Name)
			assert.Equal(t, "deployed", releases[0].Status)
			assert.Equal(t, "flyte-binary-v1.16.8", releases[0].Chart)
			assert.Equal(t, "1", releases[0].Revision)

			_, line := calls(t, singleCluster, 0)
			runExample(t, "singlecluster", singleCluster, source.args...)
			made, _ := calls(t, singleCluster, line)
			var writes []string
			for _, c := range made {
				if c.persists() {
					writes = append(writes, c.String())
				}
			}
			assert.Empty(t, writes, "a second run persists nothing")
			t.Logf("a second run (plan, install, verify, install) makes %d calls", len(made))

			report := uninstall(t, source)
			left := takeSnapshot(t, singleCluster).without(before)
			var kept []string
			for _, k := range report.Kept {
				kept = append(kept, k.Object.Kind+" "+k.Object.Namespace+"/"+k.Object.Name)
			}
			for _, key := range left.keys() {
				if strings.HasSuffix(key, "/kube-root-ca.crt") || strings.HasSuffix(key, "/default") && strings.HasPrefix(key, "ServiceAccount ") {
					continue // Kubernetes itself puts these into a namespace.
				}
				assert.Contains(t, kept, key, "uninstall leaves only what the report names")
			}
		})
	}
}

// uninstall takes the example away and returns its report.
func uninstall(t *testing.T, source chartSource) planewright.Report {
	t.Helper()
	return uninstallFrom(t, singleCluster, source)
}

func uninstallFrom(t *testing.T, cluster string, source chartSource) planewright.Report {
	t.Helper()
	cmd := example(t.Context(), "singlecluster", cluster, append(source.args, "-uninstall", "-o", "json")...)
	out, err := cmd.Output()
	require.NoError(t, err, string(out))
	var result struct{ Uninstall planewright.Report }
	require.NoError(t, json.Unmarshal(out, &result))
	return result.Uninstall
}
