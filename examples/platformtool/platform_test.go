package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// installed is the sample platform, installed on fakes.
func installed(t *testing.T) (*Fakes, Tool) {
	t.Helper()
	t.Setenv("PLATFORM_DB", "correct-horse")
	platform, err := Parse(sample)
	require.NoError(t, err)
	world := NewFakes(platform)
	t.Cleanup(world.Close)
	tool := Tool{Platform: platform, Env: world.Env}
	_, err = tool.Apply(t.Context())
	require.NoError(t, err)
	return world, tool
}

// change is the sample platform with a line of its file changed.
func change(t *testing.T, line, changed string) Platform {
	t.Helper()
	require.Contains(t, string(sample), line)
	platform, err := Parse([]byte(strings.Replace(string(sample), line, changed, 1)))
	require.NoError(t, err)
	return platform
}

func TestThePipelineSeesNoChangesAfterAnApply(t *testing.T) {
	_, tool := installed(t)
	plan, err := tool.Plan(t.Context())
	require.NoError(t, err)
	planewright.AssertNoChanges(t, plan)
}

func TestANewTeamTouchesNoDataplane(t *testing.T) {
	_, tool := installed(t)
	tool.Platform = change(t, "  - {name: reports}", "  - {name: reports}\n  - {name: speech, pool: gpu}")
	plan, err := tool.Plan(t.Context())
	require.NoError(t, err)
	planewright.AssertTouchesOnly(t, plan,
		"flyte/ml/controlplane/release", // it seeds projects
		"flyte/ml/projects", "flyte/ml/labels",
		// The team's namespaces get the data planes' role.
		"flyte/ml/identity/123456789012/flyte-ml-dataplane/pod-identity/cpu-1",
		"flyte/ml/identity/123456789012/flyte-ml-dataplane/pod-identity/gpu-1",
		"flyte/ml/identity/123456789012/flyte-ml-dataplane/pod-identity/gpu-2")
}

func TestANewClusterTouchesNoOther(t *testing.T) {
	world, tool := installed(t)
	world.Add("gpu-3")
	tool.Env = world.Env
	tool.Platform = change(t, "pools:", "  - {name: gpu-3, pool: gpu, share: 10}\npools:")
	plan, err := tool.Plan(t.Context())
	require.NoError(t, err)
	planewright.AssertTouchesOnly(t, plan,
		"flyte/ml/dataplanes/gpu-3/namespace", "flyte/ml/dataplanes/gpu-3/release", "flyte/ml/dataplanes/gpu-3/access",
		"flyte/ml/identity/123456789012/flyte-ml-dataplane/pod-identity/gpu-3",
		"flyte/ml/controlplane/credentials", "flyte/ml/controlplane/release")
	before := world.Fleet.Writes("gpu-1")
	_, err = tool.Apply(t.Context())
	require.NoError(t, err)
	assert.Equal(t, before, world.Fleet.Writes("gpu-1"))
}

func TestAMachineDeletesNothingByItself(t *testing.T) {
	world, tool := installed(t)
	tool.Platform = change(t, "  - {name: gpu-2, pool: gpu, share: 70}\n", "")
	before := world.Fleet.Writes("gpu-2")
	_, err := tool.Apply(t.Context())
	require.ErrorContains(t, err, "the plan deletes flyte/ml/dataplanes/gpu-2/access/pruned, flyte/ml/dataplanes/gpu-2/release/pruned")
	require.ErrorContains(t, err, "if that is meant, use -allow-deletes")
	assert.Equal(t, before, world.Fleet.Writes("gpu-2"))

	tool.AllowDeletes = true
	_, err = tool.Apply(t.Context())
	require.NoError(t, err)
}

func TestAThrottledAccountIsWaitedOut(t *testing.T) {
	world, tool := installed(t)
	world.AWS.Fail(eksfake.Call("CreatePodIdentityAssociation"), eksfake.Throttled, eksfake.Times(2))
	tool.Platform = change(t, "  - {name: reports}", "  - {name: reports}\n  - {name: speech}")
	_, err := tool.Apply(t.Context())
	require.NoError(t, err)
}

func TestAClusterThatIsDownIsNamed(t *testing.T) {
	world, tool := installed(t)
	world.Fleet.Fail(kubefake.Call("").On("gpu-1"), kubefake.Unreachable)
	_, err := tool.Plan(t.Context())
	require.ErrorIs(t, err, planewright.ErrUnavailable)
	require.ErrorContains(t, err, "gpu-1")
}

func TestTheFileIsReadStrictly(t *testing.T) {
	_, err := Parse([]byte("name: ml\nclusters: [{name: a, weigth: 1}]"))
	require.ErrorContains(t, err, `unknown field "weigth"`)
}

func TestTheCommand(t *testing.T) {
	t.Setenv("PLATFORM_DB", "correct-horse")
	var out bytes.Buffer
	require.ErrorIs(t, run(t.Context(), []string{"plan"}, &out), errChanges)
	assert.Contains(t, out.String(), "unknown until others have run")
	assert.NotContains(t, out.String(), "correct-horse")
	out.Reset()
	require.NoError(t, run(t.Context(), []string{"explain"}, &out))
	assert.Equal(t, "vision: gpu (project): gpu-1 30%, gpu-2 70%\nreports: cpu (default label): cpu-1 100%\n", out.String())
	out.Reset()
	require.NoError(t, run(t.Context(), []string{"apply"}, &out))
	assert.Contains(t, out.String(), "done flyte/ml/labels")
	require.EqualError(t, run(t.Context(), []string{"destroy"}, &out), `"destroy" is no verb: use plan, apply or explain`)
}
