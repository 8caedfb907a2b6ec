package kubefake

import (
	"fmt"

	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Nodes makes n ready nodes of an architecture, named node-1, node-2, …
func Nodes(n int, architecture string) []kube.Node {
	nodes := make([]kube.Node, n)
	for i := range nodes {
		nodes[i] = kube.Node{Name: fmt.Sprintf("node-%d", i+1), Architecture: architecture, OS: "linux", Ready: true, Schedulable: true}
	}
	return nodes
}

// WithNodes replaces the cluster's nodes. Empty architectures and systems are
// amd64 and linux. Each node has 8 CPUs, 32 GiB of memory and room for 110 pods.
func WithNodes(nodes ...kube.Node) ClusterOption {
	return func(c *cluster) {
		c.server.Do(func(tx apiserver.Tx) {
			wanted := map[string]*corev1.Node{}
			for _, n := range nodes {
				wanted[n.Name] = newNode(n)
			}
			for _, had := range tx.List("", "Node", "") {
				if wanted[had.GetName()] == nil {
					tx.Remove(had)
				}
			}
			for _, n := range nodes {
				node := wanted[n.Name]
				if had := tx.Get("", "Node", "", n.Name); had != nil {
					node.UID, node.CreationTimestamp = had.GetUID(), had.GetCreationTimestamp()
					tx.Replace(node)
					continue
				}
				status := node.Status
				made, err := tx.Create(node, "")
				if err != nil {
					panic(fmt.Sprintf("kubefake: cluster %s: node %s: %v", c.name, n.Name, err))
				}
				up := made.(*corev1.Node).DeepCopy()
				up.Status = status
				tx.Replace(up)
			}
		})
	}
}

func newNode(n kube.Node) *corev1.Node {
	arch, system := n.Architecture, n.OS
	if arch == "" {
		arch = "amd64"
	}
	if system == "" {
		system = "linux"
	}
	labels := map[string]string{
		corev1.LabelHostname: n.Name, corev1.LabelArchStable: arch, corev1.LabelOSStable: system,
		"beta.kubernetes.io/arch": arch, "beta.kubernetes.io/os": system,
	}
	for k, v := range n.Labels {
		labels[k] = v
	}
	capacity := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("32Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}
	node := &corev1.Node{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: labels},
		Spec:       corev1.NodeSpec{Unschedulable: !n.Schedulable},
		Status: corev1.NodeStatus{
			Capacity: capacity, Allocatable: capacity,
			NodeInfo: corev1.NodeSystemInfo{Architecture: arch, OperatingSystem: system, KubeletVersion: DefaultVersion, ContainerRuntimeVersion: "containerd://2.1.0", OSImage: "kubefake"},
			Conditions: []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status",
				LastHeartbeatTime: apiserver.Now(), LastTransitionTime: apiserver.Now(),
			}},
		},
	}
	if !n.Ready {
		node.Status.Conditions[0].Status = corev1.ConditionFalse
		node.Status.Conditions[0].Reason, node.Status.Conditions[0].Message = "KubeletNotReady", "the node is down"
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})
	}
	if !n.Schedulable {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	return node
}

// WithStorageClasses replaces the cluster's storage classes.
func WithStorageClasses(classes ...kube.StorageClass) ClusterOption {
	return func(c *cluster) {
		c.server.Do(func(tx apiserver.Tx) {
			for _, had := range tx.List("storage.k8s.io", "StorageClass", "") {
				tx.Remove(had)
			}
			for _, class := range classes {
				sc := &storagev1.StorageClass{
					TypeMeta:    metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass"},
					ObjectMeta:  metav1.ObjectMeta{Name: class.Name},
					Provisioner: class.Provisioner,
				}
				if class.Default {
					sc.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
				}
				if _, err := tx.Create(sc, ""); err != nil {
					panic(fmt.Sprintf("kubefake: cluster %s: storage class %s: %v", c.name, class.Name, err))
				}
			}
		})
	}
}
