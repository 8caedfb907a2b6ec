package kubestack

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/mod/modfile"
)

// The build's input travels inside the package: a test binary built with
// -trimpath, or run from another module, could not find the files.
var (
	//go:embed go.mod
	goMod []byte

	//go:embed go.sum
	goSum []byte
)

const (
	kubernetesModule = "k8s.io/kubernetes"
	kwokModule       = "sigs.k8s.io/kwok"
)

// KubernetesVersion returns the version of Kubernetes that [Build] builds and
// that the API servers report, such as v1.37.2.
func KubernetesVersion() (string, error) {
	file, err := modfile.ParseLax("go.mod", goMod, nil)
	if err != nil {
		return "", fmt.Errorf("read the embedded go.mod: %w", err)
	}
	for _, r := range file.Require {
		if r.Mod.Path == kubernetesModule {
			return r.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("the embedded go.mod does not require %s", kubernetesModule)
}

// buildFlags returns the flags of go build.
func buildFlags() ([]string, error) {
	version, err := KubernetesVersion()
	if err != nil {
		return nil, err
	}
	numbers := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(numbers) < 3 {
		return nil, fmt.Errorf("the version %s of %s is not of the form v1.2.3", version, kubernetesModule)
	}
	// Kubernetes' own build stamps the version in. Without it the server reports
	// v0.0.0-master and a chart's kubeVersion constraint fails.
	ldflags := []string{
		"-s", "-w",
		"-X", "k8s.io/component-base/version.gitVersion=" + version,
		"-X", "k8s.io/component-base/version.gitMajor=" + numbers[0],
		"-X", "k8s.io/component-base/version.gitMinor=" + numbers[1],
		"-X", "k8s.io/client-go/pkg/version.gitVersion=" + version,
	}
	return []string{"-trimpath", "-ldflags", strings.Join(ldflags, " ")}, nil
}

// buildHash returns a short name for all that goes into a build, so that a
// change of any of it leads to another cache folder.
func buildHash() (string, error) {
	flags, err := buildFlags()
	if err != nil {
		return "", err
	}
	parts := append([]string{string(goMod), string(goSum), runtime.GOOS, runtime.GOARCH}, flags...)
	for _, p := range Programs() {
		parts = append(parts, p.importPath())
	}
	parts = append(parts, kwokStageFiles()...)
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8]), nil
}
