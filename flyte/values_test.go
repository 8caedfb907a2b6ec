package flyte

import (
	"encoding/json"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	helmvalues "helm.sh/helm/v3/pkg/cli/values"
	"sigs.k8s.io/yaml"
)

// asJSON compares values without regard to how their numbers are held.
func asJSON(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	require.NoError(t, err)
	return string(data)
}

// helmMerge is what the helm command makes of values files, the last one winning.
func helmMerge(t *testing.T, layers ...map[string]any) map[string]any {
	t.Helper()
	var options helmvalues.Options
	for _, layer := range layers {
		data, err := yaml.Marshal(layer)
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), "values.yaml")
		require.NoError(t, os.WriteFile(file, data, 0o600))
		options.ValueFiles = append(options.ValueFiles, file)
	}
	merged, err := options.MergeValues(nil)
	require.NoError(t, err)
	return merged
}

func TestValuesMergeAsHelmMergesThem(t *testing.T) {
	for name, c := range map[string]struct{ below, above, want string }{
		"maps merge":                   {`{a: {b: 1, c: 2}}`, `{a: {c: 3}}`, `{"a":{"b":1,"c":3}}`},
		"lists replace":                {`{a: [1, 2]}`, `{a: [3]}`, `{"a":[3]}`},
		"a map replaces a scalar":      {`{a: 1}`, `{a: {b: 2}}`, `{"a":{"b":2}}`},
		"a scalar replaces a map":      {`{a: {b: 2}}`, `{a: 1}`, `{"a":1}`},
		"null stays, to delete later":  {`{a: {b: 1}}`, `{a: null}`, `{"a":null}`},
		"an empty map changes nothing": {`{a: {b: 1}}`, `{a: {}}`, `{"a":{"b":1}}`},
		"what is over null wins":       {`{a: null}`, `{a: {b: 1}}`, `{"a":{"b":1}}`},
		"unknown keys stay":            {`{x: 1}`, `{y2: 2}`, `{"x":1,"y2":2}`},
	} {
		t.Run(name, func(t *testing.T) {
			below, err := parseValues([]byte(c.below))
			require.NoError(t, err)
			above, err := parseValues([]byte(c.above))
			require.NoError(t, err)
			before := asJSON(t, below)
			assert.JSONEq(t, c.want, asJSON(t, mergeValues(below, above)))
			assert.JSONEq(t, c.want, asJSON(t, helmMerge(t, below, above)), "Helm")
			assert.JSONEq(t, before, asJSON(t, below), "the layer below is left as it was")
		})
	}
}

// randomValues makes values out of few keys, so that layers meet.
func randomValues(r *rand.Rand, depth int) map[string]any {
	values := map[string]any{}
	for _, key := range []string{"a", "b", "c"} {
		switch r.IntN(7) {
		case 0:
			values[key] = nil
		case 1:
			values[key] = float64(r.IntN(3))
		case 2:
			values[key] = []any{float64(r.IntN(3))}
		case 3:
			values[key] = map[string]any{}
		case 4, 5:
			if depth > 0 {
				values[key] = randomValues(r, depth-1)
			}
		}
	}
	return values
}

func TestRandomValuesMergeAsHelmMergesThem(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		layers := []map[string]any{randomValues(r, 3), randomValues(r, 3), randomValues(r, 3)}
		ours := mergeValues(mergeValues(layers[0], layers[1]), layers[2])
		require.JSONEq(t, asJSON(t, helmMerge(t, layers...)), asJSON(t, ours), "seed %d: %s", seed, asJSON(t, layers))
	}
}

// TestDroppedNullsDeleteNothing: a null that is dropped makes no difference to
// what the chart's templates see, except that it is not there itself.
func TestDroppedNullsDeleteNothing(t *testing.T) {
	// Helm tells of tables and scalars in each other's place on the standard logger.
	log.SetOutput(io.Discard)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		defaults, values := randomValues(r, 3), randomValues(r, 3)
		see := func(values map[string]any) map[string]any {
			copied, err := normalize(values)
			require.NoError(t, err)
			own, err := normalize(defaults)
			require.NoError(t, err)
			seen, err := chartutil.CoalesceValues(&chart.Chart{Metadata: &chart.Metadata{Name: "c"}, Values: own.(map[string]any)}, copied.(map[string]any))
			require.NoError(t, err)
			return withoutNulls(seen)
		}
		require.JSONEq(t, asJSON(t, see(values)), asJSON(t, see(dropNulls(values, defaults))), "seed %d", seed)
	}
}

func withoutNulls(values map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range values {
		if m, ok := asMap(value); ok {
			value = withoutNulls(m)
		}
		if value != nil {
			out[key] = value
		}
	}
	return out
}

// TestScalarsReadAsHelmReadsThem holds the oddities of YAML that Helm has.
func TestScalarsReadAsHelmReadsThem(t *testing.T) {
	text := "y: 1\noctal: 012\nexponent: 1e3\nhex: 0x10\ndate: 2026-12-01\nbig: 9007199254740993\nquoted: \"012\"\nempty:\n"
	ours, err := parseValues([]byte(text))
	require.NoError(t, err)
	helms, err := chartutil.ReadValues([]byte(text))
	require.NoError(t, err)
	assert.JSONEq(t, asJSON(t, helms), asJSON(t, ours))
	assert.Equal(t, float64(1), ours["true"], "YAML 1.1 reads the key y as a boolean, and so does Helm")
}

func TestNumbersOfTheUsersStayWhatTheyAre(t *testing.T) {
	forEachChart(t, func(t *testing.T, c *kube.Chart) {
		d := minimal().WithValues(kube.Values{"configuration": map[string]any{"inline": map[string]any{
			"storage": map[string]any{"limits": map[string]any{"maxDownloadMBs": 10_000_000}},
		}}})
		text := at(t, render(t, c, d).object("ConfigMap", "-config"), "data", "100-inline-config.yaml")
		assert.Contains(t, text, "maxDownloadMBs: 10000000\n")
	})
}

func TestNormalizeCopiesWhatItIsGiven(t *testing.T) {
	labels := map[string]string{"a": "1"}
	given := kube.Values{"labels": labels, "list": []string{"x"}, "any": map[any]any{"k": int32(3)}, "nested": kube.Values{"deep": uint8(1)}}
	d := minimal().WithValues(given)
	labels["a"] = "changed"
	given["more"] = true
	assert.JSONEq(t, `{"labels":{"a":"1"},"list":["x"],"any":{"k":3},"nested":{"deep":1}}`, asJSON(t, d.rawLayer()))

	for name, bad := range map[string]any{
		"a channel":   make(chan int),
		"a struct":    struct{ A int }{1},
		"a func":      func() {},
		"a key of 1":  map[int]string{1: "x"},
		"deep inside": map[string]any{"list": []any{map[string]any{"x": make(chan int)}}},
	} {
		_, err := normalize(bad)
		assert.Error(t, err, name)
	}
}

func TestPathsPrintAsAPersonWritesThem(t *testing.T) {
	values := map[string]any{"ingress": map[string]any{"commonAnnotations": map[string]any{"kubernetes.io/x": 1}},
		"list": []any{map[string]any{"name": "a"}}, "empty": map[string]any{}, "flyte-core-components": nil}
	var paths []string
	for _, l := range leaves(values) {
		paths = append(paths, l.path.String())
	}
	assert.Equal(t, []string{"empty", "flyte-core-components", `ingress.commonAnnotations["kubernetes.io/x"]`, "list[0].name"}, paths)
}
