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

// run runs the program as a person would.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = new(demo).example().Run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

const how = " --platform-address <address> --platform-token <token> --clusters workload --target-catalog-source platform\n"

func TestWhatIsToBeUploadedIsPrintedAndWaitedFor(t *testing.T) {
	code, stdout, stderr := run(t)
	assert.Equal(t, program.ExitOK, code, stderr)
	assert.True(t, strings.HasPrefix(stdout, "to be uploaded, unless the catalog has it:\n"+
		"  violet push kfbase-operator.v26.3.0.tgz"+how+
		"  violet push kfp-operator.v26.3.1.amd64.tgz"+how+
		"  violet push kfp-operator.v26.3.1.arm64.tgz"+how+
		"  violet push kubeflow-trainer-operator.v2.1.0.tgz"+how), stdout)
	for _, line := range []string{
		"catalog cpaas-system/platform does not offer the package kfbase-operator; waits until it is: upload its bundle for the nodes' architecture: violet push kfbase-operator.v26.3.0.amd64.tgz",
		"…        kubeflow/ml/trainer/package: catalog cpaas-system/platform does not offer the package kubeflow-trainer-operator",
		"done     kubeflow/ml/trainer/package",
		"done     kubeflow/ml/pipelines/instance",
		"verify: working, ",
	} {
		assert.Contains(t, stdout, line)
	}
	assert.True(t, strings.HasSuffix(stdout, "second install: no changes\n"), stdout)
}

func TestWithoutWaitingAMissingBundleForbidsTheInstall(t *testing.T) {
	code, stdout, stderr := run(t, "-no-wait")
	assert.Equal(t, program.ExitFailed, code)
	assert.Equal(t, 3, strings.Count(stderr, "[package-not-offered]"), "all that is missing is told at once: %s", stderr)
	assert.NotContains(t, stdout, "done")
}

func TestTheCommandsAreRendered(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	code, _, stderr := run(t, "-render", folder)
	require.Equal(t, program.ExitOK, code, stderr)
	text, err := os.ReadFile(filepath.Join(folder, "trainer", "package", "upload.txt"))
	require.NoError(t, err)
	assert.Equal(t, "violet push kubeflow-trainer-operator.v2.1.0.tgz"+how, string(text))
}
