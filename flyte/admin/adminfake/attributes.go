package adminfake

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/planewright/planewright/flyte/admin"
)

// attributesRow is a row of the table of matchable attributes.
type attributesRow struct {
	id                              int
	project, domain, workflow, kind string
	matching                        fields
}

// priority orders rows: narrower scopes win.
func (r *attributesRow) priority() int {
	switch {
	case r.workflow != "":
		return 100
	case r.domain != "":
		return 10
	}
	return 5
}

// at reports whether the row is that of a scope.
func (r *attributesRow) at(project, domain, workflow, kind string) bool {
	return r.project == project && r.domain == domain && r.workflow == workflow && r.kind == kind
}

// under reports whether a query by these columns finds the row. Columns that
// are empty are left out of it, so it finds the rows of narrower scopes too.
func (r *attributesRow) under(project, domain, workflow, kind string) bool {
	return r.project == project && r.kind == kind && (domain == "" || r.domain == domain) && (workflow == "" || r.workflow == workflow)
}

// kindOf tells the kind of matching attributes by the field that is set.
func kindOf(matching fields) (string, bool) {
	for name := range matching {
		kind, ok := map[string]string{
			"task_resource_attributes": "TASK_RESOURCE", "cluster_resource_attributes": "CLUSTER_RESOURCE",
			"execution_queue_attributes": "EXECUTION_QUEUE", "execution_cluster_label": "EXECUTION_CLUSTER_LABEL",
			"plugin_overrides": "PLUGIN_OVERRIDE", "workflow_execution_config": "WORKFLOW_EXECUTION_CONFIG",
			"cluster_assignment": "CLUSTER_ASSIGNMENT", // and quality_of_service is not recognized
		}[name]
		return kind, ok
	}
	return "", false
}

func (f *Fake) updateAttributes(r *request, names []string) (result, error) {
	set, err := r.parse(schema{{name: "attributes", kind: object, of: attributesSchema(names)}})
	if err != nil {
		return result{}, err
	}
	project, domain, workflow := r.params["project"], r.params["domain"], r.params["workflow"]
	if err := f.checkScope(project, domain, names); err != nil {
		return result{}, err
	}
	given := asFields(set["attributes"])
	if given["matching_attributes"] == nil {
		return result{}, invalid("missing matching_attributes")
	}
	matching := asFields(given["matching_attributes"])
	kind, ok := kindOf(matching)
	if !ok {
		return result{}, invalid("Unrecognized matching attributes type for request %s", strings.TrimRight(project+"-"+domain+"-"+workflow, "-"))
	}
	if kind == "PLUGIN_OVERRIDE" {
		return f.mergeOverrides(project, domain, workflow, matching)
	}
	f.store(project, domain, workflow, kind, matching)
	return result{persisted: true}, nil
}

// checkScope checks that attributes of the scope can be changed.
func (f *Fake) checkScope(project, domain string, names []string) error {
	if len(names) == 1 {
		return f.checkActive(project)
	}
	return f.checkProjectAndDomain(project, domain)
}

func (f *Fake) store(project, domain, workflow, kind string, matching fields) {
	for _, row := range f.attributes {
		if row.at(project, domain, workflow, kind) {
			row.matching = matching
			return
		}
	}
	f.sequence++
	f.attributes = append(f.attributes, &attributesRow{f.sequence, project, domain, workflow, kind, matching})
}

// mergeOverrides puts plugin overrides among those of the first row that a
// query by the scope's columns finds, which may be a narrower scope's. A query
// without a domain is an error.
func (f *Fake) mergeOverrides(project, domain, workflow string, matching fields) (result, error) {
	if domain == "" {
		return result{}, statusf(admin.CodeInternal, "unexpected error type for: missing and/or invalid parameters: {%s    PLUGIN_OVERRIDE}", project)
	}
	i := slices.IndexFunc(f.attributes, func(row *attributesRow) bool { return row.under(project, domain, workflow, "PLUGIN_OVERRIDE") })
	if i < 0 {
		f.store(project, domain, workflow, "PLUGIN_OVERRIDE", matching)
		return result{persisted: true}, nil
	}
	byType := map[string]any{}
	for _, m := range []fields{f.attributes[i].matching, matching} {
		overrides, _ := asFields(m["plugin_overrides"])["overrides"].([]any)
		for _, o := range overrides {
			byType[asText(asFields(o)["task_type"])] = o
		}
	}
	var merged []any
	for _, taskType := range slices.Sorted(maps.Keys(byType)) {
		merged = append(merged, byType[taskType])
	}
	f.attributes[i].matching = fields{"plugin_overrides": fields{"overrides": merged}}
	return result{persisted: true}, nil
}

func (f *Fake) getAttributes(r *request, names []string) (result, error) {
	project, domain, workflow := r.params["project"], r.params["domain"], r.params["workflow"]
	kind, err := r.resourceType()
	if err != nil {
		return result{}, err
	}
	if len(names) == 1 {
		if _, ok := f.projects[project]; !ok {
			return result{}, invalid("failed to validate that project [%s] exists, err: [project [%s] not found]", project, project)
		}
	} else if err := f.checkProjectAndDomain(project, domain); err != nil {
		return result{}, err
	}
	row := f.applying(project, domain, workflow, kind)
	if row == nil {
		return result{}, statusf(admin.CodeNotFound, "Resource [{Project:%s Domain:%s Workflow:%s LaunchPlan: ResourceType:%s}] not found", project, domain, workflow, kind)
	}
	return result{
		schema: schema{{name: "attributes", kind: object, of: attributesSchema(names)}},
		message: fields{"attributes": fields{
			"project": row.project, "domain": row.domain, "workflow": row.workflow, "matching_attributes": row.matching,
		}},
	}, nil
}

// applying returns the most specific row that applies to a scope, nil for none.
func (f *Fake) applying(project, domain, workflow, kind string) *attributesRow {
	var best *attributesRow
	for _, row := range f.attributes {
		applies := row.project == project && row.kind == kind && (row.domain == "" || row.domain == domain) && (row.workflow == "" || row.workflow == workflow)
		if applies && (best == nil || row.priority() > best.priority()) {
			best = row
		}
	}
	return best
}

func (f *Fake) deleteAttributes(r *request, names []string) (result, error) {
	set, err := r.parse(deletionSchema(names))
	if err != nil {
		return result{}, err
	}
	project, domain, workflow := r.params["project"], r.params["domain"], r.params["workflow"]
	if err := f.checkScope(project, domain, names); err != nil {
		return result{}, err
	}
	kind := asText(set["resource_type"])
	if kind == "" {
		kind = resourceTypes()[0]
	}
	before := len(f.attributes)
	f.attributes = slices.DeleteFunc(f.attributes, func(row *attributesRow) bool { return row.under(project, domain, workflow, kind) })
	return result{persisted: len(f.attributes) < before}, nil
}

func (f *Fake) listAttributes(r *request) (result, error) {
	kind, err := r.resourceType()
	if err != nil {
		return result{}, err
	}
	rows := slices.Clone(f.attributes)
	slices.SortStableFunc(rows, func(a, b *attributesRow) int { return cmp.Compare(b.priority(), a.priority()) })
	list := []any{}
	for _, row := range rows {
		if row.kind == kind {
			list = append(list, fields{"project": row.project, "domain": row.domain, "workflow": row.workflow, "attributes": row.matching})
		}
	}
	return result{schema: configurationsSchema(), message: fields{"configurations": list}}, nil
}
