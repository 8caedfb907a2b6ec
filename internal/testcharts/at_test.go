package testcharts_test

import (
	"io/fs"
	"testing"

	"github.com/planewright/planewright/internal/testcharts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestChartsOfAnotherVersion(t *testing.T) {
	for _, chart := range []string{"flyte-core", "flyte-binary"} {
		data, err := fs.ReadFile(testcharts.At("v1.15.3"), chart+"/Chart.yaml")
		require.NoError(t, err)
		assert.Contains(t, string(data), "version: v1.15.3")
		values, err := fs.ReadFile(testcharts.At("v1.15.3"), chart+"/values.yaml")
		require.NoError(t, err)
		assert.NotContains(t, string(values), "connector")
		same, err := fs.ReadFile(testcharts.At("v1.16.8"), chart+"/values.yaml")
		require.NoError(t, err)
		as, err := fs.ReadFile(testcharts.FS(), chart+"/values.yaml")
		require.NoError(t, err)
		assert.Equal(t, string(as), string(same))
	}
}
