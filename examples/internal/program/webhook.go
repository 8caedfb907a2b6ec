package program

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// Webhook is the registration of a webhook, which Flyte makes when it has
// started, to hand secrets to tasks.
func Webhook(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1",
		"kind":       "MutatingWebhookConfiguration",
		"metadata":   map[string]any{"name": name},
	}}
}
