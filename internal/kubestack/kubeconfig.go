package kubestack

import (
	"fmt"
	"maps"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// kubeconfig returns a kubeconfig with everything in it, whose context, cluster
// and user are named as the cluster.
func kubeconfig(cluster, server string, ca []byte, client keyPair) *clientcmdapi.Config {
	config := clientcmdapi.NewConfig()
	config.Clusters[cluster] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: ca}
	config.AuthInfos[cluster] = &clientcmdapi.AuthInfo{ClientCertificateData: client.certificate, ClientKeyData: client.key}
	config.Contexts[cluster] = &clientcmdapi.Context{Cluster: cluster, AuthInfo: cluster}
	config.CurrentContext = cluster
	return config
}

// mergeKubeconfigs returns a kubeconfig with the contexts of all of them; the first
// one's context is the current one.
func mergeKubeconfigs(configs ...*clientcmdapi.Config) *clientcmdapi.Config {
	merged := clientcmdapi.NewConfig()
	for _, c := range configs {
		maps.Copy(merged.Clusters, c.Clusters)
		maps.Copy(merged.AuthInfos, c.AuthInfos)
		maps.Copy(merged.Contexts, c.Contexts)
		if merged.CurrentContext == "" {
			merged.CurrentContext = c.CurrentContext
		}
	}
	return merged
}

// writeKubeconfig writes a kubeconfig that only its owner can read.
func writeKubeconfig(path string, config *clientcmdapi.Config) error {
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return fmt.Errorf("write the kubeconfig %s: %w", path, err)
	}
	return nil
}
