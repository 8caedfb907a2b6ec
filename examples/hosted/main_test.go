package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/planewright/planewright/examples/internal/program"
	"github.com/planewright/planewright/flyte/admin/adminfake"
)

// run runs the program as a person would, with a home folder of its own.
func run(t *testing.T, args ...string) (code int, home, stdout, stderr string) {
	t.Helper()
	home = t.TempDir()
	var out, errs bytes.Buffer
	code = new(demo).example().Run(t.Context(), append([]string{"-home", home}, args...), &out, &errs)
	return code, home, out.String(), errs.String()
}

func TestAHostedFlyteIsCheckedAndItsClientsAreConfigured(t *testing.T) {
	code, home, stdout, stderr := run(t)
	assert.Equal(t, program.ExitOK, code, stderr)
	for _, line := range []string{"install: 1 done, 1 unchanged, in ", "Flyte v1.16.8 answers", "export FLYTECTL_CONFIG=", "verify: working, 2 steps, 0 errors"} {
		assert.Contains(t, stdout, line)
	}
	assert.True(t, strings.HasSuffix(stdout, "second install: no changes\n"), stdout)
	text, err := os.ReadFile(filepath.Join(home, ".flyte", "config.yaml"))
	require.NoError(t, err)
	assert.Equal(t, "admin:\n  authType: Pkce\n  endpoint: dns:///flyte.acme.example:443\n  insecure: false\nconsole:\n  endpoint: https://flyte.acme.example\n", string(text))
}

func TestAFlyteAtAnEndpointIsAsked(t *testing.T) {
	server := httptest.NewServer(adminfake.New(adminfake.WithAuth(adminfake.Auth{ClientID: "ci", ClientSecret: "correct-horse"})))
	defer server.Close()
	t.Setenv("FLYTE_CLIENT_SECRET", "correct-horse")
	code, _, stdout, stderr := run(t, "-endpoint", server.URL, "-client-id", "ci")
	assert.Equal(t, program.ExitOK, code, stderr)
	assert.Contains(t, stdout, "Flyte v1.16.8 answers")
	assert.NotContains(t, stdout, "correct-horse")
}

func TestAnEndpointThatIsGoneFailsBeforeAnythingIsWritten(t *testing.T) {
	server := httptest.NewServer(adminfake.New())
	server.Close()
	code, home, stdout, stderr := run(t, "-endpoint", server.URL)
	assert.Equal(t, program.ExitFailed, code)
	assert.Contains(t, stdout, "error [unreachable]")
	assert.Contains(t, stderr, "nothing answers there, so it may be gone")
	assert.NoDirExists(t, filepath.Join(home, ".flyte"))
}
