package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/planewright/planewright/examples/internal/program"
)

// run runs the program as a person would.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = (&demo{out: &out}).example().Run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestFlyte2IsInstalled(t *testing.T) {
	sources := map[string][]string{"own charts": nil}
	if folder := os.Getenv("PLANEWRIGHT_CHARTS"); folder != "" {
		sources["published charts"] = []string{"-charts", folder}
	}
	for name, args := range sources {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := run(t, args...)
			assert.Equal(t, program.ExitOK, code, stderr)
			for _, line := range []string{
				"plan: 3 to create\n", "[no-login]", "warning [image-unpinned]", "verify: working, 3 steps, 0 errors",
				"reach the API at http://localhost:8090 (insecure): kubectl -n flyte2 port-forward service/flyte2-flyte-binary-http 8090:8090",
			} {
				assert.Contains(t, stdout, line)
			}
			assert.True(t, strings.HasSuffix(stdout, "second install: no changes\n"), stdout)
			assert.NotContains(t, stdout, "made-up", "the password is in no output")
		})
	}
}

func TestWhatADeploymentOfFlyte1WouldNeedIsTold(t *testing.T) {
	code, stdout, stderr := run(t, "-moving", "-dry-run")
	assert.Equal(t, program.ExitOK, code, stderr)
	for _, line := range []string{
		"error [move] userIdentity: Flyte 2 runs the tasks of all projects in one namespace, and makes none",
		"error [move] projects: Flyte 2 has its projects behind its own API",
		"error [move] values.configuration.propeller: this is a value of Flyte 1",
		"warning [move] a Helm release cannot be upgraded from one to the other",
	} {
		assert.Contains(t, stdout, line)
	}
}

func TestFlyte2IsRenderedWithoutSecrets(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	code, _, stderr := run(t, "-render", folder)
	require.Equal(t, program.ExitOK, code, stderr)
	values, err := os.ReadFile(filepath.Join(folder, "release", "values.yaml"))
	require.NoError(t, err)
	assert.Contains(t, string(values), "storagePrefix: s3://acme-flyte2-data")
	assert.NotContains(t, string(values), "made-up")
}
