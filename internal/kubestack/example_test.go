package kubestack_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/planewright/planewright/internal/kubestack"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// A control plane cluster and a data plane cluster whose machines are of another kind.
func ExampleStart() {
	ctx := context.Background()
	stack, err := kubestack.Start(ctx, kubestack.Config{
		Clusters: []kubestack.Cluster{
			{Name: "control"},
			{Name: "data-1", Nodes: 5, NodeArch: "arm64"},
		},
		Log: os.Stderr,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer stack.Stop()

	config, err := stack.RESTConfig("data-1")
	if err != nil {
		log.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(nodes.Items), "nodes; try: kubectl --kubeconfig", stack.Kubeconfig("data-1"), "get nodes")
}
