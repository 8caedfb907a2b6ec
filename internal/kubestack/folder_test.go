package kubestack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFolderRemovesAbandonedOnes(t *testing.T) {
	// The name of the test is too long a part of t.TempDir's path for a socket.
	parent, err := os.MkdirTemp("", "")
	require.NoError(t, err)
	defer os.RemoveAll(parent)

	held, err := newFolder(parent, "")
	require.NoError(t, err)
	abandoned, err := newFolder(parent, "")
	require.NoError(t, err)
	// As when its process ends: the lock goes, the folder stays.
	require.NoError(t, abandoned.lock.Close())
	foreign := filepath.Join(parent, "kubestack-of-somebody-else")
	require.NoError(t, os.Mkdir(foreign, 0o755))

	next, err := newFolder(parent, "")
	require.NoError(t, err)
	require.DirExists(t, held.path)
	require.NoDirExists(t, abandoned.path)
	require.DirExists(t, foreign)

	require.NoError(t, held.remove())
	require.NoDirExists(t, held.path)
	require.NoError(t, next.remove())
}

func TestFolderKeepsLogs(t *testing.T) {
	parent, err := os.MkdirTemp("", "")
	require.NoError(t, err)
	defer os.RemoveAll(parent)
	f, err := newFolder(parent, "")
	require.NoError(t, err)
	log := f.logFile(KubeAPIServer, "a")
	require.NoError(t, os.WriteFile(log, []byte("why"), 0o644))
	require.NoError(t, os.Mkdir(f.join("etcd"), 0o755))

	require.NoError(t, f.removeAllButLogs())
	require.FileExists(t, log)
	require.NoDirExists(t, f.join("etcd"))
}

func TestFolderRefusesLongPath(t *testing.T) {
	parent := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	require.NoError(t, os.Mkdir(parent, 0o755))
	_, err := newFolder(parent, "")
	require.ErrorContains(t, err, "choose a shorter Config.Dir")
	left, err := os.ReadDir(parent)
	require.NoError(t, err)
	require.Empty(t, left)
}
