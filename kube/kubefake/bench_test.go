package kubefake_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// BenchmarkNewCluster is what a cluster costs before anything is done with it.
func BenchmarkNewCluster(b *testing.B) {
	fleet := kubefake.NewFleet("warm")
	defer fleet.Close()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		fleet.Add(fmt.Sprintf("dp-%d", i))
	}
}

// BenchmarkDiff is a dry run of a server-side apply through the live adapter:
// a read and an apply.
func BenchmarkDiff(b *testing.B) {
	fleet := kubefake.NewFleet("dp-1")
	defer fleet.Close()
	c := fleet.Cluster("dp-1")
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "db", "namespace": "default"},
		"stringData": map[string]any{"password": "x"},
	}}
	_, err := c.Objects.Apply(context.Background(), obj, kube.ApplyOptions{})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		_, err := c.Objects.Diff(context.Background(), obj, kube.ApplyOptions{})
		require.NoError(b, err)
	}
}

// BenchmarkDiscovery is what a new handle costs until it knows what is served.
func BenchmarkDiscovery(b *testing.B) {
	fleet := kubefake.NewFleet("dp-1")
	defer fleet.Close()
	b.ReportAllocs()
	for b.Loop() {
		_, err := fleet.Cluster("dp-1").Facts.Nodes(context.Background())
		require.NoError(b, err)
	}
}
