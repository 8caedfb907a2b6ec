package e2e_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The chart of Flyte 2 brings a definition, Services without an address and a
// console, all of which a real API server validates.
func TestFlyte2IsInstalledOnARealCluster(t *testing.T) {
	build(t, "flyte2")
	own, err := filepath.Abs("../internal/testcharts/flyte2")
	require.NoError(t, err)
	for _, source := range chartSources(t) {
		t.Run(source.name, func(t *testing.T) {
			args := source.args
			if source.name == "own charts" {
				args = []string{"-charts", own}
			}
			out := runExample(t, "flyte2", singleCluster, args...)
			assert.Contains(t, out, "verify: working")
			assert.True(t, strings.HasSuffix(out, "second install: no changes\n"), out)

			var releases []struct{ Name, Status, Chart string }
			require.NoError(t, json.Unmarshal([]byte(helm(t, singleCluster, "list", "-n", "flyte2", "-o", "json")), &releases))
			require.Len(t, releases, 1)
			assert.Equal(t, "deployed", releases[0].Status)
			assert.Equal(t, "flyte-binary-v2.0.42", releases[0].Chart)

			out = runExample(t, "flyte2", singleCluster, append(args, "-uninstall")...)
			assert.Contains(t, out, "taskactions.flyte.org", "the definition stays, and that is told")
		})
	}
}
