package kubeflow_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDependencies: whoever imports this package compiles neither Helm nor a
// transport to clusters nor a cloud's SDK.
func TestDependencies(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	for dependency := range strings.SplitSeq(string(out), "\n") {
		for _, forbidden := range []string{"helm.sh/", "k8s.io/client-go", "k8s.io/api/", "sigs.k8s.io/controller-runtime",
			"github.com/aws/", "cloud.google.com/", "github.com/planewright/planewright/kube/live", "github.com/planewright/planewright/kube/kubefake"} {
			assert.False(t, strings.HasPrefix(dependency, forbidden), dependency)
		}
	}
}
