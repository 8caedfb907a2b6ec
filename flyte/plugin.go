package flyte

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Plugin lets Flyte run a kind of task beyond containers, pods and arrays of
// them: without plugins tasks of Spark, Ray and Dask do not run. Make one with
// [Spark], [Ray], [Dask] or [Connector].
//
// A plugin of an operator makes that operator's objects in the projects'
// namespaces; the operator is not installed with Flyte. A cluster without it is a finding.
type Plugin struct {
	// id is the plugin's name in flytepropeller's configuration.
	id        string
	taskTypes []string
	// kind is what the plugin makes, resource its plural; empty for a connector.
	kind     schema.GroupVersionKind
	resource string
	operator string
	config   kube.Values
}

// Spark runs tasks of type "spark" as SparkApplications of the Kubeflow Spark operator.
//
// A driver makes its executors' pods itself, as the ServiceAccount that the task runs
// as. Kubernetes lets no ServiceAccount do so by itself: give it a Role for pods,
// services and configmaps, and a RoleBinding, in each project's namespace, by
// [Deployment.WithResourceTemplate] or whoever makes the namespaces. This package
// does not: it would let user code act on all pods there.
func Spark() Plugin {
	return Plugin{id: "spark", taskTypes: []string{"spark"}, resource: "sparkapplications", operator: "the Kubeflow Spark operator",
		kind: schema.GroupVersionKind{Group: "sparkoperator.k8s.io", Version: "v1beta2", Kind: "SparkApplication"}}
}

// Ray runs tasks of type "ray" as RayJobs of the operator KubeRay.
func Ray() Plugin {
	return Plugin{id: "ray", taskTypes: []string{"ray"}, resource: "rayjobs", operator: "KubeRay",
		kind: schema.GroupVersionKind{Group: "ray.io", Version: "v1", Kind: "RayJob"}}
}

// Dask runs tasks of type "dask" as DaskJobs of the Dask operator.
func Dask() Plugin {
	return Plugin{id: "dask", taskTypes: []string{"dask"}, resource: "daskjobs", operator: "the Dask operator",
		kind: schema.GroupVersionKind{Group: "kubernetes.dask.org", Version: "v1", Kind: "DaskJob"}}
}

// connectorID is the plugin of connectors. The charts enable it already, for no task type.
const connectorID = "connector-service"

// Connector gives tasks of these types to a connector: "bigquery_query_job_task",
// "snowflake". Which connector that is, is said by its configuration, see
// [Plugin.WithConfig].
func Connector(taskTypes ...string) Plugin {
	return Plugin{id: connectorID, taskTypes: slices.Clone(taskTypes)}
}

// WithConfig sets the plugin's own configuration: what flytepropeller reads
// below plugins.<name>, over what the chart has there.
func (p Plugin) WithConfig(config kube.Values) Plugin {
	p.config = p.config.Merge(config)
	return p
}

// String names the plugin and its task types.
func (p Plugin) String() string {
	return p.id + " for " + strings.Join(p.taskTypes, ", ")
}

// WithPlugins adds plugins, on every cluster that runs workflows. One that is there
// already is replaced.
func (d Deployment) WithPlugins(plugins ...Plugin) Deployment {
	d.plugins = mergePlugins(d.plugins, plugins)
	return d
}

// WithPlugins adds plugins on this data plane, beside those of the deployment.
func (p Dataplane) WithPlugins(plugins ...Plugin) Dataplane {
	p.plugins = mergePlugins(p.plugins, plugins)
	return p
}

// mergePlugins lays plugins over others, by their names.
func mergePlugins(base, over []Plugin) []Plugin {
	merged := slices.Clone(base)
	for _, p := range over {
		if i := slices.IndexFunc(merged, func(have Plugin) bool { return have.id == p.id }); i >= 0 {
			merged[i] = p
		} else {
			merged = append(merged, p)
		}
	}
	return merged
}

// taskType matches the names of task types.
var taskType = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

func validatePlugins(p *planewright.Problems, path string, plugins []Plugin) {
	owner := map[string]string{}
	for i, plugin := range plugins {
		at := fmt.Sprintf("%s[%d]", path, i)
		if plugin.id == "" {
			p.Add(at, "", "a plugin has a name", "use Spark, Ray, Dask or Connector")
			continue
		}
		if len(plugin.taskTypes) == 0 {
			p.Add(at+".taskTypes", "", "a connector is for one task type or more", `name them: Connector("bigquery_query_job_task")`)
		}
		for _, t := range plugin.taskTypes {
			if !taskType.MatchString(t) {
				p.Add(at+".taskTypes", t, "a task type has letters, digits and any of _ . -", "copy it from the plugin's documentation")
			}
			if other, ok := owner[t]; ok {
				p.Add(at+".taskTypes", t, "one plugin runs the tasks of a type, and "+other+" does", "leave it out of one of them")
			}
			owner[t] = plugin.id
		}
	}
}

// pluginLists are the enabled plugins and the plugins of task types, with these
// beside what a chart has.
func pluginLists(plugins []Plugin, chart any) map[string]any {
	below, _ := asMap(chart)
	enabled, _ := below["enabled-plugins"].([]any)
	enabled = slices.Clone(enabled)
	types := map[string]any{}
	for _, p := range plugins {
		if !slices.ContainsFunc(enabled, func(have any) bool { return have == any(p.id) }) {
			enabled = append(enabled, p.id)
		}
		for _, t := range p.taskTypes {
			types[t] = p.id
		}
	}
	return map[string]any{"enabled-plugins": enabled, "default-for-task-types": types}
}

// setPlugins sets the plugins of a release of flyte-binary.
func (d Deployment) setPlugins(v *layer, defaults kube.Values) {
	if len(d.plugins) == 0 {
		return
	}
	// The overlay's own lists, which say the same as the chart's, would replace these.
	v.set("configuration.inline.tasks", nil)
	chart, _ := defaults.Get("enabled_plugins.tasks.task-plugins")
	v.set("enabled_plugins.tasks.task-plugins", pluginLists(d.plugins, chart))
	for _, p := range d.plugins {
		if len(p.config) > 0 {
			v.set("configuration.inline.plugins."+p.id, map[string]any(p.config))
		}
	}
}

// setPlugins sets the plugins of a release of flyte-core. flytepropeller may make
// objects of every kind there.
func (c core) setPlugins(v *layer, plugins []Plugin, defaults kube.Values) {
	if len(plugins) == 0 {
		return
	}
	chart, _ := defaults.Get("configmap.enabled_plugins.tasks.task-plugins")
	v.set("configmap.enabled_plugins.tasks.task-plugins", pluginLists(plugins, chart))
	for _, p := range plugins {
		if p.id == "spark" {
			// The chart has a file for it, with settings for S3.
			v.set("sparkoperator.enabled", true)
			for key, value := range p.config {
				v.set("sparkoperator.plugin_config.plugins.spark."+strings.ReplaceAll(key, ".", `\.`), value)
			}
			continue
		}
		if len(p.config) > 0 {
			v.set("configmap.k8s.plugins."+p.id, map[string]any(p.config))
		}
	}
}

// pluginRules let flyte-binary act on the plugins' objects.
func (d Deployment) pluginRules() []Rule {
	var rules []Rule
	for _, p := range d.plugins {
		if p.resource != "" {
			rules = append(rules, Rule{APIGroups: []string{p.kind.Group}, Resources: []string{p.resource},
				Verbs: []string{"create", "delete", "get", "list", "patch", "update", "watch"}})
		}
	}
	return rules
}
