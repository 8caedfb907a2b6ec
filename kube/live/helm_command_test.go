package live_test

import (
	"io"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// helmCommand is the helm command in somebody's hands, on cluster dp-1 and in
// namespace flyte.
type helmCommand struct{ config *rest.Config }

func (h helmCommand) ToRESTConfig() (*rest.Config, error) { return h.config, nil }

func (h helmCommand) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	client, err := discovery.NewDiscoveryClientForConfig(h.config)
	if err != nil {
		return nil, err
	}
	return memory.NewMemCacheClient(client), nil
}

func (h helmCommand) ToRESTMapper() (meta.RESTMapper, error) {
	client, err := h.ToDiscoveryClient()
	if err != nil {
		return nil, err
	}
	return restmapper.NewDeferredDiscoveryRESTMapper(client), nil
}

func (h helmCommand) ToRawKubeConfigLoader() clientcmd.ClientConfig {
	return clientcmd.NewDefaultClientConfig(clientcmdapi.Config{}, &clientcmd.ConfigOverrides{Context: clientcmdapi.Context{Namespace: "flyte"}})
}

// helm prepares an action of the helm command.
func helm(t *testing.T, fleet *kubefake.Fleet) *action.Configuration {
	t.Helper()
	config := &action.Configuration{}
	require.NoError(t, config.Init(helmCommand{fleet.Config("dp-1")}, "flyte", "secret", func(string, ...any) {}))
	config.HookOutputFunc = func(string, string, string) io.Writer { return io.Discard }
	return config
}

// helmChart is the demo chart as Helm loads it.
func helmChart(t *testing.T) *chart.Chart {
	t.Helper()
	var files []*loader.BufferedFile
	for _, f := range demo(nil).Chart.Files() {
		files = append(files, &loader.BufferedFile{Name: f.Name, Data: f.Data})
	}
	loaded, err := loader.LoadFiles(files)
	require.NoError(t, err)
	return loaded
}

func TestReleasesLookAsIfHelmHadMadeThem(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	cluster := fleet.Cluster("dp-1")
	for _, values := range []kube.Values{nil, {"replicas": 2}} {
		_, err := cluster.Releases.Apply(ctx, demo(values))
		require.NoError(t, err)
	}
	list, err := action.NewList(helm(t, fleet)).Run()
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, "demo", list[0].Name)
	assert.Equal(t, release.StatusDeployed, list[0].Info.Status)
	assert.Equal(t, "Upgrade complete", list[0].Info.Description)
	assert.Equal(t, "Thank you for installing demo.", list[0].Info.Notes)
	assert.Equal(t, map[string]any{"replicas": float64(2)}, list[0].Config)

	t.Run("helm rolls them back, and a plan sees it", func(t *testing.T) {
		rollback := action.NewRollback(helm(t, fleet))
		rollback.Version = 1
		require.NoError(t, rollback.Run("demo"))
		plan, err := cluster.Releases.Plan(ctx, demo(nil))
		require.NoError(t, err)
		assert.Equal(t, planewright.ActionNone, plan.Action, "%v", plan.Diff)
		plan, err = cluster.Releases.Plan(ctx, demo(kube.Values{"replicas": 2}))
		require.NoError(t, err)
		assert.Equal(t, planewright.ActionUpdate, plan.Action)
	})
	t.Run("helm upgrades them, and a plan sees it", func(t *testing.T) {
		upgrade := action.NewUpgrade(helm(t, fleet))
		upgrade.Namespace = "flyte"
		_, err := upgrade.Run("demo", helmChart(t), map[string]any{"replicas": 4})
		require.NoError(t, err)
		plan, err := cluster.Releases.Plan(ctx, demo(nil))
		require.NoError(t, err)
		assert.Equal(t, planewright.ActionUpdate, plan.Action, "Helm copies labels to the new revision, which is not what they say")
		assert.Contains(t, plan.Diff, planewright.FieldDiff{Path: "Deployment flyte/demo: spec.replicas", Before: "4", After: "1"})
	})
	t.Run("a helm upgrade that hangs is somebody's, though the release is ours", func(t *testing.T) {
		fleet.Fail(kubefake.Call("patch").Kind("Deployment"), kubefake.Killed)
		upgrade := action.NewUpgrade(helm(t, fleet))
		upgrade.Namespace = "flyte"
		_, err := upgrade.Run("demo", helmChart(t), map[string]any{"replicas": 5})
		require.Error(t, err)
		fleet.Heal()
		fleet.Revive()
		_, err = fleet.Cluster("dp-1").Releases.Plan(ctx, demo(nil))
		require.ErrorIs(t, err, kube.ErrReleasePending)
	})
}

func TestReleaseThatHelmMadeIsAdoptedOnRequest(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	cluster := fleet.Cluster("dp-1")
	install := action.NewInstall(helm(t, fleet))
	install.ReleaseName, install.Namespace = "demo", "flyte"
	_, err := install.Run(helmChart(t), map[string]any{})
	require.NoError(t, err)

	state, err := cluster.Releases.State(ctx, "flyte", "demo")
	require.NoError(t, err)
	assert.Empty(t, state.Owner)
	_, err = cluster.Releases.Apply(ctx, demo(nil))
	var ownership *kube.OwnershipError
	require.ErrorAs(t, err, &ownership)
	require.ErrorContains(t, err, "it was made with helm")

	release := demo(nil)
	release.Adopt = true
	state, err = cluster.Releases.Apply(ctx, release)
	require.NoError(t, err)
	assert.Equal(t, owner, state.Owner)
	assert.Equal(t, 2, state.Revision)
}

func TestReleaseUninstalledWithItsHistoryKept(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	cluster := fleet.Cluster("dp-1")
	_, err := cluster.Releases.Apply(ctx, demo(nil))
	require.NoError(t, err)
	uninstall := action.NewUninstall(helm(t, fleet))
	uninstall.KeepHistory = true
	_, err = uninstall.Run("demo")
	require.NoError(t, err)

	plan, err := cluster.Releases.Plan(ctx, demo(nil))
	require.NoError(t, err)
	assert.Equal(t, planewright.ActionCreate, plan.Action)
	state, err := cluster.Releases.Apply(ctx, demo(nil))
	require.NoError(t, err)
	assert.Equal(t, 2, state.Revision)
	plan, err = cluster.Releases.Plan(ctx, demo(nil))
	require.NoError(t, err)
	assert.Equal(t, planewright.ActionNone, plan.Action, "%v", plan.Diff)
}
