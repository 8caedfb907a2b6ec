package controller

import (
	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// job runs pods until enough of them have come to their end.
func (m *Manager) job(tx apiserver.Tx, k key) {
	j, ok := get[*batchv1.Job](tx, k)
	if !ok || j.DeletionTimestamp != nil || j.Status.CompletionTime != nil {
		return
	}
	if j.Spec.Suspend != nil && *j.Spec.Suspend {
		return
	}
	pods := controlled[*corev1.Pod](tx, j, "", "Pod")
	succeeded := int32(0)
	for _, p := range pods {
		if p.Status.Phase == corev1.PodSucceeded {
			succeeded++
		}
	}
	completions := int32(1)
	if j.Spec.Completions != nil {
		completions = *j.Spec.Completions
	}
	parallelism := int32(1)
	if j.Spec.Parallelism != nil {
		parallelism = *j.Spec.Parallelism
	}
	active := int32(len(alive(pods)))
	for ; active < min(parallelism, completions-succeeded); active++ {
		p := newPod(j, &j.Spec.Template)
		if err := m.create(tx, p); err != nil {
			m.warn(tx, j, "job-controller", "FailedCreate", "Error creating: "+err.Error())
			break
		}
	}
	next := j.DeepCopy()
	now := apiserver.Now()
	if next.Status.StartTime == nil {
		next.Status.StartTime = &now
	}
	none := int32(0)
	next.Status.Active, next.Status.Succeeded, next.Status.Ready, next.Status.Terminating = active, succeeded, &none, &none
	next.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	if succeeded >= completions {
		next.Status.Active = 0
		next.Status.CompletionTime = &now
		for _, kind := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete} {
			next.Status.Conditions = append(next.Status.Conditions, batchv1.JobCondition{
				Type: kind, Status: corev1.ConditionTrue, Reason: batchv1.JobReasonCompletionsReached,
				Message: "Reached expected number of succeeded pods", LastProbeTime: now, LastTransitionTime: now,
			})
		}
	}
	tx.Replace(next)
}
