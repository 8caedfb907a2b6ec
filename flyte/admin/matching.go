package admin

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/planewright/planewright"
)

// Kind is a kind of matchable attributes; flyteadmin's enum MatchableResource.
type Kind string

// The kinds that this package knows. flyteadmin has others, which it does not
// let anybody change, or which have nothing to do with clusters.
const (
	// KindTaskResource: [TaskResourceAttributes].
	KindTaskResource Kind = "TASK_RESOURCE"
	// KindClusterResource: [ClusterResourceAttributes].
	KindClusterResource Kind = "CLUSTER_RESOURCE"
	// KindExecutionClusterLabel: [ExecutionClusterLabel].
	KindExecutionClusterLabel Kind = "EXECUTION_CLUSTER_LABEL"
	// KindPluginOverride: [PluginOverrides].
	KindPluginOverride Kind = "PLUGIN_OVERRIDE"
)

// Kinds returns all kinds that this package knows.
func Kinds() []Kind {
	return []Kind{KindTaskResource, KindClusterResource, KindExecutionClusterLabel, KindPluginOverride}
}

// MatchingAttributes is a value of exactly one kind: an
// [ExecutionClusterLabel], [TaskResourceAttributes],
// [ClusterResourceAttributes] or [PluginOverrides].
type MatchingAttributes interface {
	// Kind tells the kind.
	Kind() Kind
	// body is the attributes' field and message in the protocol.
	body() (field string, value any)
	check(*planewright.Problems)
}

// ExecutionClusterLabel sends executions to a cluster that has this label in
// flyteadmin's labelClusterMap. flyteadmin takes any label, and finds out only
// when an execution is created whether it has a cluster for it.
type ExecutionClusterLabel string

// Kind implements [MatchingAttributes].
func (ExecutionClusterLabel) Kind() Kind { return KindExecutionClusterLabel }

func (l ExecutionClusterLabel) body() (string, any) {
	return "execution_cluster_label", map[string]any{"value": string(l)}
}

func (l ExecutionClusterLabel) check(problems *planewright.Problems) {
	if l == "" {
		problems.Add("attributes.executionClusterLabel", "", "must not be empty", "name a label, or delete the attributes")
	}
}

// TaskResourceAttributes are what tasks get if they ask for nothing, and the
// most that they may ask for.
type TaskResourceAttributes struct {
	Defaults, Limits TaskResourceSpec
}

// TaskResourceSpec holds quantities as Kubernetes writes them: "500m", "2Gi".
// Those that are empty are not set.
type TaskResourceSpec struct {
	CPU, GPU, Memory, Storage, EphemeralStorage string
}

// Kind implements [MatchingAttributes].
func (TaskResourceAttributes) Kind() Kind { return KindTaskResource }

func (a TaskResourceAttributes) body() (string, any) {
	return "task_resource_attributes", map[string]any{"defaults": a.Defaults.body(), "limits": a.Limits.body()}
}

func (TaskResourceAttributes) check(*planewright.Problems) {}

func (s TaskResourceSpec) body() map[string]any {
	body := map[string]any{}
	for name, value := range map[string]string{"cpu": s.CPU, "gpu": s.GPU, "memory": s.Memory, "storage": s.Storage, "ephemeral_storage": s.EphemeralStorage} {
		if value != "" {
			body[name] = value
		}
	}
	return body
}

// ClusterResourceAttributes are values for the templates of flyteadmin's
// cluster resources: "projectQuotaCpu". Its keys keep their case.
type ClusterResourceAttributes map[string]string

// Kind implements [MatchingAttributes].
func (ClusterResourceAttributes) Kind() Kind { return KindClusterResource }

func (a ClusterResourceAttributes) body() (string, any) {
	attributes := map[string]string(a)
	if attributes == nil {
		attributes = map[string]string{}
	}
	return "cluster_resource_attributes", map[string]any{"attributes": attributes}
}

func (a ClusterResourceAttributes) check(problems *planewright.Problems) {
	for _, reserved := range []string{"namespace", "project", "domain"} {
		if _, ok := a[reserved]; ok {
			problems.Add("attributes.clusterResourceAttributes["+reserved+"]", "", "is a name that flyteadmin's templates reserve", "choose another name")
		}
	}
}

// PluginOverrides choose the plugins that run tasks, one entry a task type.
type PluginOverrides []PluginOverride

// PluginOverride chooses the plugins for a type of task.
type PluginOverride struct {
	// TaskType is the type of task: "python-task", "spark".
	TaskType string
	// PluginIDs are tried in order; the first that is enabled runs the task.
	PluginIDs []string
	// UseDefault runs the task with the default plugin if none of them is
	// enabled. Without it the execution fails then.
	UseDefault bool
}

// Kind implements [MatchingAttributes].
func (PluginOverrides) Kind() Kind { return KindPluginOverride }

func (o PluginOverrides) body() (string, any) {
	list := make([]map[string]any, len(o))
	for i, override := range o {
		behaviour := "FAIL"
		if override.UseDefault {
			behaviour = "USE_DEFAULT"
		}
		list[i] = map[string]any{"task_type": override.TaskType, "plugin_id": override.PluginIDs, "missing_plugin_behavior": behaviour}
	}
	return "plugin_overrides", map[string]any{"overrides": list}
}

func (o PluginOverrides) check(problems *planewright.Problems) {
	seen := map[string]bool{}
	for i, override := range o {
		path := fmt.Sprintf("attributes.pluginOverrides[%d].taskType", i)
		switch {
		case override.TaskType == "":
			problems.Add(path, "", "is required", "name a type of task, such as python-task")
		case seen[override.TaskType]:
			problems.Add(path, override.TaskType, "must not be there twice", "give all plugins of a task type in one entry")
		}
		seen[override.TaskType] = true
	}
}

// readMatching reads attributes of a known kind.
func readMatching(m message, kind Kind) MatchingAttributes {
	field, ok := map[Kind]string{
		KindTaskResource: "task_resource_attributes", KindClusterResource: "cluster_resource_attributes",
		KindExecutionClusterLabel: "execution_cluster_label", KindPluginOverride: "plugin_overrides",
	}[kind]
	if !ok || !m.has(field) {
		m.fail(errors.New("field " + m.at(field) + " is missing"))
	}
	value := m.message(field)
	switch kind {
	case KindTaskResource:
		return TaskResourceAttributes{Defaults: readTaskResources(value.message("defaults")), Limits: readTaskResources(value.message("limits"))}
	case KindClusterResource:
		attributes := ClusterResourceAttributes{}
		maps.Copy(attributes, value.texts("attributes"))
		return attributes
	case KindPluginOverride:
		overrides := PluginOverrides{}
		for _, o := range value.messages("overrides") {
			behaviour := o.enum("missing_plugin_behavior")
			overrides = append(overrides, PluginOverride{
				TaskType: o.text("task_type"), PluginIDs: o.list("plugin_id"), UseDefault: behaviour == "USE_DEFAULT" || behaviour == "1",
			})
		}
		// flyteadmin returns merged overrides in any order.
		slices.SortFunc(overrides, func(a, b PluginOverride) int { return compare(a.TaskType, b.TaskType) })
		return overrides
	default:
		return ExecutionClusterLabel(value.text("value"))
	}
}

func readTaskResources(m message) TaskResourceSpec {
	return TaskResourceSpec{
		CPU: m.text("cpu"), GPU: m.text("gpu"), Memory: m.text("memory"), Storage: m.text("storage"), EphemeralStorage: m.text("ephemeral_storage"),
	}
}
