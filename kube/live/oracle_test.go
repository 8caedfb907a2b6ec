package live_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/cli/values"
	"sigs.k8s.io/yaml"
)

// TestMergeIsHelmsOwn merges random values with Helm's command line and with
// ours, and then with a chart's own values.
func TestMergeIsHelmsOwn(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		var (
			merged kube.Values
			files  []string
		)
		for range 1 + random.IntN(3) {
			data, err := yaml.Marshal(randomMap(random, 3))
			require.NoError(t, err)
			file := filepath.Join(t.TempDir(), fmt.Sprintf("values-%d.yaml", len(files)))
			require.NoError(t, os.WriteFile(file, data, 0o600))
			files = append(files, file)
			parsed, err := kube.ParseValues(data)
			require.NoError(t, err)
			merged = merged.Merge(parsed)
		}
		want, err := (&values.Options{ValueFiles: files}).MergeValues(nil)
		require.NoError(t, err)
		require.JSONEq(t, asJSON(t, want), asJSON(t, merged), "round %d", i)

		own := &chart.Chart{Metadata: &chart.Metadata{Name: "demo"}, Values: agreeing(randomMap(random, 1), want)}
		coalesced, err := chartutil.CoalesceValues(own, want)
		require.NoError(t, err)
		ours, err := chartutil.CoalesceValues(own, merged)
		require.NoError(t, err)
		require.JSONEq(t, asJSON(t, coalesced), asJSON(t, ours), "round %d", i)
	}
}

// TestParseIsHelmsOwn compares what YAML means with Helm's reading of it.
func TestParseIsHelmsOwn(t *testing.T) {
	for _, text := range []string{
		"y: 1", "on: off", "a: 012", "a: 0x1F", "a: 1e3", "a: 1_000", "a: 2001-12-14", "a: 12:30:45", "a: .inf_", "a: ~", "1: x", "1.5: x", "true: x",
		"a: |\n  x\n  ---\n  y\n", "a: >-\n  x\n  y\n", "<<: {a: 1}", "a: !!str 1", "a: 9223372036854775807", "a: 1.0",
	} {
		want, err := chartutil.ReadValues([]byte(text))
		require.NoError(t, err, text)
		got, err := kube.ParseValues([]byte(text))
		require.NoError(t, err, text)
		if strings.Contains(text, "9223372036854775807") {
			assert.Equal(t, kube.Values{"a": int64(9223372036854775807)}, got, "Helm rounds it")
			continue
		}
		assert.JSONEq(t, asJSON(t, want), asJSON(t, got), text)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return string(data)
}

// randomMap makes values out of few keys, so that they meet.
func randomMap(random *rand.Rand, depth int) map[string]any {
	m := map[string]any{}
	for range random.IntN(5) {
		m[string(rune('a'+random.IntN(4)))] = randomValue(random, depth)
	}
	return m
}

func randomValue(random *rand.Rand, depth int) any {
	kinds := 7
	if depth == 0 {
		kinds = 5
	}
	switch random.IntN(kinds) {
	case 0:
		return nil
	case 1:
		return random.IntN(2) == 0
	case 2:
		return random.IntN(2_000_000)
	case 3:
		return "text"
	case 4:
		return 0.5
	case 5:
		return []any{randomValue(random, depth-1), randomValue(random, depth-1)}
	}
	return randomMap(random, depth-1)
}

// agreeing drops what is a map on one side only: Helm would complain on stderr.
func agreeing(own, given map[string]any) map[string]any {
	for k, v := range own {
		_, ownIsMap := v.(map[string]any)
		_, givenIsMap := given[k].(map[string]any)
		if ownIsMap || givenIsMap {
			delete(own, k)
		}
	}
	return own
}
