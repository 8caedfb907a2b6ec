package apis

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

func defaultAutoscaler(h *autoscalingv2.HorizontalPodAutoscaler) {
	setDefault(&h.Spec.MinReplicas, 1)
	if len(h.Spec.Metrics) == 0 {
		utilization := int32(80)
		h.Spec.Metrics = []autoscalingv2.MetricSpec{{
			Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{
				Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &utilization,
			}},
		}}
	}
	if b := h.Spec.Behavior; b != nil {
		setDefault(&b.ScaleUp, autoscalingv2.HPAScalingRules{})
		setDefault(&b.ScaleUp.StabilizationWindowSeconds, 0)
		defaultScaling(b.ScaleUp, scaling(autoscalingv2.PodsScalingPolicy, 4), scaling(autoscalingv2.PercentScalingPolicy, 100))
		setDefault(&b.ScaleDown, autoscalingv2.HPAScalingRules{})
		defaultScaling(b.ScaleDown, scaling(autoscalingv2.PercentScalingPolicy, 100))
	}
}

func defaultScaling(r *autoscalingv2.HPAScalingRules, policies ...autoscalingv2.HPAScalingPolicy) {
	setDefault(&r.SelectPolicy, autoscalingv2.MaxChangePolicySelect)
	if r.Policies == nil {
		r.Policies = policies
	}
}

func scaling(kind autoscalingv2.HPAScalingPolicyType, value int32) autoscalingv2.HPAScalingPolicy {
	return autoscalingv2.HPAScalingPolicy{Type: kind, Value: value, PeriodSeconds: 15}
}
