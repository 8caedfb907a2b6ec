package admin_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDependencies: whoever imports this package compiles neither gRPC nor flyteidl.
func TestDependencies(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	require.NoError(t, err)
	assert.Equal(t, []string{
		"github.com/planewright/planewright/internal/graph", "github.com/planewright/planewright",
		"golang.org/x/oauth2/internal", "golang.org/x/oauth2", "golang.org/x/oauth2/clientcredentials", "github.com/planewright/planewright/flyte/admin",
	}, strings.Fields(string(out)))
}
