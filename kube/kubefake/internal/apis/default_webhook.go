package apis

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func defaultWebhook(failure **admissionregistrationv1.FailurePolicyType, match **admissionregistrationv1.MatchPolicyType, namespaces, objects **metav1.LabelSelector,
	timeout **int32, rules []admissionregistrationv1.RuleWithOperations, client *admissionregistrationv1.WebhookClientConfig) {
	setDefault(failure, admissionregistrationv1.Fail)
	setDefault(match, admissionregistrationv1.Equivalent)
	setDefault(namespaces, metav1.LabelSelector{})
	setDefault(objects, metav1.LabelSelector{})
	setDefault(timeout, 10)
	for i := range rules {
		setDefault(&rules[i].Scope, admissionregistrationv1.AllScopes)
	}
	if client.Service != nil {
		setDefault(&client.Service.Port, 443)
	}
}
