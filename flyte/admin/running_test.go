package admin_test

import (
	"fmt"
	"testing"

	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRunningFindsWhatHasNotEnded(t *testing.T) {
	fake := launching()
	var want []string
	for i, phase := range []admin.Phase{
		admin.PhaseUndefined, admin.PhaseQueued, admin.PhaseRunning, admin.PhaseSucceeding, admin.PhaseFailing, admin.PhaseAborting,
		admin.PhaseSucceeded, admin.PhaseFailed, admin.PhaseAborted, admin.PhaseTimedOut,
	} {
		e := adminfake.Execution{ID: admin.ExecutionID{Project: "team1", Domain: "production", Name: fmt.Sprintf("e%d", 9-i)}, Phase: phase, Cluster: "dp-1"}
		fake.AddExecutions(e)
		if !phase.Terminal() {
			want = append(want, fmt.Sprintf("%s %s on %s", e.ID.Name, phase, e.Cluster))
		}
	}
	fake.AddExecutions(adminfake.Execution{ID: admin.ExecutionID{Project: "team1", Domain: "staging", Name: "elsewhere"}, Phase: admin.PhaseRunning})
	require.NoError(t, fake.ArchiveExecution(admin.ExecutionID{Project: "team1", Domain: "production", Name: "e7"}))

	running, err := clientOf(t, fake).Running(t.Context(), "team1", "production")
	require.NoError(t, err)
	var got []string
	for _, e := range running {
		got = append(got, fmt.Sprintf("%s %s on %s", e.ID.Name, e.Phase, e.Cluster))
	}
	assert.Equal(t, want, got, "archived ones too, the oldest first")
	assert.Len(t, fake.Calls(), 1)
}

func TestRunningMissesNoneWhileOthersEnd(t *testing.T) {
	fake := adminfake.New()
	id := func(i int) admin.ExecutionID {
		return admin.ExecutionID{Project: "team1", Domain: "production", Name: fmt.Sprintf("e%03d", i)}
	}
	for i := range 150 {
		fake.AddExecutions(adminfake.Execution{ID: id(i), Phase: admin.PhaseRunning})
	}
	// Ten of the first page end before the second is read: ten others move to the first.
	fake.Fail(adminfake.Operation("ListExecutions"), adminfake.None, adminfake.After(1), adminfake.Times(1), adminfake.Do(func(adminfake.Call) {
		for i := range 10 {
			assert.NoError(t, fake.SetPhase(id(i), admin.PhaseSucceeded))
		}
	}))
	running, err := clientOf(t, fake).Running(t.Context(), "team1", "production")
	require.NoError(t, err)
	got := map[admin.ExecutionID]bool{}
	for _, e := range running {
		got[e.ID] = true
	}
	for i := 10; i < 150; i++ {
		assert.True(t, got[id(i)], "%s", id(i))
	}
	assert.Len(t, fake.Calls(), 6, "three walks of two pages")
}
