package live

import (
	"context"
	"fmt"
	"log/slog"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// helmGetter gives Helm its clients: on our transport, with what we already
// know of the API server, in one namespace.
type helmGetter struct {
	c         *connection
	config    *rest.Config
	namespace string
}

func (g *helmGetter) ToRESTConfig() (*rest.Config, error) { return rest.CopyConfig(g.config), nil }

func (g *helmGetter) ToRESTMapper() (meta.RESTMapper, error) { return g.c.apis.mapper, nil }

func (g *helmGetter) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	client, err := discovery.NewDiscoveryClientForConfig(g.config)
	if err != nil {
		return nil, err
	}
	return cachedDiscovery{client, g.c.apis}, nil
}

func (g *helmGetter) ToRawKubeConfigLoader() clientcmd.ClientConfig {
	return namespaceConfig{g}
}

// cachedDiscovery lets Helm say that what we know of the API server is stale.
type cachedDiscovery struct {
	*discovery.DiscoveryClient
	apis *apis
}

func (d cachedDiscovery) Fresh() bool { return true }
func (d cachedDiscovery) Invalidate() { d.apis.forget() }

// namespaceConfig is a kubeconfig of which Helm reads the namespace.
type namespaceConfig struct{ g *helmGetter }

func (n namespaceConfig) RawConfig() (clientcmdapi.Config, error) { return clientcmdapi.Config{}, nil }
func (n namespaceConfig) ClientConfig() (*rest.Config, error)     { return n.g.ToRESTConfig() }
func (n namespaceConfig) Namespace() (string, bool, error)        { return n.g.namespace, true, nil }
func (n namespaceConfig) ConfigAccess() clientcmd.ConfigAccess    { return nil }

// logf takes Helm's log.
func logf(ctx context.Context, log *slog.Logger, namespace, format string, args ...any) {
	if log.Enabled(ctx, slog.LevelDebug) {
		log.DebugContext(ctx, fmt.Sprintf(format, args...), "component", "helm", "namespace", namespace)
	}
}
