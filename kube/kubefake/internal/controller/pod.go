package controller

import (
	"fmt"
	"hash/fnv"

	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pod takes a pod from its creation to its end: a node, its images, readiness.
func (m *Manager) pod(tx apiserver.Tx, k key) {
	p, ok := get[*corev1.Pod](tx, k)
	if !ok {
		m.retryPods(tx) // there is room now
		for _, c := range list[*corev1.PersistentVolumeClaim](tx, "", "PersistentVolumeClaim", k.namespace) {
			if c.DeletionTimestamp != nil {
				m.enqueue(key{"", "PersistentVolumeClaim", c.Namespace, c.Name})
			}
		}
		return
	}
	switch {
	case p.DeletionTimestamp != nil:
		if p.Spec.NodeName != "" {
			none := int64(0)
			tx.Delete(p, metav1.DeleteOptions{GracePeriodSeconds: &none})
		}
	case p.Spec.NodeName == "":
		m.schedule(tx, p)
	case p.Status.Phase == corev1.PodPending:
		m.startPod(tx, p)
	}
}

// startPod pulls the images of a pod that has a node, and runs it after a while.
func (m *Manager) startPod(tx apiserver.Tx, p *corev1.Pod) {
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Waiting != nil && c.State.Waiting.Reason == "ImagePullBackOff" && m.failsToPull(c.Image) {
			return
		}
	}
	for _, c := range append(append([]corev1.Container{}, p.Spec.InitContainers...), p.Spec.Containers...) {
		if m.failsToPull(c.Image) {
			m.backOff(tx, p)
			return
		}
	}
	starting := key{"", "Pod/starting", p.Namespace, string(p.UID)}
	if m.pending[starting] != nil {
		return
	}
	m.pending[starting] = m.after(m.config.Ready, func(tx apiserver.Tx) {
		delete(m.pending, starting)
		p, ok := get[*corev1.Pod](tx, key{"", "Pod", p.Namespace, p.Name})
		if ok && p.DeletionTimestamp == nil && p.Status.Phase == corev1.PodPending {
			tx.Replace(started(p))
			m.work(tx)
		}
	})
}

func (m *Manager) failsToPull(image string) bool {
	return m.config.PullFails != nil && m.config.PullFails(image)
}

// backOff leaves a pod waiting for images that cannot be pulled.
func (m *Manager) backOff(tx apiserver.Tx, p *corev1.Pod) {
	next := p.DeepCopy()
	next.Status.HostIP = "10.0.0.1"
	initFails := false
	next.Status.InitContainerStatuses = nil
	for _, c := range p.Spec.InitContainers {
		fails := m.failsToPull(c.Image)
		initFails = initFails || fails
		next.Status.InitContainerStatuses = append(next.Status.InitContainerStatuses, waiting(c, fails, "PodInitializing"))
	}
	next.Status.ContainerStatuses = nil
	for _, c := range p.Spec.Containers {
		next.Status.ContainerStatuses = append(next.Status.ContainerStatuses, waiting(c, !initFails && m.failsToPull(c.Image), "ContainerCreating"))
	}
	setPodCondition(&next.Status, corev1.PodInitialized, !initFails, "ContainersNotInitialized", "")
	setPodCondition(&next.Status, corev1.ContainersReady, false, "ContainersNotReady", "containers with unready status")
	setPodCondition(&next.Status, corev1.PodReady, false, "ContainersNotReady", "containers with unready status")
	tx.Replace(next)
	for _, c := range append(append([]corev1.Container{}, p.Spec.InitContainers...), p.Spec.Containers...) {
		if m.failsToPull(c.Image) {
			m.warn(tx, p, "kubelet", "Failed", fmt.Sprintf("Failed to pull image %q: rpc error: code = NotFound desc = failed to pull and unpack image %q: not found", c.Image, c.Image))
			m.warn(tx, p, "kubelet", "Failed", "Error: ImagePullBackOff")
			m.event(tx, p, corev1.EventTypeNormal, "kubelet", "BackOff", fmt.Sprintf("Back-off pulling image %q", c.Image))
			return
		}
	}
}

func waiting(c corev1.Container, fails bool, otherwise string) corev1.ContainerStatus {
	no := false
	w := &corev1.ContainerStateWaiting{Reason: otherwise}
	if fails {
		w = &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: fmt.Sprintf("Back-off pulling image %q: ErrImagePull: not found", c.Image)}
	}
	return corev1.ContainerStatus{Name: c.Name, Image: c.Image, Started: &no, State: corev1.ContainerState{Waiting: w}}
}

// started is a pod whose containers run, or have run to their end if that is
// what they are for.
func started(p *corev1.Pod) *corev1.Pod {
	next := p.DeepCopy()
	now := apiserver.Now()
	s := &next.Status
	s.StartTime = &now
	s.HostIP, s.HostIPs = "10.0.0.1", []corev1.HostIP{{IP: "10.0.0.1"}}
	s.PodIP = podIP(p)
	s.PodIPs = []corev1.PodIP{{IP: s.PodIP}}
	finished := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now}}
	s.InitContainerStatuses, s.ContainerStatuses = nil, nil
	for _, c := range p.Spec.InitContainers {
		s.InitContainerStatuses = append(s.InitContainerStatuses, containerStatus(c, finished))
	}
	s.Phase = corev1.PodRunning
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
	if p.Spec.RestartPolicy != corev1.RestartPolicyAlways {
		s.Phase, running = corev1.PodSucceeded, finished
	}
	for _, c := range p.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, containerStatus(c, running))
	}
	ready := s.Phase == corev1.PodRunning
	for _, c := range []corev1.PodConditionType{corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady} {
		setPodCondition(s, c, ready || c == corev1.PodInitialized, "PodCompleted", "")
	}
	return next
}

func containerStatus(c corev1.Container, state corev1.ContainerState) corev1.ContainerStatus {
	up := state.Running != nil
	return corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, ImageID: c.Image, State: state, Started: &up, Ready: up,
		ContainerID: "containerd://" + c.Name,
	}
}

// podIP is an address that a pod keeps for its life.
func podIP(p *corev1.Pod) string {
	h := fnv.New32a()
	h.Write([]byte(p.UID))
	n := h.Sum32()
	return fmt.Sprintf("10.244.%d.%d", byte(n>>8), 1+byte(n)%254)
}

func setPodCondition(s *corev1.PodStatus, kind corev1.PodConditionType, is bool, reason, message string) {
	c := corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: apiserver.Now()}
	if !is {
		c.Status, c.Reason, c.Message = corev1.ConditionFalse, reason, message
	}
	for i := range s.Conditions {
		if s.Conditions[i].Type == kind {
			if s.Conditions[i].Status == c.Status {
				c.LastTransitionTime = s.Conditions[i].LastTransitionTime
			}
			s.Conditions[i] = c
			return
		}
	}
	s.Conditions = append(s.Conditions, c)
}

// retryPods looks again at all pods that have no node yet.
func (m *Manager) retryPods(tx apiserver.Tx) {
	for _, p := range list[*corev1.Pod](tx, "", "Pod", "") {
		if p.Spec.NodeName == "" && p.DeletionTimestamp == nil {
			m.enqueue(key{"", "Pod", p.Namespace, p.Name})
		}
	}
}

// node lets pods and daemons make use of a node that has changed.
func (m *Manager) node(tx apiserver.Tx, _ key) {
	m.retryPods(tx)
	for _, obj := range tx.List("apps", "DaemonSet", "") {
		m.enqueue(key{"apps", "DaemonSet", obj.GetNamespace(), obj.GetName()})
	}
}
