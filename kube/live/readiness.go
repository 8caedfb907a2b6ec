package live

import (
	"fmt"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// readiness is what an object looks like to whoever waits for it.
type readiness struct {
	ready  bool
	reason string
	// final means that it will not get better: a Job that failed.
	final bool
}

// ready judges an object by its kind. The object is nil while it does not exist.
func ready(obj *unstructured.Unstructured) readiness {
	if obj == nil {
		return readiness{reason: "does not exist yet"}
	}
	// kstatus takes a Job that runs and a Pod that failed for done.
	switch obj.GroupVersionKind().GroupKind().String() {
	case "Job.batch":
		return jobReadiness(obj)
	case "Pod":
		if phase, _, _ := unstructured.NestedString(obj.Object, "status", "phase"); phase == "Failed" {
			return readiness{reason: "failed: " + statusText(obj), final: true}
		}
	}
	result, err := status.Compute(obj)
	if err != nil {
		return readiness{reason: "its status cannot be read: " + err.Error()}
	}
	if result.Status == status.CurrentStatus {
		return readiness{ready: true}
	}
	if result.Status == status.TerminatingStatus {
		return readiness{reason: "is being deleted"}
	}
	reason := result.Message
	if failure := trueCondition(obj, "ReplicaFailure"); failure != "" {
		reason += "; " + failure
	}
	return readiness{reason: reason}
}

func jobReadiness(obj *unstructured.Unstructured) readiness {
	if trueCondition(obj, "Complete") != "" {
		return readiness{ready: true}
	}
	if failure := trueCondition(obj, "Failed"); failure != "" {
		return readiness{reason: "failed: " + failure, final: true}
	}
	active, _, _ := unstructured.NestedInt64(obj.Object, "status", "active")
	failed, _, _ := unstructured.NestedInt64(obj.Object, "status", "failed")
	reason := fmt.Sprintf("is not complete: %d active", active)
	if failed > 0 {
		reason += fmt.Sprintf(", %d failed", failed)
	}
	return readiness{reason: reason}
}

// trueCondition returns reason and message of a condition that is true.
func trueCondition(obj *unstructured.Unstructured, kind string) string {
	for _, c := range conditions(obj) {
		if c["type"] == kind && c["status"] == "True" {
			return conditionText(c)
		}
	}
	return ""
}

func conditions(obj *unstructured.Unstructured) []map[string]any {
	list, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	var found []map[string]any
	for _, item := range list {
		if c, ok := item.(map[string]any); ok {
			found = append(found, c)
		}
	}
	return found
}

func conditionText(c map[string]any) string {
	reason, _ := c["reason"].(string)
	message, _ := c["message"].(string)
	switch {
	case reason == "" && message == "":
		kind, _ := c["type"].(string)
		return kind
	case message == "":
		return reason
	case reason == "" || strings.HasPrefix(message, reason):
		return message
	}
	return reason + ": " + message
}

func statusText(obj *unstructured.Unstructured) string {
	reason, _, _ := unstructured.NestedString(obj.Object, "status", "reason")
	message, _, _ := unstructured.NestedString(obj.Object, "status", "message")
	return conditionText(map[string]any{"type": "no reason given", "reason": reason, "message": message})
}
