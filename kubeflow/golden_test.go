package kubeflow_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/planewright/planewright/kubeflow/kubeflowtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files again")

// golden compares text with a file in testdata/golden.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run the test with -update to write it")
	assert.Equal(t, string(want), got)
}

func TestGoldenPlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		plan, err := whole().Plan(t.Context(), w.Env())
		require.NoError(t, err)
		golden(t, "plan.txt", plan.String())
	})
}

// files takes rendered files.
type files map[string]string

func (f files) WriteFile(name string, data []byte) error {
	f[name] = string(data)
	return nil
}

func TestGoldenFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		rendered := files{}
		require.NoError(t, whole().Render(t.Context(), w.Env(), rendered))
		var names []string
		for name := range rendered {
			names = append(names, name)
		}
		slices.Sort(names)
		var all strings.Builder
		for _, name := range names {
			all.WriteString("--- " + name + "\n" + rendered[name])
		}
		golden(t, "rendered.txt", all.String())
		assert.NotContains(t, all.String(), string(kubeflowtest.PlatformCertificate()))
	})
}
