package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planewright/planewright/examples/internal/program"
	"github.com/stretchr/testify/assert"
)

func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = new(demo).example().Run(t.Context(), append([]string{"-home", t.TempDir()}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

func TestASandboxIsStartedAndTellsHowToUseIt(t *testing.T) {
	code, stdout, stderr := run(t)
	assert.Equal(t, program.ExitOK, code, stderr)
	for _, line := range []string{
		"warning [tests-only] a sandbox is for tests only",
		"install: 5 done, in ",
		"http://localhost:30080/console",
		"export FLYTECTL_CONFIG=",
		"localhost:30000/NAME:TAG",
		"Flyte, its console, the registry and MinIO answer",
	} {
		assert.Contains(t, stdout, line)
	}
	assert.True(t, strings.HasSuffix(stdout, "second install: no changes\n"), stdout)
}

func TestASandboxIsStopped(t *testing.T) {
	code, stdout, stderr := run(t, "-uninstall")
	assert.Equal(t, program.ExitOK, code, stderr)
	assert.Contains(t, stdout, "uninstall")
}

func TestADryRunWritesNothing(t *testing.T) {
	home := t.TempDir()
	code, stdout, stderr := run(t, "-dry-run", "-home", home, "-kubernetes-port", "16443")
	assert.Equal(t, program.ExitOK, code, stderr)
	assert.Contains(t, stdout, "127.0.0.1:16443:6443")
	assert.NoDirExists(t, filepath.Join(home, ".flyte"))
}
