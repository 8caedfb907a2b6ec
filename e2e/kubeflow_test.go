package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/internal/kubestack"
	"github.com/planewright/planewright/kubeflow"
	"github.com/planewright/planewright/kubeflow/kubeflowtest"
)

// kubeflowClusters are the platform's cluster and the one that Kubeflow comes into.
func kubeflowClusters() []string { return []string{kubeflowtest.Global, kubeflowtest.Workload} }

// platform is two API servers with the platform's controllers simulated.
type platform struct {
	*kubeflowtest.World
	stack *kubestack.Stack
}

// startPlatform starts clusters of the test's own: no other test knows what a platform is.
func startPlatform(t *testing.T, options ...kubeflowtest.Option) platform {
	t.Helper()
	clusters := kubestack.Named(kubeflowClusters()...)
	for i, c := range clusters {
		clusters[i].APIServerFlags = []string{"--audit-policy-file=" + filepath.Join(world.dir, "audit-policy.yaml"), "--audit-log-path=" + auditLog(c.Name)}
	}
	stack, err := kubestack.Start(t.Context(), kubestack.Config{Clusters: clusters, Binaries: world.bin, Log: os.Stderr})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, stack.Stop()) })
	global, err := stack.RESTConfig(kubeflowtest.Global)
	require.NoError(t, err)
	workload, err := stack.RESTConfig(kubeflowtest.Workload)
	require.NoError(t, err)
	simulated, err := kubeflowtest.NewWorldOn(t.Context(), global, workload, options...)
	require.NoError(t, err)
	t.Cleanup(simulated.Close)
	return platform{simulated, stack}
}

// run runs an example on the platform and returns what it printed.
func (p platform) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	args = append([]string{"-kubeconfig", p.stack.KubeconfigAll(), "-contexts", strings.Join(kubeflowClusters(), ",")}, args...)
	cmd := exec.CommandContext(ctx, filepath.Join(world.dir, name), args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), "%s\n%s", stdout.String(), stderr.String())
	return stdout.String()
}

// names lists the objects of a kind in the workload cluster.
func (p platform) names(t *testing.T, group, version, resource string) []string {
	t.Helper()
	config, err := p.stack.RESTConfig(kubeflowtest.Workload)
	require.NoError(t, err)
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	list, err := client.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: resource}).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	names := []string{}
	for _, o := range list.Items {
		names = append(names, strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/"))
	}
	return names
}

// buildExamples builds examples as a user would.
func buildExamples(t *testing.T, names ...string) {
	t.Helper()
	args := []string{"build", "-o", world.dir}
	for _, name := range names {
		args = append(args, "./examples/"+name)
	}
	build := exec.CommandContext(t.Context(), "go", args...)
	build.Dir = ".."
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
}

// The same controllers that are simulated in memory run beside real API servers.
func TestKubeflowIsInstalledVerifiedFoundUnchangedAndTakenAway(t *testing.T) {
	buildExamples(t, "kubeflow", "tenants", "airgap")
	p := startPlatform(t)

	out := p.run(t, "kubeflow")
	for _, line := range []string{
		"operator kfbase-operator.v26.3.0", "operator kfp-operator.v26.3.1",
		"operator model-registry-operator.v0.3.0", "operator kubeflow-trainer-operator.v2.1.0",
		"verify: working",
	} {
		assert.Contains(t, out, line)
	}
	assert.True(t, strings.HasSuffix(out, "second install: no changes\n"), out)
	assert.ElementsMatch(t, []string{
		"aml-operator/aml-operator.v2.3.0", "kfbase-operator/kfbase-operator.v26.3.0", "kfp-operator/kfp-operator.v26.3.1",
		"kubeflow-trainer-operator/kubeflow-trainer-operator.v2.1.0", "model-registry-operator/model-registry-operator.v0.3.0",
	}, p.names(t, "operators.coreos.com", "v1alpha1", "clusterserviceversions"))
	assert.Equal(t, []string{"team-a/models"}, p.names(t, "operator.alauda.io", "v1", "modelregistries"))

	since := map[string]int{}
	for _, cluster := range kubeflowClusters() {
		_, since[cluster] = calls(t, cluster, 0)
	}
	p.run(t, "kubeflow")
	for _, cluster := range kubeflowClusters() {
		made, _ := calls(t, cluster, since[cluster])
		require.NotEmpty(t, made)
		var writes []string
		for _, c := range made {
			if c.persists() {
				writes = append(writes, c.String())
			}
		}
		assert.Empty(t, writes, "a second run persists nothing")
		t.Logf("a second run (plan, install, verify, install) makes %d calls on cluster %s", len(made), cluster)
	}

	definitions := p.names(t, "apiextensions.k8s.io", "v1", "customresourcedefinitions")
	var result struct{ Uninstall planewright.Report }
	require.NoError(t, json.Unmarshal([]byte(p.run(t, "kubeflow", "-uninstall", "-o", "json")), &result))
	var kept []string
	for _, k := range result.Uninstall.Kept {
		kept = append(kept, k.Object.String())
	}
	assert.Contains(t, kept, "Profile team-a in cluster workload")
	assert.Contains(t, kept, "CustomResourceDefinition profiles.kubeflow.org in cluster workload")
	assert.Equal(t, []string{"team-a"}, p.names(t, "kubeflow.org", "v1", "profiles"))
	assert.Equal(t, definitions, p.names(t, "apiextensions.k8s.io", "v1", "customresourcedefinitions"))
	assert.Empty(t, p.names(t, "operators.coreos.com", "v1alpha1", "subscriptions"))
	assert.Equal(t, []string{"aml-operator/aml-operator.v2.3.0"}, p.names(t, "operators.coreos.com", "v1alpha1", "clusterserviceversions"))
	assert.Empty(t, p.names(t, "operator.alauda.io", "v1", "kubeflowbases"))

	t.Run("and tenants come into it again", func(t *testing.T) {
		p.Add(kubeflowtest.Workload, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "legacy"}}})
		out := p.run(t, "tenants", "-from-scratch")
		assert.Contains(t, out, "verify: working")
		assert.True(t, strings.HasSuffix(out, "second install: no changes\n"), out)
	})
	t.Run("and what is not wanted any more goes, what has been uploaded comes", func(t *testing.T) {
		out := p.run(t, "airgap")
		assert.Contains(t, out, "kubeflow/ml/profiles/vision/bindings/user-bo-acme-example-clusterrole-edit/pruned")
		assert.True(t, strings.HasSuffix(out, "second install: no changes\n"), out)
		p.run(t, "airgap", "-uninstall")
	})
	t.Run("and an operator that fails says why", func(t *testing.T) {
		p.Break("kfp-operator", kubeflowtest.ResolutionFailed)
		defer p.Mend("kfp-operator")
		stack := kubeflow.NewKubeflowStack("ml", p.Release(), kubeflowtest.Global, kubeflowtest.Workload).
			WithHost(kubeflowtest.Host).WithPipelines(kubeflow.NewPipelines())
		_, err := stack.Install(t.Context(), p.Env(), planewright.WithStepTimeout(8*time.Second))
		require.ErrorIs(t, err, planewright.ErrTimeout)
		require.ErrorContains(t, err, "constraints not satisfiable")
	})
}
