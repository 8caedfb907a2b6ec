package iam_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDependencies: whoever imports this package compiles no SDK.
func TestDependencies(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	require.NoError(t, err)
	assert.Equal(t, []string{
		"github.com/planewright/planewright/internal/graph", "github.com/planewright/planewright", "github.com/planewright/planewright/cloud/iam",
	}, strings.Fields(string(out)))
}
