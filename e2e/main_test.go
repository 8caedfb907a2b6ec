package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/planewright/planewright/internal/kubestack"
)

// The clusters, each for its own kind of test, so that one test's objects
// never are another's surprise.
const (
	contractCluster = "contract"
	singleCluster   = "single"
	killedCluster   = "killed"
)

// planesClusters are a control plane's cluster and two data planes'.
func planesClusters() []string { return []string{"control", "dp-1", "dp-2"} }

// world is what all tests share: started once, as starting takes seconds.
var world struct {
	stack *kubestack.Stack
	bin   kubestack.Binaries
	// dir holds what lives as long as the tests: the audit logs, the examples' binaries.
	dir string
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "planewright-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	world.dir = dir
	if err := start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer world.stack.Stop()
	return m.Run()
}

func start() error {
	ctx := context.Background()
	bin, err := kubestack.Build(ctx, kubestack.Options{Log: os.Stderr})
	if err != nil {
		return err
	}
	policy := filepath.Join(world.dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return err
	}
	clusters := kubestack.Named(append([]string{contractCluster, singleCluster, killedCluster}, planesClusters()...)...)
	for i, c := range clusters {
		clusters[i].APIServerFlags = []string{"--audit-policy-file=" + policy, "--audit-log-path=" + auditLog(c.Name)}
	}
	stack, err := kubestack.Start(ctx, kubestack.Config{Clusters: clusters, Binaries: bin, Log: os.Stderr})
	if err != nil {
		return err
	}
	world.bin, world.stack = bin, stack
	// The examples are of the library's module, as a user would build them.
	build := exec.CommandContext(ctx, "go", "build", "-o", world.dir, "./examples/singlecluster", "./examples/multicluster", "./examples/adddataplane", "./examples/rotate", "./examples/adopt")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		_ = stack.Stop()
		return fmt.Errorf("building the examples: %w\n%s", err, out)
	}
	return nil
}
