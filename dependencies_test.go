package planewright_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a package compiles is part of its promise: whoever writes a step does
// not wait for Kubernetes, whoever describes a deployment does not wait for
// Helm, and whoever is on one cloud does not wait for another.
func TestPackagesCompileOnlyWhatTheyMay(t *testing.T) {
	const module = "github.com/planewright/planewright"
	for _, tt := range []struct {
		pkg string
		// only are the prefixes of the packages outside the standard library that it may need.
		only []string
	}{
		{".", []string{module + "/internal/graph"}},
		{"./cloud", []string{module}},
		{"./kube", []string{module, "k8s.io/apimachinery", "k8s.io/klog", "k8s.io/utils", "k8s.io/kube-openapi", "sigs.k8s.io/", "gopkg.in/inf.v0",
			"github.com/go-logr/logr", "github.com/json-iterator/go", "github.com/modern-go", "github.com/fxamacker/cbor", "github.com/x448/float16",
			"go.yaml.in", "golang.org/x/net", "golang.org/x/text"}},
		{"./flyte", []string{module, "k8s.io/apimachinery", "k8s.io/klog", "k8s.io/utils", "k8s.io/kube-openapi", "sigs.k8s.io/", "gopkg.in/inf.v0",
			"github.com/go-logr/logr", "github.com/json-iterator/go", "github.com/modern-go", "github.com/fxamacker/cbor", "github.com/x448/float16",
			"go.yaml.in", "golang.org/x/net", "golang.org/x/text", "golang.org/x/oauth2", "golang.org/x/sync/semaphore",
			"golang.org/x/crypto/bcrypt", "golang.org/x/crypto/blowfish"}},
		{"./kubeflow", []string{module, "k8s.io/apimachinery", "k8s.io/klog", "k8s.io/utils", "k8s.io/kube-openapi", "sigs.k8s.io/", "gopkg.in/inf.v0",
			"github.com/go-logr/logr", "github.com/json-iterator/go", "github.com/modern-go", "github.com/fxamacker/cbor", "github.com/x448/float16",
			"go.yaml.in", "golang.org/x/net", "golang.org/x/text"}},
	} {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", tt.pkg).Output()
		require.NoError(t, err)
		for _, dep := range strings.Fields(string(out)) {
			allowed := false
			for _, prefix := range tt.only {
				allowed = allowed || strings.HasPrefix(dep, prefix)
			}
			if dep == module || strings.HasPrefix(module+strings.TrimPrefix(tt.pkg, "."), dep) {
				allowed = true
			}
			assert.True(t, allowed, "%s must not need %s", tt.pkg, dep)
			for _, never := range []string{"helm.sh/helm", "k8s.io/client-go", "sigs.k8s.io/controller-runtime", module + "/kube/live", module + "/kube/kubefake"} {
				assert.False(t, strings.HasPrefix(dep, never), "%s must not need %s", tt.pkg, dep)
			}
		}
	}
}
