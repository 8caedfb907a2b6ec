package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planewright/planewright/examples/internal/program"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = new(demo).example().Run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestRolesAreMadeAndUsed(t *testing.T) {
	code, stdout, stderr := run(t)
	assert.Equal(t, program.ExitOK, code, stderr)
	for _, line := range []string{
		"plan: 8 to create\n",
		"trust[oidc.eks.us-east-1.amazonaws.com/id/",
		"[flyte:flyte-backend-flyte-binary]: + StringEquals",
		"[team1-production:default]: + StringEquals",
		"install: 8 done, in ",
	} {
		assert.Contains(t, stdout, line)
	}
	assert.True(t, strings.HasSuffix(stdout, "second install: no changes\n"), stdout)
}

func TestWhatIsPresupposedIsAskedFirst(t *testing.T) {
	code, _, stderr := run(t, "-cloud", "azure")
	assert.Equal(t, program.ExitFailed, code)
	assert.Equal(t, "singleaws: -cloud \"azure\": it is fake or aws\n", stderr)
}

func TestPoliciesAreRendered(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	code, _, stderr := run(t, "-render", folder)
	require.Equal(t, program.ExitOK, code, stderr)
	policy, err := os.ReadFile(filepath.Join(folder, "identity", "flyte-backend", "policy.json"))
	require.NoError(t, err)
	assert.Contains(t, string(policy), `"Resource": "arn:aws:s3:::acme-flyte/*"`)
}
