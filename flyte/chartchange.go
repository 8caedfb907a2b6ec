package flyte

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ChartChange is something that a release of a chart changed and that the
// objects in a plan do not show by themselves. An upgrade over it tells of it.
type ChartChange struct {
	// Since is the first version that has it: "v1.16.0".
	Since string
	// Path, if set, names the raw value that it is about. Nothing is told to a
	// deployment without that value.
	Path string
	// Holds, if set, is a text that the value must hold for it to matter.
	Holds string
	// Service, if set, names the Service that it is about. Nothing is told to a
	// release without it: a data plane has no datacatalog.
	Service string
	// Cause says what is different, Fix what to do about it.
	Cause, Fix string
}

// concerns reports whether a change lies between two versions and has to do
// with the release's objects and the deployment's raw values.
func (c ChartChange) concerns(d Deployment, objects []*unstructured.Unstructured, from, to string) bool {
	if !older(from, c.Since) || older(to, c.Since) {
		return false
	}
	if c.Service != "" && !slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "Service" && o.GetName() == c.Service }) {
		return false
	}
	if c.Path == "" {
		return true
	}
	value, ok := d.rawLayer().Get(c.Path)
	return ok && strings.Contains(inlineYAML(value), c.Holds)
}

// changeFindings tell what is different in the version that is to come.
func (s releaseStep) changeFindings(running string, objects []*unstructured.Unstructured) []planewright.Finding {
	object := s.object()
	var findings []planewright.Finding
	for _, change := range s.facts.Changes {
		if !change.concerns(s.Deployment, objects, running, s.facts.Version) {
			continue
		}
		finding := planewright.Finding{Severity: planewright.SeverityInfo, Code: CodeVersionChange, Object: &object,
			Cause: fmt.Sprintf("since %s %s", change.Since, change.Cause), Fix: change.Fix}
		if change.Path != "" {
			finding.Severity = planewright.SeverityWarning
			finding.Cause = fmt.Sprintf("the raw value %s: %s", change.Path, finding.Cause)
		}
		findings = append(findings, finding)
	}
	return findings
}

// binaryV1_16Changes are what v1.16.0 changed in flyte-binary.
//
//nolint:revive // The underscore stands for the dot of the release's name.
func binaryV1_16Changes() []ChartChange {
	const since = "v1.16.0"
	return []ChartChange{
		renamedPlugin(since, "configuration.inline.tasks"),
		renamedPlugin(since, "enabled_plugins"),
	}
}

// coreV1_16Changes are what v1.16.0 changed in flyte-core.
//
//nolint:revive // The underscore stands for the dot of the release's name.
func coreV1_16Changes() []ChartChange {
	const since = "v1.16.0"
	return []ChartChange{
		renamedPlugin(since, "configmap.enabled_plugins"),
		{
			Since: since, Path: "datacatalog.service.additionalPorts", Holds: "88",
			Cause: "the Service datacatalog has no port 88 for HTTP any more, and one for metrics in its place",
			Fix:   "leave the port out",
		},
		{
			Since: since, Service: "flyteadmin",
			Cause: "the Services have no annotation projectcontour.io/upstream-protocol.h2c any more, by which Contour speaks gRPC to them",
			Fix:   "where Contour is the ingress controller, set flyteadmin.service.annotations; otherwise nothing",
		},
		{
			Since: since, Service: "datacatalog",
			Cause: "the Service datacatalog has no port 88 (http) any more; gRPC stays at port 89",
			Fix:   "point whoever asks for its metrics to the port http-metrics (10254)",
		},
	}
}

// renamedPlugin is the change of the plugin of agents, which are called
// connectors since.
func renamedPlugin(since, path string) ChartChange {
	return ChartChange{
		Since: since, Path: path, Holds: "agent-service",
		Cause: "the plugin agent-service is called connector-service, and flytepropeller knows the old name no longer",
		Fix:   "write connector-service, among the enabled plugins and in default-for-task-types",
	}
}

// coreV1_16Traps are values of flyte-core that v1.16.0 reads no longer.
//
//nolint:revive // The underscore stands for the dot of the release's name.
func coreV1_16Traps() []Trap {
	const gone = "no template reads it since v1.16.0"
	return []Trap{
		{
			Path:  "flyteadmin.serviceAccount.createClusterRole",
			Cause: "the chart fails on it, whatever its value",
			Fix:   "use flyteadmin.serviceAccount.rbac",
			Error: true,
		},
		{
			Path:  "flyteadmin.serviceAccount.clusterRole",
			Cause: "the chart fails on it, whatever its value",
			Fix:   "use flyteadmin.serviceAccount.rbacRules",
			Error: true,
		},
		{Path: "flyteagent", Cause: gone + "; agents are called connectors", Fix: "use flyteconnector"},
		{Path: "configmap.catalog_cache", Cause: gone, Fix: "use configmap.catalog"},
		{Path: "configmap.qubole", Cause: gone, Fix: "leave it out"},
		{Path: "cluster_resource_manager.prometheus.path", Cause: gone + ": it is always /metrics", Fix: "leave it out"},
	}
}

// binaryV1_16Traps are values of flyte-binary that v1.16.0 reads no longer.
//
//nolint:revive // The underscore stands for the dot of the release's name.
func binaryV1_16Traps() []Trap {
	const gone = "no template reads it since v1.16.0; agents are called connectors"
	return []Trap{
		{Path: "flyteagent", Cause: gone, Fix: "use flyteconnector"},
		{Path: "configuration.agentService", Cause: gone, Fix: "use configuration.connectorService, with defaultConnector for defaultAgent"},
	}
}
