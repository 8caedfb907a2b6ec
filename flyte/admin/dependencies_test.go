package admin_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDependencies: whoever imports these packages compiles neither gRPC nor flyteidl.
func TestDependencies(t *testing.T) {
	const module = "github.com/planewright/planewright"
	client := []string{
		module + "/internal/graph", module,
		"golang.org/x/oauth2/internal", "golang.org/x/oauth2", "golang.org/x/oauth2/clientcredentials", module + "/flyte/admin",
	}
	for pkg, want := range map[string][]string{".": client, "./adminfake": append(client[:len(client):len(client)], module+"/flyte/admin/adminfake")} {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", pkg).Output()
		require.NoError(t, err)
		assert.Equal(t, want, strings.Fields(string(out)))
	}
}
