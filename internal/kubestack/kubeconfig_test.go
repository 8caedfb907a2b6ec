package kubestack

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
)

func TestKubeconfig(t *testing.T) {
	a := kubeconfig("a", "https://127.0.0.1:1", []byte("ca of a"), keyPair{[]byte("certificate of a"), []byte("key of a")})
	b := kubeconfig("b", "https://127.0.0.1:2", []byte("ca of b"), keyPair{[]byte("certificate of b"), []byte("key of b")})
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, writeKubeconfig(file, mergeKubeconfigs(a, b)))

	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "a kubeconfig is a secret")

	config, err := clientcmd.LoadFromFile(file)
	require.NoError(t, err)
	require.NoError(t, clientcmd.Validate(*config))
	require.Equal(t, "a", config.CurrentContext)
	for _, name := range []string{"a", "b"} {
		context := config.Contexts[name]
		require.NotNil(t, context)
		require.Equal(t, "ca of "+name, string(config.Clusters[context.Cluster].CertificateAuthorityData))
		require.Equal(t, "key of "+name, string(config.AuthInfos[context.AuthInfo].ClientKeyData))
	}
	require.Equal(t, "https://127.0.0.1:2", config.Clusters["b"].Server)
}
