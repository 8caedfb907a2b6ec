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

func TestThreeClustersAreInstalledVerifiedAndFoundUnchanged(t *testing.T) {
	code, stdout, stderr := run(t)
	assert.Equal(t, program.ExitOK, code, stderr)
	for _, line := range []string{
		"plan: 16 to create, 5 unknown until others have run",
		"[flyte:flyteadmin]: + StringEquals",
		"[team1-production:default]: + StringEquals",
		"done     flyte/ml/dataplanes/dp-2/access",
		"done     flyte/ml/labels",
		"install: 21 done, 1 unchanged, in ",
		"verify: working, 22 steps, 0 errors, 0 warnings, 1 not probed",
	} {
		assert.Contains(t, stdout, line)
	}
	assert.True(t, strings.HasSuffix(stdout, "second install: no changes\n"), stdout)
	assert.NotContains(t, stdout, "made-up-FLYTE_DB")
}

func TestAFaultOnOneDataplaneIsNamedAndTheOtherIsFinished(t *testing.T) {
	code, stdout, stderr := run(t, "-fail", "create Secret flyte/flyteadmin-token-1 denied", "-fail", "apply Secret flyte/flyteadmin-token-1 denied")
	assert.Equal(t, program.ExitFailed, code)
	assert.Contains(t, stderr, "flyte/ml/dataplanes/dp-1/access")
	assert.Contains(t, stdout, "done     flyte/ml/dataplanes/dp-2/release")
	assert.NotContains(t, stdout, "create   flyte/ml/controlplane/release", "the control plane is not given a broken entry")
}

func TestTheStateIsRenderedForEachPlane(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	code, _, stderr := run(t, "-render", folder)
	require.Equal(t, program.ExitOK, code, stderr)
	for _, file := range []string{
		"controlplane/release/values.yaml", "controlplane/release/manifests/deployment-flyteadmin.yaml", "controlplane/credentials/secret-cluster-credentials.yaml",
		"controlplane/catalog/service-datacatalog-dataplanes.yaml",
		"dataplanes/dp-1/release/values.yaml", "dataplanes/dp-2/release/manifests/deployment-flytepropeller.yaml",
		"identity/123456789012/flyte-ml-dataplane/policy.json",
	} {
		_, err := os.Stat(filepath.Join(folder, file))
		assert.NoError(t, err, file)
	}
}

func TestWhatIsWrongWithTheFlagsIsSaid(t *testing.T) {
	code, _, stderr := run(t, "-cloud", "azure")
	assert.Equal(t, program.ExitFailed, code)
	assert.Equal(t, "multicluster: -cloud \"azure\": it is fake, aws or gcp\n", stderr)
	code, _, stderr = run(t, "-clusters", "a,b")
	assert.Equal(t, program.ExitFailed, code)
	assert.Equal(t, "multicluster: -clusters \"a,b\": it names three clusters\n", stderr)
}
