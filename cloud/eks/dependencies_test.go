package eks_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDependencies: whoever is on AWS compiles nothing of Google's and of Kubernetes'.
func TestDependencies(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	for dependency := range strings.SplitSeq(string(out), "\n") {
		for _, forbidden := range []string{"cloud.google.com/", "google.golang.org/", "k8s.io/", "helm.sh/", "sigs.k8s.io/", "github.com/planewright/planewright/kube"} {
			assert.False(t, strings.HasPrefix(dependency, forbidden), dependency)
		}
	}
}
