package controller

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const revisionAnnotation = "deployment.kubernetes.io/revision"

// deployment rolls a Deployment out: a ReplicaSet for its template, and pods
// moved to it within the limits of its strategy.
func (m *Manager) deployment(tx apiserver.Tx, k key) {
	d, ok := get[*appsv1.Deployment](tx, k)
	if !ok || d.DeletionTimestamp != nil {
		return
	}
	sets := controlled[*appsv1.ReplicaSet](tx, d, "apps", "ReplicaSet")
	current := m.currentSet(tx, d, sets)
	if current == nil {
		return
	}
	sets = controlled[*appsv1.ReplicaSet](tx, d, "apps", "ReplicaSet")
	old := slices.DeleteFunc(slices.Clone(sets), func(rs *appsv1.ReplicaSet) bool { return rs.UID == current.UID })
	if !d.Spec.Paused {
		if d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
			recreate(tx, d, current, old)
		} else {
			roll(tx, d, current, old)
		}
		prune(tx, d, old)
	}
	m.deploymentStatus(tx, d, controlled[*appsv1.ReplicaSet](tx, d, "apps", "ReplicaSet"))
}

// currentSet finds the ReplicaSet of the Deployment's template, or makes it.
func (m *Manager) currentSet(tx apiserver.Tx, d *appsv1.Deployment, sets []*appsv1.ReplicaSet) *appsv1.ReplicaSet {
	highest := 0
	for _, rs := range sets {
		n, _ := strconv.Atoi(rs.Annotations[revisionAnnotation])
		highest = max(highest, n)
	}
	for _, rs := range sets {
		if !sameTemplate(&rs.Spec.Template, &d.Spec.Template) {
			continue
		}
		if n, _ := strconv.Atoi(rs.Annotations[revisionAnnotation]); n < highest {
			next := rs.DeepCopy()
			next.Annotations[revisionAnnotation] = strconv.Itoa(highest + 1)
			tx.Replace(next)
			return next
		}
		return rs
	}
	sum := hash(&d.Spec.Template)
	template := d.Spec.Template.DeepCopy()
	template.Labels = withLabel(template.Labels, appsv1.DefaultDeploymentUniqueLabelKey, sum)
	selector := d.Spec.Selector.DeepCopy()
	selector.MatchLabels = withLabel(selector.MatchLabels, appsv1.DefaultDeploymentUniqueLabelKey, sum)
	zero := int32(0)
	rs, err := tx.Create(&appsv1.ReplicaSet{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: d.Namespace, Name: d.Name + "-" + sum, Labels: template.Labels, OwnerReferences: controlledBy(d),
			Annotations: map[string]string{
				revisionAnnotation:                          strconv.Itoa(highest + 1),
				"deployment.kubernetes.io/desired-replicas": strconv.Itoa(int(*d.Spec.Replicas)),
			},
		},
		Spec: appsv1.ReplicaSetSpec{Replicas: &zero, Selector: selector, Template: *template, MinReadySeconds: d.Spec.MinReadySeconds},
	}, "")
	if err != nil {
		m.warn(tx, d, "deployment-controller", "ReplicaSetCreateError", fmt.Sprintf("Failed to create new replica set %q: %v", d.Name+"-"+sum, err))
		return nil
	}
	return rs.(*appsv1.ReplicaSet)
}

func sameTemplate(a, b *corev1.PodTemplateSpec) bool {
	x, y := a.DeepCopy(), b.DeepCopy()
	delete(x.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	delete(y.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	return apiequality.Semantic.DeepEqual(x, y)
}

// scaleSet sets how many pods a ReplicaSet keeps.
func scaleSet(tx apiserver.Tx, rs *appsv1.ReplicaSet, replicas int32) {
	if *rs.Spec.Replicas == replicas {
		return
	}
	next := *rs
	next.Spec.Replicas = &replicas
	next.Generation++
	tx.Replace(&next)
}

// recreate stops all old pods before the first new one.
func recreate(tx apiserver.Tx, d *appsv1.Deployment, current *appsv1.ReplicaSet, old []*appsv1.ReplicaSet) {
	left := 0
	for _, rs := range old {
		scaleSet(tx, rs, 0)
		left += len(controlled[*corev1.Pod](tx, rs, "", "Pod"))
	}
	if left == 0 {
		scaleSet(tx, current, *d.Spec.Replicas)
	}
}

// roll goes one step from the old pods to the new ones, as far as the strategy
// allows it now; the change that it makes brings about the next step.
func roll(tx apiserver.Tx, d *appsv1.Deployment, current *appsv1.ReplicaSet, old []*appsv1.ReplicaSet) {
	want := *d.Spec.Replicas
	surge, unavailable := rolling(d)
	total, available := *current.Spec.Replicas, current.Status.AvailableReplicas
	for _, rs := range old {
		total += *rs.Spec.Replicas
		available += rs.Status.AvailableReplicas
	}
	if *current.Spec.Replicas > want {
		scaleSet(tx, current, want)
		return
	}
	if more := min(want+surge-total, want-*current.Spec.Replicas); more > 0 {
		scaleSet(tx, current, *current.Spec.Replicas+more)
		return
	}
	least := want - unavailable
	spare := total - least - (*current.Spec.Replicas - current.Status.AvailableReplicas)
	if spare <= 0 {
		return
	}
	if dropped := shrink(tx, old, spare, func(rs *appsv1.ReplicaSet) int32 { return *rs.Spec.Replicas - rs.Status.AvailableReplicas }); dropped > 0 {
		return
	}
	shrink(tx, old, available-least, func(rs *appsv1.ReplicaSet) int32 { return *rs.Spec.Replicas })
}

// shrink takes pods from ReplicaSets, so many of each, and at most the limit altogether.
func shrink(tx apiserver.Tx, sets []*appsv1.ReplicaSet, limit int32, of func(*appsv1.ReplicaSet) int32) (dropped int32) {
	for _, rs := range sets {
		if n := min(of(rs), limit-dropped); n > 0 {
			scaleSet(tx, rs, *rs.Spec.Replicas-n)
			dropped += n
		}
	}
	return dropped
}

// rolling is how many pods there may be too many and too few.
func rolling(d *appsv1.Deployment) (surge, unavailable int32) {
	r := d.Spec.Strategy.RollingUpdate
	if r == nil {
		return 1, 0
	}
	want := int(*d.Spec.Replicas)
	up, _ := intstr.GetScaledValueFromIntOrPercent(intstr.ValueOrDefault(r.MaxSurge, intstr.FromInt32(0)), want, true)
	down, _ := intstr.GetScaledValueFromIntOrPercent(intstr.ValueOrDefault(r.MaxUnavailable, intstr.FromInt32(0)), want, false)
	if up == 0 && down == 0 {
		down = 1
	}
	return int32(up), int32(min(down, want))
}

// prune deletes the ReplicaSets that are past the history's limit.
func prune(tx apiserver.Tx, d *appsv1.Deployment, old []*appsv1.ReplicaSet) {
	limit := 10
	if d.Spec.RevisionHistoryLimit != nil {
		limit = int(*d.Spec.RevisionHistoryLimit)
	}
	idle := slices.DeleteFunc(slices.Clone(old), func(rs *appsv1.ReplicaSet) bool { return *rs.Spec.Replicas > 0 || rs.Status.Replicas > 0 })
	slices.SortFunc(idle, func(a, b *appsv1.ReplicaSet) int {
		x, _ := strconv.Atoi(a.Annotations[revisionAnnotation])
		y, _ := strconv.Atoi(b.Annotations[revisionAnnotation])
		return x - y
	})
	for _, rs := range idle[:max(0, len(idle)-limit)] {
		tx.Delete(rs, metav1.DeleteOptions{})
	}
}

func (m *Manager) deploymentStatus(tx apiserver.Tx, d *appsv1.Deployment, sets []*appsv1.ReplicaSet) {
	next := d.DeepCopy()
	none := int32(0)
	status := appsv1.DeploymentStatus{TerminatingReplicas: &none, ObservedGeneration: d.Generation, Conditions: next.Status.Conditions, CollisionCount: next.Status.CollisionCount}
	failure := ""
	revision := "1"
	for _, rs := range sets {
		status.Replicas += rs.Status.Replicas
		status.ReadyReplicas += rs.Status.ReadyReplicas
		status.AvailableReplicas += rs.Status.AvailableReplicas
		if sameTemplate(&rs.Spec.Template, &d.Spec.Template) {
			status.UpdatedReplicas = rs.Status.Replicas
			revision = rs.Annotations[revisionAnnotation]
		}
		for _, c := range rs.Status.Conditions {
			if c.Type == appsv1.ReplicaSetReplicaFailure {
				failure = c.Message
			}
		}
	}
	want := *d.Spec.Replicas
	status.UnavailableReplicas = max(0, want-status.AvailableReplicas)
	_, unavailable := rolling(d)
	if status.AvailableReplicas >= want-unavailable {
		setDeploymentCondition(&status, appsv1.DeploymentAvailable, corev1.ConditionTrue, "MinimumReplicasAvailable", "Deployment has minimum availability.")
	} else {
		setDeploymentCondition(&status, appsv1.DeploymentAvailable, corev1.ConditionFalse, "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
	}
	if failure != "" {
		setDeploymentCondition(&status, appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "FailedCreate", failure)
	} else {
		status.Conditions = slices.DeleteFunc(status.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Type == appsv1.DeploymentReplicaFailure })
	}
	m.progress(d, &status, d.Name+"-"+hash(&d.Spec.Template))
	if next.Annotations == nil {
		next.Annotations = map[string]string{}
	}
	next.Annotations[revisionAnnotation] = revision
	next.Status = status
	tx.Replace(next)
}

// progress tells how far a roll-out has come, and when it takes too long.
func (m *Manager) progress(d *appsv1.Deployment, status *appsv1.DeploymentStatus, set string) {
	want := *d.Spec.Replicas
	done := status.UpdatedReplicas == want && status.Replicas == want && status.AvailableReplicas == want
	stalled := key{"apps", "Deployment", d.Namespace, d.Name}
	if done {
		setDeploymentCondition(status, appsv1.DeploymentProgressing, corev1.ConditionTrue, "NewReplicaSetAvailable", fmt.Sprintf("ReplicaSet %q has successfully progressed.", set))
		if t := m.pending[stalled]; t != nil {
			t.Stop()
			delete(m.pending, stalled)
		}
		return
	}
	deadline := 600 * time.Second
	if d.Spec.ProgressDeadlineSeconds != nil {
		deadline = time.Duration(*d.Spec.ProgressDeadlineSeconds) * time.Second
	}
	was := d.Status
	moved := was.UpdatedReplicas != status.UpdatedReplicas || was.AvailableReplicas != status.AvailableReplicas || was.Replicas != status.Replicas || was.ObservedGeneration != d.Generation
	i := slices.IndexFunc(status.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Type == appsv1.DeploymentProgressing })
	if i < 0 || moved || status.Conditions[i].Reason == "NewReplicaSetAvailable" {
		setDeploymentCondition(status, appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", fmt.Sprintf("ReplicaSet %q is progressing.", set))
		if j := slices.IndexFunc(status.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Type == appsv1.DeploymentProgressing }); j >= 0 {
			status.Conditions[j].LastUpdateTime = apiserver.Now()
		}
		m.later(stalled, deadline+time.Second)
		return
	}
	if elapsed := time.Since(status.Conditions[i].LastUpdateTime.Time); elapsed >= deadline {
		setDeploymentCondition(status, appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded", fmt.Sprintf("ReplicaSet %q has timed out progressing.", set))
	} else {
		m.later(stalled, deadline-elapsed+time.Second)
	}
}

func setDeploymentCondition(s *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string) {
	now := apiserver.Now()
	for i := range s.Conditions {
		c := &s.Conditions[i]
		if c.Type != kind {
			continue
		}
		if c.Status != status {
			c.LastTransitionTime = now
		}
		if c.Status != status || c.Reason != reason || c.Message != message {
			c.LastUpdateTime = now
		}
		c.Status, c.Reason, c.Message = status, reason, message
		return
	}
	s.Conditions = append(s.Conditions, appsv1.DeploymentCondition{Type: kind, Status: status, Reason: reason, Message: message, LastUpdateTime: now, LastTransitionTime: now})
}
