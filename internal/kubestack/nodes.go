package kubestack

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// createNodes creates the cluster's fake nodes. kwok makes them ready.
func (c *cluster) createNodes(ctx context.Context) error {
	version, err := KubernetesVersion()
	if err != nil {
		return err
	}
	room := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("1k"),
		corev1.ResourceMemory:           resource.MustParse("1Ti"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
		corev1.ResourcePods:             resource.MustParse("1M"),
	}
	for i := range c.Nodes {
		name := fmt.Sprintf("node-%d", i)
		node := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{
				Name: name,
				Labels: map[string]string{
					corev1.LabelHostname:   name,
					corev1.LabelOSStable:   "linux",
					corev1.LabelArchStable: c.NodeArch,
				},
			},
			// What kwok finds here it keeps; the rest it makes up.
			Status: corev1.NodeStatus{
				Capacity:    room,
				Allocatable: room,
				NodeInfo: corev1.NodeSystemInfo{
					Architecture:    c.NodeArch,
					OperatingSystem: "linux",
					KubeletVersion:  version,
				},
			},
		}
		if _, err := c.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create node %s of cluster %s: %w", name, c.Name, err)
		}
	}
	return nil
}

// nodesReady returns nil when every node is ready and takes pods.
func (c *cluster) nodesReady(ctx context.Context) error {
	nodes, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list the nodes of cluster %s: %w", c.Name, err)
	}
	for _, node := range nodes.Items {
		if !ready(node) {
			return fmt.Errorf("node %s of cluster %s is not ready", node.Name, c.Name)
		}
		// A new node is tainted until the controller manager has seen it ready.
		if len(node.Spec.Taints) > 0 {
			return fmt.Errorf("node %s of cluster %s has the taint %s", node.Name, c.Name, node.Spec.Taints[0].Key)
		}
	}
	return nil
}

// ready says whether a node reports to be ready.
func ready(node corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// defaultServiceAccount returns nil when pods can be created in the default namespace.
func (c *cluster) defaultServiceAccount(ctx context.Context) error {
	_, err := c.client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("look for the default ServiceAccount of cluster %s: %w", c.Name, err)
	}
	return nil
}
