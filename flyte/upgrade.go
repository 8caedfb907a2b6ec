package flyte

import (
	"fmt"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
)

// upgradeFindings tell of what a newer version brings: what has changed in it,
// and that its migrations of the database are not undone.
func (s releaseStep) upgradeFindings(running string, plan kube.ReleasePlan) []planewright.Finding {
	if !older(running, s.facts.Version) {
		return nil
	}
	findings := s.changeFindings(running, plan.Objects)
	if s.recipe.workload() == "" {
		// A data plane has no database.
		return findings
	}
	object := s.object()
	return append(findings, planewright.Finding{Severity: planewright.SeverityWarning, Code: CodeBackup, Object: &object,
		Cause: fmt.Sprintf("Flyte %s migrates its database when it starts, and nothing takes that back: after it, %s may not start on it", s.facts.Version, running),
		Fix:   fmt.Sprintf("save the database first: pg_dump --host=%s --port=%d --username=%s --format=custom --file=%s-%s.dump %s", s.database.host, s.database.port, s.database.user, s.database.name, running, s.database.name)})
}

// fixedField is a field that the API server lets nobody change, from the
// validation of each kind in Kubernetes itself.
type fixedField struct {
	kinds []string
	field string
}

func fixedFields() []fixedField {
	return []fixedField{
		{[]string{"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job"}, "spec.selector"},
		{[]string{"StatefulSet"}, "spec.serviceName"},
		{[]string{"StatefulSet"}, "spec.volumeClaimTemplates"},
		{[]string{"StatefulSet"}, "spec.podManagementPolicy"},
		{[]string{"Job"}, "spec.template"},
		{[]string{"Job"}, "spec.completions"},
		{[]string{"RoleBinding", "ClusterRoleBinding"}, "roleRef"},
		{[]string{"Secret"}, "type"},
		{[]string{"Service"}, "spec.clusterIP"},
		{[]string{"PersistentVolumeClaim"}, "spec.storageClassName"},
		{[]string{"PersistentVolumeClaim"}, "spec.accessModes"},
		{[]string{"PersistentVolumeClaim"}, "spec.volumeName"},
		{[]string{"StorageClass"}, "provisioner"},
		{[]string{"StorageClass"}, "parameters"},
		{[]string{"CustomResourceDefinition"}, "spec.scope"},
		{[]string{"CustomResourceDefinition"}, "spec.names.kind"},
	}
}

// fixedFindings name the fields in a plan that the API server will refuse to
// change, before anything is written: Helm would have changed other objects by then.
func (s releaseStep) fixedFindings(plan kube.ReleasePlan) []planewright.Finding {
	var findings []planewright.Finding
	for _, ref := range refsOf(plan) {
		var fields []string
		for _, diff := range plan.Diff {
			field, ok := strings.CutPrefix(diff.Path, ref.String()+": ")
			if ok && diff.Before != "" && isFixed(ref.Kind, field) {
				fields = append(fields, fmt.Sprintf("%s (%s → %s)", field, diff.Before, diff.After))
			}
		}
		if len(fields) == 0 {
			continue
		}
		object := ref.In(s.cluster.Name)
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodeFixedField, Object: &object,
			Cause: "the API server lets nobody change " + joinAnd(fields) + " of an object that exists",
			Fix:   fmt.Sprintf("keep the value, or delete the object first, whose work stops until it is made again: kubectl %sdelete %s %s", namespaceFlag(ref), strings.ToLower(ref.Kind), ref.Name)})
	}
	return findings
}

func namespaceFlag(ref kube.Ref) string {
	if ref.Namespace == "" {
		return ""
	}
	return "-n " + ref.Namespace + " "
}

// refsOf are the objects of a plan, in their order.
func refsOf(plan kube.ReleasePlan) []kube.Ref {
	refs := make([]kube.Ref, len(plan.Objects))
	for i, obj := range plan.Objects {
		refs[i] = kube.RefOf(obj)
	}
	return refs
}

// isFixed reports whether a field, or one below it, cannot be changed.
func isFixed(kind, field string) bool {
	for _, fixed := range fixedFields() {
		for _, k := range fixed.kinds {
			if k != kind {
				continue
			}
			rest, ok := strings.CutPrefix(field, fixed.field)
			if ok && (rest == "" || strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "[")) {
				return true
			}
		}
	}
	return false
}
