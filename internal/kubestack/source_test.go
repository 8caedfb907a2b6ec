package kubestack

import (
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"
)

func TestToolsImportsEveryProgram(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "tools/tools.go", nil, parser.ImportsOnly)
	require.NoError(t, err)
	var imports []string
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		imports = append(imports, path)
	}
	var programs []string
	for _, p := range Programs() {
		programs = append(programs, p.importPath())
	}
	require.ElementsMatch(t, programs, imports)
}

// TestStagingModules holds the replace lines to the version of Kubernetes: a line
// that is forgotten in an upgrade builds a mixture.
func TestStagingModules(t *testing.T) {
	version, err := KubernetesVersion()
	require.NoError(t, err)
	staging := "v0" + strings.TrimPrefix(version, "v1")
	file, err := modfile.Parse("go.mod", goMod, nil)
	require.NoError(t, err)
	require.NotEmpty(t, file.Replace)
	for _, r := range file.Replace {
		require.Equal(t, r.Old.Path, r.New.Path)
		require.Equal(t, staging, r.New.Version, r.New.Path)
	}
}

func TestBuildFlagsStampTheVersion(t *testing.T) {
	version, err := KubernetesVersion()
	require.NoError(t, err)
	flags, err := buildFlags()
	require.NoError(t, err)
	require.Contains(t, strings.Join(flags, " "), "-X k8s.io/component-base/version.gitVersion="+version)
}

func TestBuildHashIsStable(t *testing.T) {
	first, err := buildHash()
	require.NoError(t, err)
	second, err := buildHash()
	require.NoError(t, err)
	require.Equal(t, first, second)
	require.Regexp(t, "^[0-9a-f]{16}$", first)
}
