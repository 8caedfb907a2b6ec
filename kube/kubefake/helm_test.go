package kubefake_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// getter gives Helm the clients of one cluster and namespace, as its own
// command does.
type getter struct {
	config    *rest.Config
	namespace string
}

func (g getter) ToRESTConfig() (*rest.Config, error) { return g.config, nil }

func (g getter) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	d, err := discovery.NewDiscoveryClientForConfig(g.config)
	if err != nil {
		return nil, err
	}
	return memory.NewMemCacheClient(d), nil
}

func (g getter) ToRESTMapper() (meta.RESTMapper, error) {
	d, err := g.ToDiscoveryClient()
	if err != nil {
		return nil, err
	}
	return restmapper.NewDeferredDiscoveryRESTMapper(d), nil
}

func (g getter) ToRawKubeConfigLoader() clientcmd.ClientConfig {
	return clientcmd.NewDefaultClientConfig(clientcmdapi.Config{}, &clientcmd.ConfigOverrides{Context: clientcmdapi.Context{Namespace: g.namespace}})
}

func helm(t *testing.T, fleet *kubefake.Fleet) *action.Configuration {
	t.Helper()
	c := &action.Configuration{}
	require.NoError(t, c.Init(getter{fleet.Config("dp-1"), "flyte"}, "flyte", "secret", func(string, ...any) {}))
	return c
}

// smallChart has a bit of everything: a definition, a workload, a hook.
func smallChart(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.LoadFiles([]*loader.BufferedFile{
		{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: small\nversion: 1.0.0\nkubeVersion: '>= 1.30.0'\n")},
		{Name: "values.yaml", Data: []byte("replicas: 1\n")},
		{Name: "templates/secret.yaml", Data: []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: x}\n")},
		{Name: "templates/deployment.yaml", Data: []byte(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec: {containers: [{name: main, image: "registry.example/app:1", resources: {limits: {cpu: 1}}}]}
`)},
		{Name: "templates/hook.yaml", Data: []byte(`
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {helm.sh/hook: "pre-install,pre-upgrade"}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: "registry.example/migrate:1"}]}}}
`)},
		{Name: "templates/lookup.yaml", Data: []byte(`
apiVersion: v1
kind: ConfigMap
metadata: {name: facts}
data:
  namespaces: {{ (lookup "v1" "Namespace" "" "").items | len | quote }}
  policy: {{ .Capabilities.APIVersions.Has "policy/v1/PodDisruptionBudget" | quote }}
  version: {{ .Capabilities.KubeVersion.Version }}
`)},
	})
	require.NoError(t, err)
	return c
}

func TestHelmItselfInstallsUpgradesRollsBackAndUninstalls(t *testing.T) {
	charts := map[string]func(t *testing.T) *chart.Chart{"a small chart": smallChart}
	if folder := os.Getenv("PLANEWRIGHT_CHARTS"); folder == "" {
		t.Log("PLANEWRIGHT_CHARTS is not set: only a small chart is tried")
	} else {
		for _, name := range []string{"flyte-binary-v1.16.8.tgz", "flyte-core-v1.16.8.tgz"} {
			charts[name] = func(t *testing.T) *chart.Chart {
				t.Helper()
				c, err := loader.Load(filepath.Join(folder, name))
				require.NoError(t, err)
				return c
			}
		}
	}
	for name, load := range charts {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, fleet *kubefake.Fleet, c *kubernetes.Clientset) {
				_, err := c.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "flyte"}}, metav1.CreateOptions{})
				require.NoError(t, err)
				settle()
				before := names(fleet)

				install := action.NewInstall(helm(t, fleet))
				install.ReleaseName, install.Namespace, install.Wait, install.Timeout = "small", "flyte", true, 300e9
				installed, err := install.Run(load(t), nil)
				require.NoError(t, err)
				assert.Equal(t, release.StatusDeployed, installed.Info.Status)

				upgrade := action.NewUpgrade(helm(t, fleet))
				upgrade.Namespace, upgrade.Wait, upgrade.Timeout = "flyte", true, 300e9
				_, err = upgrade.Run("small", load(t), map[string]any{"replicas": 2})
				require.NoError(t, err)

				rollback := action.NewRollback(helm(t, fleet))
				require.NoError(t, rollback.Run("small"))
				history, err := action.NewHistory(helm(t, fleet)).Run("small")
				require.NoError(t, err)
				require.Len(t, history, 3)
				assert.Equal(t, release.StatusDeployed, history[2].Info.Status)

				uninstall := action.NewUninstall(helm(t, fleet))
				uninstall.Wait, uninstall.Timeout = true, 300e9
				_, err = uninstall.Run("small")
				require.NoError(t, err)
				settle()
				assert.Subset(t, append(before, "Job migrate"), names(fleet), "what is left is what was there, and the last hook")
			})
		})
	}
}

// names lists the objects of a cluster, but for the pods of hooks.
func names(fleet *kubefake.Fleet) []string {
	var list []string
	for _, obj := range fleet.Objects("dp-1") {
		if obj.GetKind() != "Pod" {
			list = append(list, obj.GetKind()+" "+obj.GetName())
		}
	}
	return list
}

func TestChartsSeeTheFakeClustersFacts(t *testing.T) {
	bubble(t, func(t *testing.T, fleet *kubefake.Fleet, c *kubernetes.Clientset) {
		fleet.Configure("dp-1", kubefake.WithVersion("v1.35.4"))
		_, err := c.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "flyte"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		install := action.NewInstall(helm(t, fleet))
		install.ReleaseName, install.Namespace = "small", "flyte"
		_, err = install.Run(smallChart(t), nil)
		require.NoError(t, err)
		facts, err := c.CoreV1().ConfigMaps("flyte").Get(t.Context(), "facts", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, map[string]string{"namespaces": "5", "policy": "true", "version": "v1.35.4"}, facts.Data)
	})
}
