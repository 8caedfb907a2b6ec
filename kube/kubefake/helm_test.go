package kubefake_test

import (
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
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

// getter gives Helm the clients of one cluster and namespace.
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
	return restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(d), d, nil), nil
}
func (g getter) ToRawKubeConfigLoader() clientcmd.ClientConfig {
	o := &clientcmd.ConfigOverrides{Context: clientcmdapi.Context{Namespace: g.namespace}}
	return clientcmd.NewDefaultClientConfig(clientcmdapi.Config{}, o)
}

func TestHelm(t *testing.T) {
	charts := os.Getenv("PLANEWRIGHT_CHARTS")
	if charts == "" {
		t.Skip("PLANEWRIGHT_CHARTS is not set")
	}
	log.SetOutput(io.Discard)
	for _, name := range []string{"flyte-binary-v1.16.8.tgz", "flyte-core-v1.16.8.tgz"} {
		t.Run(name, func(t *testing.T) {
			fleet := kubefake.NewFleet("dp-1")
			defer fleet.Close()
			k, err := kubernetes.NewForConfig(fleet.Config("dp-1"))
			require.NoError(t, err)
			_, err = k.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "flyte"}}, metav1.CreateOptions{})
			require.NoError(t, err)
			c, err := loader.Load(filepath.Join(charts, name))
			require.NoError(t, err)
			cfg := &action.Configuration{}
			require.NoError(t, cfg.Init(getter{fleet.Config("dp-1"), "flyte"}, "flyte", "secret", t.Logf))
			in := action.NewInstall(cfg)
			in.ReleaseName, in.Namespace = "flyte-backend", "flyte"
			rel, err := in.Run(c, map[string]any{})
			for _, c := range fleet.Calls() {
				if !strings.Contains(c.String(), "discover") {
					t.Log(c)
				}
			}
			require.NoError(t, err)
			t.Log(rel.Info.Status)
			c, err = loader.Load(filepath.Join(charts, name))
			require.NoError(t, err)
			up := action.NewUpgrade(cfg)
			up.Namespace = "flyte"
			fleet.ForgetCalls()
			rel, err = up.Run("flyte-backend", c, map[string]any{"x": 1})
			for _, c := range fleet.Calls() {
				if c.Persisted {
					t.Log(c)
				}
			}
			require.NoError(t, err)
			un := action.NewUninstall(cfg)
			_, err = un.Run("flyte-backend")
			require.NoError(t, err)
		})
	}
}
