package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/examples/internal/program"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/internal/testcharts"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kube/live"
)

// run runs the program as a person would.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = example().Run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestTheMainJob(t *testing.T) {
	code, stdout, stderr := run(t)
	assert.Equal(t, program.ExitOK, code)
	assert.Empty(t, stderr)
	for _, line := range []string{
		"plan: 3 to create\n",
		"install: 3 done, in ",
		"verify: working, 3 steps, 0 errors, 0 warnings, 0 not probed\n",
		"install: 3 unchanged, in ",
	} {
		assert.Contains(t, stdout, line)
	}
	assert.True(t, strings.HasSuffix(stdout, "second install: no changes\n"))
	assert.NotContains(t, stdout, "made-up", "the password is in no output")
}

func TestADryRunOnlyPlans(t *testing.T) {
	code, stdout, stderr := run(t, "-dry-run")
	assert.Equal(t, program.ExitOK, code)
	assert.Empty(t, stderr)
	assert.Contains(t, stdout, "plan: 3 to create\n")
	assert.NotContains(t, stdout, "done")
}

func TestResultsAsJSON(t *testing.T) {
	code, stdout, stderr := run(t, "-o", "json")
	assert.Equal(t, program.ExitOK, code)
	assert.Contains(t, stderr, "holding Lease flyte/planewright-flyte-ml", "progress goes to the error stream")
	decoder := json.NewDecoder(strings.NewReader(stdout))
	var titles []string
	for decoder.More() {
		var document map[string]any
		require.NoError(t, decoder.Decode(&document))
		for title := range document {
			titles = append(titles, title)
		}
	}
	assert.Equal(t, []string{"plan", "install", "verify", "second install"}, titles)
}

func TestRenderWritesFilesWithoutSecrets(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	code, _, stderr := run(t, "-render", folder)
	require.Equal(t, program.ExitOK, code, stderr)
	secret, err := os.ReadFile(filepath.Join(folder, "database-secret", "secret-flyte-backend-database.yaml"))
	require.NoError(t, err)
	assert.Contains(t, string(secret), "[redacted]")
	assert.FileExists(t, filepath.Join(folder, "release", "values.yaml"))
}

func TestAFaultThatPassesIsRetried(t *testing.T) {
	code, stdout, stderr := run(t, "-fail", "apply Secret flyte/* unavailable 1")
	assert.Equal(t, program.ExitOK, code, stderr)
	assert.Contains(t, stdout, "retry    flyte/ml/database-secret: attempt 1 failed")
}

func TestWhatAnAPIServerAsksToWaitIsToldAndWaited(t *testing.T) {
	code, stdout, stderr := run(t, "-fail", "apply Secret flyte/* throttled 1")
	assert.Equal(t, program.ExitOK, code, stderr)
	assert.Contains(t, stdout, "flyte/ml/database-secret: cluster main answers 429 Too Many Requests and asks to wait 1s before the next attempt")
}

func TestAFaultThatStaysFailsTheProgramAndNamesTheStep(t *testing.T) {
	code, stdout, stderr := run(t, "-fail", "apply Secret denied")
	assert.Equal(t, program.ExitFailed, code)
	assert.Contains(t, stdout, "install: 1 done, 1 failed, 1 not tried")
	assert.Contains(t, stderr, "step flyte/ml/database-secret on cluster main: apply: ")
	assert.Contains(t, stderr, "not tried: flyte/ml/release")
}

func TestWrongFlagsAreAllNamed(t *testing.T) {
	code, stdout, stderr := run(t, "-o", "yaml", "-contexts", "a,b", "install")
	assert.Equal(t, program.ExitUsage, code)
	assert.Empty(t, stdout)
	for _, problem := range []string{`-o "yaml": it is tree or json`, "-contexts needs -kubeconfig", "-contexts has 2 contexts, and the example has 1 clusters", `unexpected arguments ["install"]`} {
		assert.Contains(t, stderr, problem)
	}
}

func TestAContextThatDoesNotExistNamesThoseThatDo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(file, []byte(`apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: prod, context: {cluster: c}}, {name: stage, context: {cluster: c}}]
`), 0o600))
	code, _, stderr := run(t, "-kubeconfig", file)
	assert.Equal(t, program.ExitFailed, code)
	assert.Contains(t, stderr, `context "main" in kubeconfig `+file+": not found; there are the contexts prod, stage")
}

// What users write in their own tests: the deployment of the example, on
// clusters in memory, with a fault.
func TestADeploymentIsTestedOnTheFakes(t *testing.T) {
	fleet := kubefake.NewFleet("main")
	defer fleet.Close()
	stack := deployment(planewright.SecretValue("correct-horse")).
		On(flyte.NewEnv(fleet.Cluster("main")).WithCharts(live.ChartFS(testcharts.FS(), ".")))

	fleet.Fail(kubefake.Call("create").Kind("Deployment"), kubefake.Reset, kubefake.Times(1), kubefake.AfterEffect())
	report, err := planewright.Install(t.Context(), stack)
	require.NoError(t, err)
	assert.Equal(t, []string{"flyte/ml/namespace", "flyte/ml/database-secret", "flyte/ml/release"}, report.Changed())

	plan, err := planewright.Plan(t.Context(), stack)
	require.NoError(t, err)
	planewright.AssertNoChanges(t, plan)

	secret, err := fleet.Cluster("main").Objects.Get(t.Context(), kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "flyte", Name: "flyte-backend-database"})
	require.NoError(t, err)
	assert.Equal(t, "planewright", secret.GetLabels()["app.kubernetes.io/managed-by"])
}
