package kubefake_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
)

// configMap is an object to apply.
func configMap(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": "default"},
		"data": map[string]any{"size": "large"},
	}}
}

// A fleet's clusters are used like any others.
func ExampleNewFleet() {
	fleet := kubefake.NewFleet("control", "dp-1")
	defer fleet.Close()
	ctx := context.Background()

	cluster := fleet.Cluster("dp-1")
	applied, err := cluster.Objects.Apply(ctx, configMap("settings"), kube.ApplyOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(kube.RefOf(applied), applied.Object["data"])
	_, err = fleet.Cluster("control").Objects.Get(ctx, kube.RefOf(applied))
	fmt.Println(errors.Is(err, planewright.ErrNotFound))
	// Output:
	// ConfigMap default/settings map[size:large]
	// true
}

// Any client-go client works on a cluster of the fleet.
func ExampleFleet_Config() {
	fleet := kubefake.NewFleet("dp-1")
	defer fleet.Close()
	client, err := kubernetes.NewForConfig(fleet.Config("dp-1"))
	if err != nil {
		fmt.Println(err)
		return
	}
	nodes, err := client.CoreV1().Nodes().List(context.Background(), metav1.ListOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range nodes.Items {
		fmt.Println(n.Name, n.Status.NodeInfo.Architecture)
	}
	// Output:
	// node-1 amd64
	// node-2 amd64
	// node-3 amd64
}

// What clusters are like is set per cluster, at any time.
func ExampleFleet_Configure() {
	fleet := kubefake.NewFleet("dp-1")
	defer fleet.Close()
	fleet.Configure("dp-1",
		kubefake.WithVersion("v1.34.2"),
		kubefake.WithNodes(kubefake.Nodes(2, "arm64")...),
		kubefake.WithDenied(kube.Access{Verb: "create", Resource: "namespaces"}),
		kubefake.WithPullFailure("registry.example/private/*"),
	)
	facts := fleet.Cluster("dp-1").Facts
	version, err := facts.Version(context.Background())
	fmt.Println(version.Git, err)
	denied, err := facts.Denied(context.Background(), kube.Access{Verb: "create", Resource: "namespaces"})
	fmt.Println(denied, err)
	// Output:
	// v1.34.2 <nil>
	// [create namespaces in all namespaces] <nil>
}

// A rule lets calls fail: here the second apply of ConfigMaps is throttled once.
func ExampleFleet_Fail() {
	fleet := kubefake.NewFleet("dp-1")
	defer fleet.Close()
	rule := fleet.Fail(kubefake.Call("apply").On("dp-1").Kind("ConfigMap"), kubefake.Unavailable, kubefake.After(1), kubefake.Times(1))

	objects := fleet.Cluster("dp-1").Objects
	for _, name := range []string{"a", "b", "b"} {
		_, err := objects.Apply(context.Background(), configMap(name), kube.ApplyOptions{})
		fmt.Println(name, errors.Is(err, planewright.ErrUnavailable))
	}
	fmt.Println("hits:", rule.Hits())
	// Output:
	// a false
	// b true
	// b false
	// hits: 1
}

// The call log tells what was asked and what was stored.
func ExampleFleet_Calls() {
	fleet := kubefake.NewFleet("dp-1")
	defer fleet.Close()
	objects := fleet.Cluster("dp-1").Objects
	for range 2 {
		if _, err := objects.Apply(context.Background(), configMap("settings"), kube.ApplyOptions{}); err != nil {
			fmt.Println(err)
		}
	}
	for _, call := range fleet.Calls(kubefake.Call("write")) {
		fmt.Println(call)
	}
	fmt.Println("stored:", fleet.Writes("dp-1"))
	// Output:
	// dp-1: apply ConfigMap default/settings: 201, persisted
	// dp-1: apply ConfigMap default/settings: 200
	// stored: 1
}

// A process is killed after its first write took effect; the next one goes on.
func ExampleFleet_Kill() {
	fleet := kubefake.NewFleet("dp-1")
	defer fleet.Close()
	fleet.OnCall(func(call kubefake.CallRecord) {
		if call.Persisted && call.Name == "first" {
			fleet.Kill()
		}
	})
	install := func(cluster kube.Cluster) error {
		for _, name := range []string{"first", "second"} {
			if _, err := cluster.Objects.Apply(context.Background(), configMap(name), kube.ApplyOptions{}); err != nil {
				return err
			}
		}
		return nil
	}
	fmt.Println(errors.Is(install(fleet.Cluster("dp-1")), kubefake.ErrKilled), fleet.Writes("dp-1"))
	fleet.Revive()
	fmt.Println(install(fleet.Cluster("dp-1")), fleet.Writes("dp-1"))
	// Output:
	// true 1
	// <nil> 2
}

// Objects that exist before an install begins, and what a health check finds.
func ExampleFleet_Add() {
	fleet := kubefake.NewFleet()
	defer fleet.Close()
	fleet.Add("dp-1",
		kubefake.WithObjects(&corev1.Namespace{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: "flyte", Labels: map[string]string{"team": "ml"}},
		}),
		kubefake.WithHealth(http.NotFoundHandler()),
	)
	for _, obj := range fleet.Objects("dp-1") {
		if obj.GetLabels()["team"] != "" {
			fmt.Println(obj.GetKind(), obj.GetName())
		}
	}
	// Output: Namespace flyte
}
