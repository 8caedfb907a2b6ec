package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/planewright/planewright/examples/internal/program"
	"github.com/stretchr/testify/assert"
)

func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = new(demo).example().Run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestAnUpgradeIsPlannedDoneAndFoundUnchanged(t *testing.T) {
	code, stdout, stderr := run(t)
	assert.Equal(t, program.ExitOK, code, stderr)
	for _, line := range []string{
		"chart: flyte-core v1.15.3 → flyte-core v1.16.8",
		"plan: 2 to update, 5 unchanged",
		"pg_dump --host=flyte-db.acme.example --port=5432",
		"[version-change]",
		"install: 2 done, 5 unchanged, in ",
		"verify: working",
	} {
		assert.Contains(t, stdout, line)
	}
	assert.Less(t, strings.Index(stdout, "done     flyte/ml/dataplanes/dp-1/release"), strings.Index(stdout, "done     flyte/ml/controlplane/release"), "data planes first")
	assert.True(t, strings.HasSuffix(stdout, "second install: no changes\n"), stdout)
	assert.NotContains(t, stdout, "made-up-FLYTE_DB")
}

func TestTheWayBackIsTheVersionBefore(t *testing.T) {
	code, stdout, stderr := run(t, "-rollback")
	assert.Equal(t, program.ExitOK, code, stderr)
	assert.Contains(t, stdout, "chart: flyte-core v1.16.8 → flyte-core v1.15.3")
	assert.Contains(t, stdout, "warning [downgrade]")
	assert.True(t, strings.HasSuffix(stdout, "second install: no changes\n"), stdout)
}

func TestADryRunOnlyPlans(t *testing.T) {
	code, stdout, _ := run(t, "-dry-run")
	assert.Equal(t, program.ExitOK, code)
	assert.NotContains(t, stdout, "done     flyte/ml")
}
