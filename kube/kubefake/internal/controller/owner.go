package controller

import (
	"encoding/json"
	"hash/fnv"
	"strconv"

	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
)

// controlledBy makes the reference of an object that the owner controls.
func controlledBy(owner apiserver.Object) []metav1.OwnerReference {
	return []metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.GetObjectKind().GroupVersionKind())}
}

// controlled lists the objects of a kind that the owner controls.
func controlled[T apiserver.Object](tx apiserver.Tx, owner apiserver.Object, group, kind string) []T {
	var mine []T
	for _, obj := range list[T](tx, group, kind, owner.GetNamespace()) {
		if metav1.IsControlledBy(obj, owner) {
			mine = append(mine, obj)
		}
	}
	return mine
}

// alive are the pods that are not on their way out.
func alive(pods []*corev1.Pod) []*corev1.Pod {
	var list []*corev1.Pod
	for _, p := range pods {
		if p.DeletionTimestamp == nil && p.Status.Phase != corev1.PodFailed && p.Status.Phase != corev1.PodSucceeded {
			list = append(list, p)
		}
	}
	return list
}

func isReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func ready(pods []*corev1.Pod) (n int32) {
	for _, p := range pods {
		if isReady(p) {
			n++
		}
	}
	return n
}

// hash stands for a pod template in names and labels.
func hash(template *corev1.PodTemplateSpec) string {
	b, err := json.Marshal(template)
	if err != nil {
		return "0"
	}
	h := fnv.New32a()
	h.Write(b)
	return rand.SafeEncodeString(strconv.FormatUint(uint64(h.Sum32()), 10))
}

// newPod makes a pod of a template.
func newPod(owner apiserver.Object, template *corev1.PodTemplateSpec) *corev1.Pod {
	t := template.DeepCopy()
	return &corev1.Pod{
		TypeMeta: core("Pod"),
		ObjectMeta: metav1.ObjectMeta{
			Namespace: owner.GetNamespace(), GenerateName: owner.GetName() + "-",
			Labels: t.Labels, Annotations: t.Annotations, OwnerReferences: controlledBy(owner),
		},
		Spec: t.Spec,
	}
}

// withLabel returns the labels and one more.
func withLabel(labels map[string]string, name, value string) map[string]string {
	all := make(map[string]string, len(labels)+1)
	for k, v := range labels {
		all[k] = v
	}
	all[name] = value
	return all
}

// stop deletes a pod.
func stop(tx apiserver.Tx, p *corev1.Pod) { tx.Delete(p, metav1.DeleteOptions{}) }
