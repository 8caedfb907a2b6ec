package live_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kube/live"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func ExampleFromKubeconfig() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "config")
	if err := os.WriteFile(file, []byte(kubeconfig), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	cluster, err := live.FromKubeconfig(file, "ml-prod")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cluster.Name)

	_, err = live.FromKubeconfig(file, "ml-staging")
	fmt.Println(errors.Is(err, planewright.ErrNotFound))
	// Output:
	// ml-prod
	// true
}

// A fake cluster is reached like a real one: by a rest.Config.
func ExampleFromConfig() {
	fleet := kubefake.NewFleet("ml-prod")
	defer fleet.Close()
	cluster, err := live.FromConfig("ml-prod", fleet.Config("ml-prod"))
	if err != nil {
		fmt.Println(err)
		return
	}
	namespace := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "flyte"},
	}}
	diff, err := cluster.Objects.Diff(context.Background(), namespace, kube.ApplyOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(diff.Action)
	if _, err := cluster.Objects.Apply(context.Background(), namespace, kube.ApplyOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	diff, err = cluster.Objects.Diff(context.Background(), namespace, kube.ApplyOptions{})
	fmt.Println(diff.Action, err)
	// Output:
	// create
	// none <nil>
}

// A release is planned, installed, and found unchanged.
func ExampleFromConfig_release() {
	ctx := context.Background()
	fleet := kubefake.NewFleet("ml-prod")
	defer fleet.Close()
	cluster := fleet.Cluster("ml-prod")
	if _, err := cluster.Objects.Apply(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "flyte"},
	}}, kube.ApplyOptions{}); err != nil {
		fmt.Println(err)
		return
	}

	release := kube.Release{Name: "demo", Namespace: "flyte", Owner: "flyte/ml", Chart: chartOf("1.0.0", demoFiles()), Values: kube.Values{"replicas": 2}}
	plan, err := cluster.Releases.Plan(ctx, release)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Action, len(plan.Objects), "objects")
	state, err := cluster.Releases.Apply(ctx, release)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(state.Status, "revision", state.Revision, "of", state.Owner)
	plan, err = cluster.Releases.Plan(ctx, release)
	fmt.Println(plan.Action, err)
	// Output:
	// create 7 objects
	// deployed revision 1 of flyte/ml
	// none <nil>
}

func ExampleChartRepository() {
	source := live.ChartRepository("https://flyteorg.github.io/flyte",
		live.WithChartCredentials("reader", planewright.SecretFromEnv("CHARTS_PASSWORD")))
	// A chart of a repository is asked for by version: the newest one may be anything tomorrow.
	_, err := source.Chart(context.Background(), kube.ChartRef{Name: "flyte-binary"})
	fmt.Println(errors.Is(err, planewright.ErrInvalid))
	// Output: true
}

func ExampleChartFolder() {
	_, err := live.ChartFolder("/no/such/folder").Chart(context.Background(), kube.ChartRef{Name: "flyte-binary", Version: "v1.16.8"})
	fmt.Println(errors.Is(err, planewright.ErrNotFound))
	// Output: true
}
