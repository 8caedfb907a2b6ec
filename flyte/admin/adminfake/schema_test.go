package adminfake

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is read is written in either spelling, and read back as the same.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{
		`{"project":"p","spec":{"launch_plan":{"resource_type":3,"version":"v"},"metadata":{"mode":"CHILD_WORKFLOW"}},"inputs":{"literals":{"n":{"scalar":{"primitive":{"integer":"7"}}}}}}`,
		`{"spec":{"launchPlan":{"resourceType":"TASK"},"disableAll":true,"envs":{"x":[1]}}}`, `{}`, `[]`, `null`, `{"inputs":{"literals":{"a":null}}}`, `{"name":"\u0000"} x`,
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	s := executionRequestSchema()
	f.Fuzz(func(t *testing.T, text string, strict bool) {
		set, err := s.parse([]byte(text), strict)
		if err != nil {
			return
		}
		for _, camel := range []bool{false, true} {
			written, err := json.Marshal(s.render(set, camel))
			require.NoError(t, err)
			again, err := s.parse(written, true)
			require.NoError(t, err, "%s", written)
			rewritten, err := json.Marshal(s.render(again, camel))
			require.NoError(t, err)
			assert.JSONEq(t, string(written), string(rewritten))
		}
	})
}

func FuzzFilters(f *testing.F) {
	for _, seed := range []string{"eq(phase,RUNNING)", "value_in(phase,A;B)+ne(state,1)", "gte(state,0)", "contains(phase,U)", "lt(state,2)+gt(state,-1)+lte(state,0)", "eq(phase, X)", "((,,))", "+"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, filters string) {
		rows := []row{{columns: map[string]any{"phase": "RUNNING", "state": 0}}, {columns: map[string]any{"phase": "FAILED", "state": 1}}}
		kept, err := listing{entity: "execution"}.filter(rows, filters)
		if err == nil {
			assert.LessOrEqual(t, len(kept), len(rows))
		}
	})
}

func TestFilters(t *testing.T) {
	rows := []row{{columns: map[string]any{"phase": "RUNNING", "state": 0}}, {columns: map[string]any{"phase": "FAILED", "state": 1}}, {columns: map[string]any{"phase": "QUEUED", "state": 10}}}
	for filters, want := range map[string]string{
		"": "RFQ", "eq(phase,FAILED)": "F", "ne(phase,FAILED)": "RQ", "value_in(phase,FAILED;QUEUED)": "FQ", "value_not_in(phase,FAILED;QUEUED)": "R",
		"gt(state,1)": "Q", "gte(state,1)": "FQ", "lt(state,10)": "RF", "lte(state,1)": "RF", "contains(phase,UN)": "R", "gte(state,0)+eq(execution.phase, QUEUED)": "Q",
	} {
		kept, err := listing{entity: "execution"}.filter(rows, filters)
		require.NoError(t, err)
		got := ""
		for _, o := range kept {
			phase, _ := o.columns["phase"].(string)
			got += phase[:1]
		}
		assert.Equal(t, want, got, filters)
	}
}
