package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/examples/internal/program"
	"github.com/planewright/planewright/kubeflow/kubeflowtest"
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

func TestTheMainJob(t *testing.T) {
	code, stdout, stderr := run(t)
	assert.Equal(t, program.ExitOK, code)
	assert.Empty(t, stderr)
	for _, line := range []string{
		"operator kfbase-operator.v26.3.0", "operator kfp-operator.v26.3.1",
		"operator model-registry-operator.v0.3.0", "operator kubeflow-trainer-operator.v2.1.0",
		"profile team-a of ana@acme.example", "bo@acme.example as edit of namespace team-a", "model registry team-a/models",
		"verify: working, ",
	} {
		assert.Contains(t, stdout, line)
	}
	assert.True(t, strings.HasSuffix(stdout, "second install: no changes\n"))
}

func TestADryRunOnlyPlans(t *testing.T) {
	code, stdout, stderr := run(t, "-dry-run")
	assert.Equal(t, program.ExitOK, code, stderr)
	assert.Contains(t, stdout, "approves the install plan of kfbase-operator.v26.3.0, and no other")
	assert.NotContains(t, stdout, "done")
}

func TestAPlanThatMayNotBeApprovedIsNamedAndTheOtherOperatorsAreFinished(t *testing.T) {
	code, stdout, stderr := run(t, "-fail", "patch InstallPlan kfp-operator/* denied")
	assert.Equal(t, program.ExitFailed, code)
	assert.Contains(t, stderr, "step kubeflow/ml/pipelines/operator on cluster workload: apply: ")
	assert.Contains(t, stderr, "plan-not-approved: the plan waits for its approval, and these credentials may not give it; fix: grant patch on installplans.operators.coreos.com in namespace kfp-operator")
	assert.Contains(t, stderr, "not tried: kubeflow/ml/pipelines/instance")
	assert.Contains(t, stdout, "done     kubeflow/ml/trainer/instance")
}

func TestAFaultThatPassesIsRetried(t *testing.T) {
	code, stdout, stderr := run(t, "-fail", "update Istio * conflict 1")
	assert.Equal(t, program.ExitOK, code, stderr)
	assert.Contains(t, stdout, "retry    kubeflow/ml/mesh: attempt 1 failed")
}

func TestAPinOfOnesOwnIsInstalledAndAnEmptyOneListsWhatTheCatalogOffers(t *testing.T) {
	code, stdout, stderr := run(t, "-pin", "pipelines=kfp-operator.v26.3.0", "-pin", "trainer=kubeflow-trainer-operator.v2.2.0", "-dry-run")
	assert.Equal(t, program.ExitOK, code, stderr)
	assert.Contains(t, stdout, "approves the install plan of kfp-operator.v26.3.0, and no other")
	assert.Contains(t, stdout, "approves the install plan of kubeflow-trainer-operator.v2.2.0, and no other")

	code, _, stderr = run(t, "-pin", "pipelines=", "-dry-run")
	assert.Equal(t, program.ExitFailed, code)
	assert.Contains(t, stderr, "release 26.03 does not say which version of kfp-operator to install; the catalog offers alpha: kfp-operator.v26.3.1, kfp-operator.v26.3.0")

	code, _, stderr = run(t, "-pin", "katib=katib.v1")
	assert.Equal(t, program.ExitUsage, code)
	assert.Contains(t, stderr, "it is a component of [base pipelines modelregistry trainer]")
}

func TestAHostThatThePlatformDoesNotKnowIsRefused(t *testing.T) {
	code, _, stderr := run(t, "-host", "ml.acme.example")
	assert.Equal(t, program.ExitFailed, code)
	assert.Contains(t, stderr, "https://ml.acme.example is not among the platform's access URLs")
}

func TestRenderWritesWhatToUploadAndWhatToApply(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	code, _, stderr := run(t, "-render", folder)
	require.Equal(t, program.ExitOK, code, stderr)
	for _, file := range []string{"base/package/upload.txt", "base/subscription/subscription-kfbase-operator.yaml", "profiles/team-a/profile/profile-team-a.yaml"} {
		assert.FileExists(t, filepath.Join(folder, filepath.FromSlash(file)))
	}
}

// What users write in their own tests: the stack of the example, on a platform
// in memory, where a second install persists nothing and an operator can fail.
func TestAStackIsTestedOnASimulatedPlatform(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		platform := kubeflowtest.NewWorld()
		defer platform.Close()
		platform.Break("kfp-operator", kubeflowtest.NeverAvailable)
		report, err := stack(release(nil)).Install(t.Context(), platform.Env())
		require.ErrorIs(t, err, planewright.ErrTimeout)
		trainer, _ := report.Step("kubeflow/ml/trainer/instance")
		assert.Equal(t, planewright.OutcomeDone, trainer.Outcome, "the others go on")

		platform.Mend("kfp-operator")
		_, err = stack(release(nil)).Install(t.Context(), platform.Env())
		require.NoError(t, err)
		platform.Fleet.ForgetCalls()
		_, err = stack(release(nil)).Install(t.Context(), platform.Env())
		require.NoError(t, err)
		assert.Zero(t, platform.Fleet.Writes("workload"))
	})
}
