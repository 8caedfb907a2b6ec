package kube_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseValues(t *testing.T) {
	for name, c := range map[string]struct {
		yaml string
		want kube.Values
	}{
		"nothing":          {"", kube.Values{}},
		"null":             {"null", kube.Values{}},
		"comments":         {"# nothing here\n", kube.Values{}},
		"whole numbers":    {"a: 1000000\nb: 9007199254740993\nc: -1", kube.Values{"a": int64(1000000), "b": int64(9007199254740993), "c": int64(-1)}},
		"YAML 1.1 scalars": {"a: yes\nb: on\nc: 012\nd: 0x10\ne: 1e3\nf: 2001-01-01\ny: z", kube.Values{"a": true, "b": true, "c": int64(10), "d": int64(16), "e": int64(1000), "f": "2001-01-01", "true": "z"}},
		"huge numbers":     {"a: 18446744073709551615\nb: 1.5", kube.Values{"a": float64(18446744073709551615), "b": 1.5}},
		"nulls stay":       {"a: null\nb: {c: ~}", kube.Values{"a": nil, "b": map[string]any{"c": nil}}},
		"anchors":          {"a: &x {b: 1}\nc: *x", kube.Values{"a": map[string]any{"b": int64(1)}, "c": map[string]any{"b": int64(1)}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := kube.ParseValues([]byte(c.yaml))
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
	for name, yaml := range map[string]string{"a key twice": "a: 1\na: 2", "a list": "- a", "a text": "a", "no YAML": "a: [", "tabs": "\ta: b"} {
		t.Run(name, func(t *testing.T) {
			_, err := kube.ParseValues([]byte(yaml))
			require.ErrorIs(t, err, planewright.ErrInvalid)
		})
	}
}

func TestMergeFollowsHelmsRules(t *testing.T) {
	base := kube.Values{
		"map":    map[string]any{"kept": 1, "replaced": 1, "deeper": map[string]any{"a": 1}},
		"list":   []string{"a", "b"},
		"taken":  map[string]any{"a": 1},
		"filled": nil,
	}
	over := kube.Values{
		"map":    map[string]any{"replaced": 2, "deeper": kube.Values{"b": 2}},
		"list":   []any{"c"},
		"taken":  nil,
		"filled": map[string]string{"a": "b"},
	}
	before, after := fmt.Sprint(base), fmt.Sprint(over)
	merged := base.Merge(over)
	assert.Equal(t, kube.Values{
		"map":    map[string]any{"kept": int64(1), "replaced": int64(2), "deeper": map[string]any{"a": int64(1), "b": int64(2)}},
		"list":   []any{"c"},
		"taken":  nil, // so that it takes away the chart's own value
		"filled": map[string]any{"a": "b"},
	}, merged)

	merged["map"].(map[string]any)["kept"] = 7
	merged["filled"].(map[string]any)["a"] = 7
	assert.Equal(t, before, fmt.Sprint(base), "neither side is changed, nor shared")
	assert.Equal(t, after, fmt.Sprint(over))
	assert.Equal(t, kube.Values{}, kube.Values(nil).Merge(nil))
}

func TestMergeMakesPlainValues(t *testing.T) {
	type level string
	number := 3
	merged := kube.Values{
		"int": int32(1), "uint": uint8(2), "huge": uint64(1) << 63, "float": float32(0.3), "named": level("info"), "pointer": &number, "nowhere": (*int)(nil),
		"struct": struct {
			Name string `json:"name"`
			Many int    `json:"many"`
		}{"a", 1000000},
		"number": json.Number("12"), "array": [2]bool{true, false}, "none": []string(nil), "bytes": []byte("ab"),
		"secret": planewright.SecretValue("hunter2"),
	}.Merge(nil)
	assert.Equal(t, kube.Values{
		"int": int64(1), "uint": int64(2), "huge": float64(1 << 63), "float": 0.3, "named": "info", "pointer": int64(3), "nowhere": nil,
		"struct": map[string]any{"name": "a", "many": int64(1000000)}, "number": int64(12), "array": []any{true, false}, "none": nil, "bytes": "YWI=",
		"secret": "[redacted]",
	}, merged)
}

func TestSetAndGet(t *testing.T) {
	base := kube.Values{"a": map[string]any{"b": 1}, "text": "t"}
	changed := base.Set("a.c.d", 2).Set(`a.eks\.amazonaws\.com/role`, "r").Set("text.now", true).Set("gone", nil)
	assert.Equal(t, kube.Values{
		"a":    map[string]any{"b": int64(1), "c": map[string]any{"d": int64(2)}, "eks.amazonaws.com/role": "r"},
		"text": map[string]any{"now": true},
		"gone": nil,
	}, changed)
	assert.Equal(t, kube.Values{"a": map[string]any{"b": 1}, "text": "t"}, base)

	for path, want := range map[string]any{"a.c.d": int64(2), `a.eks\.amazonaws\.com/role`: "r", "gone": nil, "a.b": int64(1)} {
		got, ok := changed.Get(path)
		assert.True(t, ok, path)
		assert.Equal(t, want, got, path)
	}
	for _, path := range []string{"nothing", "a.b.c", "a.nothing", "gone.deeper", ""} {
		_, ok := changed.Get(path)
		assert.False(t, ok, path)
	}
	got, ok := kube.Values{"a": map[string]string{"b": "c"}}.Get("a.b")
	assert.True(t, ok)
	assert.Equal(t, "c", got)
}

func ExampleValues_Merge() {
	chart := kube.Values{"replicas": 1, "resources": map[string]any{"cpu": "1", "memory": "1Gi"}}
	mine := kube.Values{"resources": map[string]any{"memory": "2Gi"}}
	merged := chart.Merge(mine)
	memory, _ := merged.Get("resources.memory")
	cpu, _ := merged.Get("resources.cpu")
	fmt.Println(memory, cpu)
	// Output: 2Gi 1
}

func ExampleParseValues() {
	values, err := kube.ParseValues([]byte("flyteadmin:\n  replicaCount: 2\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	values = values.Set("flyteadmin.serviceAccount.create", false)
	fmt.Println(values)
	// Output: map[flyteadmin:map[replicaCount:2 serviceAccount:map[create:false]]]
}

func FuzzParseValues(f *testing.F) {
	for _, seed := range []string{"", "a: 1", "a: {b: [1, 2.5, x, null]}", "a: &x b\nc: *x", "? [a]\n: b", "1: a\ntrue: b", "a: !!binary YQ==", "a: 1e400"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		values, err := kube.ParseValues(data)
		if err != nil {
			if values != nil {
				t.Fatal("values come with an error")
			}
			return
		}
		same := values.Merge(values)
		if a, b := fmt.Sprint(values), fmt.Sprint(same); a != b {
			t.Fatalf("values merged with themselves are others:\n%s\n%s", a, b)
		}
		if _, err := json.Marshal(values); err != nil {
			t.Fatalf("values have no JSON form: %v", err)
		}
	})
}
