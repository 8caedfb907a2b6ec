package flyte

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func asJSON(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	require.NoError(t, err)
	return string(data)
}

// randomValues makes values out of few keys, so that layers meet.
func randomValues(r *rand.Rand, depth int) kube.Values {
	values := kube.Values{}
	for _, key := range []string{"a", "b", "c"} {
		switch r.IntN(7) {
		case 0:
			values[key] = nil
		case 1:
			values[key] = r.IntN(3)
		case 2:
			values[key] = []any{r.IntN(3)}
		case 3:
			values[key] = map[string]any{}
		case 4, 5:
			if depth > 0 {
				values[key] = map[string]any(randomValues(r, depth-1))
			}
		}
	}
	return values
}

// TestDroppedNullsDeleteNothing: a null that is dropped makes no difference to
// what the chart's templates see, except that it is not there itself.
func TestDroppedNullsDeleteNothing(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 2))
		defaults, values := randomValues(r, 3), randomValues(r, 3)
		chart := kube.NewChart("c", "1.0.0", "", "", []kube.ChartFile{
			{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: c\nversion: 1.0.0\n")},
			{Name: "values.yaml", Data: []byte(asJSON(t, defaults))},
			{Name: "templates/c.yaml", Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {seen: {{ toJson .Values | quote }}}\n")},
		})
		see := func(values map[string]any) string {
			objects := renderChart(t, kube.Release{Name: "c", Namespace: "c", Chart: chart, Values: values})
			var seen map[string]any
			require.NoError(t, json.Unmarshal([]byte(at(t, objects[0].Object, "data", "seen").(string)), &seen))
			return asJSON(t, withoutNulls(seen))
		}
		require.JSONEq(t, see(values), see(dropNulls(values, defaults)), "seed %d", seed)
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

// TestTheLayersGoOverEachOther: what the overlay says, the deployment changes,
// and the user has the last word.
func TestTheLayersGoOverEachOther(t *testing.T) {
	forEachChart(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		r := render(t, c, minimal().
			WithValuesYAML("configuration: {database: {port: 6432}, logging: {level: 2}, inline: {plugins: null}}").
			WithValuesYAML("configuration: {logging: {level: 3}}"))
		assert.Equal(t, int64(3), at(t, r.config("000-core.yaml"), "logger", "level"), "the overlay says 5")
		database := at(t, r.config("002-database.yaml"), "database", "postgres")
		assert.Equal(t, int64(6432), at(t, database, "port"))
		assert.Equal(t, "db.acme.internal", at(t, database, "host"), "the overlay has a placeholder")
		inline := r.config("100-inline-config.yaml")
		assert.Nil(t, inline["plugins"], "null takes away what the overlay has")
		assert.Equal(t, int64(10), at(t, inline, "storage", "cache", "max_size_mbs"), "what nobody changes stays")
	})
}

func TestNumbersOfTheUsersStayWhatTheyAre(t *testing.T) {
	forEachChart(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		d := minimal().WithValues(kube.Values{"configuration": map[string]any{"inline": map[string]any{
			"storage": map[string]any{"limits": map[string]any{"maxDownloadMBs": 10_000_000}},
		}}})
		text := at(t, render(t, c, d).object("ConfigMap", "-config"), "data", "100-inline-config.yaml")
		assert.Contains(t, text, "maxDownloadMBs: 10000000\n")
	})
}

func TestValuesAreCopied(t *testing.T) {
	labels := map[string]string{"a": "1"}
	given := kube.Values{"labels": labels, "list": []string{"x"}, "nested": kube.Values{"deep": uint8(1)}}
	d := minimal().WithValues(given)
	labels["a"] = "changed"
	given["more"] = true
	assert.JSONEq(t, `{"labels":{"a":"1"},"list":["x"],"nested":{"deep":1}}`, asJSON(t, d.rawLayer()))

	for want, bad := range map[string]any{
		"x is a chan int":                      make(chan int),
		"x is a func()":                        func() {},
		"x is a map[interface {}]interface {}": map[any]any{1: 2},
		"x.list[0].y is a chan int":            map[string]any{"list": []any{map[string]any{"y": make(chan int)}}},
	} {
		_, err := copyValues(kube.Values{"x": bad})
		assert.EqualError(t, err, want)
	}
}

func TestSameValues(t *testing.T) {
	assert.True(t, sameValue(map[string]string{"a": "b"}, map[string]any{"a": "b"}))
	assert.True(t, sameValue(int32(1), 1))
	assert.False(t, sameValue("1", 1))
	assert.False(t, sameValue(nil, map[string]any{}))
}

func TestPathsPrintAsAPersonWritesThem(t *testing.T) {
	values := map[string]any{"ingress": map[string]any{"commonAnnotations": map[string]any{"kubernetes.io/x": 1}},
		"list": []any{map[string]any{"name": "a"}}, "empty": map[string]any{}, "flyte-core-components": nil}
	var paths []string
	for _, l := range leaves(values) {
		paths = append(paths, fmt.Sprint(l.path))
	}
	assert.Equal(t, []string{"empty", "flyte-core-components", `ingress.commonAnnotations["kubernetes.io/x"]`, "list[0].name"}, paths)
}
