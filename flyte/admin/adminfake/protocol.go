package adminfake

// The messages of flyteidl v1.16.8 that the gateway takes and gives: flyteidl/protos.

// resourceTypes are the values of MatchableResource.
func resourceTypes() []string {
	return []string{
		"TASK_RESOURCE", "CLUSTER_RESOURCE", "EXECUTION_QUEUE", "EXECUTION_CLUSTER_LABEL",
		"QUALITY_OF_SERVICE_SPECIFICATION", "PLUGIN_OVERRIDE", "WORKFLOW_EXECUTION_CONFIG", "CLUSTER_ASSIGNMENT",
	}
}

func domainSchema() schema { return schema{{name: "id"}, {name: "name"}} }

func projectSchema() schema {
	return schema{
		{name: "id"}, {name: "name"}, {name: "domains", kind: object, of: domainSchema(), repeated: true}, {name: "description"},
		{name: "labels", kind: object, of: schema{{name: "values", kind: texts}}},
		{name: "state", kind: enum, values: projectStates()}, {name: "org"},
	}
}

func projectStates() []string {
	return []string{"ACTIVE", "ARCHIVED", "SYSTEM_GENERATED", "SYSTEM_ARCHIVED"}
}

func matchingSchema() schema {
	resources := schema{{name: "cpu"}, {name: "gpu"}, {name: "memory"}, {name: "storage"}, {name: "ephemeral_storage"}}
	override := schema{
		{name: "task_type"}, {name: "plugin_id", repeated: true},
		{name: "missing_plugin_behavior", kind: enum, values: []string{"FAIL", "USE_DEFAULT"}},
	}
	return schema{
		{name: "task_resource_attributes", kind: object, oneof: true, of: schema{
			{name: "defaults", kind: object, of: resources}, {name: "limits", kind: object, of: resources},
		}},
		{name: "cluster_resource_attributes", kind: object, oneof: true, of: schema{{name: "attributes", kind: texts}}},
		{name: "execution_queue_attributes", kind: object, oneof: true, of: schema{{name: "tags", repeated: true}}},
		{name: "execution_cluster_label", kind: object, oneof: true, of: schema{{name: "value"}}},
		{name: "quality_of_service", kind: opaque, oneof: true},
		{name: "plugin_overrides", kind: object, oneof: true, of: schema{{name: "overrides", kind: object, of: override, repeated: true}}},
		{name: "workflow_execution_config", kind: opaque, oneof: true},
		{name: "cluster_assignment", kind: object, oneof: true, of: schema{{name: "cluster_pool_name"}}},
	}
}

// attributesSchema is ProjectAttributes, ProjectDomainAttributes or
// WorkflowAttributes, told apart by how many names they have.
func attributesSchema(names []string) schema {
	s := schema{{name: "matching_attributes", kind: object, of: matchingSchema()}, {name: "org"}}
	for _, name := range names {
		s = append(s, field{name: name})
	}
	return s
}

func deletionSchema(names []string) schema {
	s := schema{{name: "resource_type", kind: enum, values: resourceTypes()}, {name: "org"}}
	for _, name := range names {
		s = append(s, field{name: name})
	}
	return s
}

func configurationsSchema() schema {
	return schema{{name: "configurations", kind: object, repeated: true, of: schema{
		{name: "attributes", kind: object, of: matchingSchema()},
		{name: "domain"}, {name: "project"}, {name: "workflow"}, {name: "launch_plan"}, {name: "org"},
	}}}
}

func identifierSchema() schema {
	return schema{
		{name: "resource_type", kind: enum, values: []string{"UNSPECIFIED", "TASK", "WORKFLOW", "LAUNCH_PLAN", "DATASET"}},
		{name: "project"}, {name: "domain"}, {name: "name"}, {name: "version"}, {name: "org"},
	}
}

func executionIDSchema() schema {
	return schema{{name: "project"}, {name: "domain"}, {name: "name"}, {name: "org"}}
}

func literalSchema() schema {
	primitive := schema{
		{name: "integer", kind: integer, oneof: true}, {name: "string_value", oneof: true}, {name: "boolean", kind: boolean, oneof: true},
	}
	return schema{
		{name: "scalar", kind: object, oneof: true, of: schema{{name: "primitive", kind: object, of: primitive, oneof: true}}},
		{name: "hash"}, {name: "metadata", kind: texts},
	}
}

func literalsSchema() schema {
	return schema{{name: "literals", kind: objects, of: literalSchema()}}
}

func executionSpecSchema() schema {
	metadata := schema{
		{name: "mode", kind: enum, values: []string{"MANUAL", "SCHEDULED", "SYSTEM", "RELAUNCH", "CHILD_WORKFLOW", "RECOVERED", "TRIGGER"}},
		{name: "principal"}, {name: "nesting", kind: number}, {name: "scheduled_at", kind: instant},
		{name: "parent_node_execution", kind: opaque}, {name: "reference_execution", kind: object, of: executionIDSchema()},
		{name: "artifact_ids", kind: opaque, repeated: true},
		{name: "system_metadata", kind: object, of: schema{{name: "execution_cluster"}, {name: "namespace"}}},
	}
	s := schema{
		{name: "launch_plan", kind: object, of: identifierSchema()}, {name: "metadata", kind: object, of: metadata},
		{name: "execution_cluster_label", kind: object, of: schema{{name: "value"}}},
		{name: "notifications", kind: opaque, oneof: true}, {name: "disable_all", kind: boolean, oneof: true}, {name: "overwrite_cache", kind: boolean},
		{name: "max_parallelism", kind: number}, {name: "tags", repeated: true}, {name: "execution_env_assignments", kind: opaque, repeated: true},
	}
	for _, name := range []string{"labels", "annotations", "security_context", "auth_role", "quality_of_service", "raw_output_data_config", "cluster_assignment", "envs", "interruptible"} {
		s = append(s, field{name: name, kind: opaque})
	}
	return s
}

func executionRequestSchema() schema {
	return schema{
		{name: "project"}, {name: "domain"}, {name: "name"}, {name: "spec", kind: object, of: executionSpecSchema()},
		{name: "inputs", kind: object, of: literalsSchema()}, {name: "org"},
	}
}

// phases are the values of WorkflowExecution.Phase.
func phases() []string {
	return []string{"UNDEFINED", "QUEUED", "RUNNING", "SUCCEEDING", "SUCCEEDED", "FAILING", "FAILED", "ABORTED", "TIMED_OUT", "ABORTING"}
}

func executionSchema() schema {
	failure := schema{
		{name: "code"}, {name: "message"}, {name: "error_uri"}, {name: "kind", kind: enum, values: []string{"UNKNOWN", "USER", "SYSTEM"}},
		{name: "timestamp", kind: instant}, {name: "worker"},
	}
	return schema{
		{name: "id", kind: object, of: executionIDSchema()}, {name: "spec", kind: object, of: executionSpecSchema()},
		{name: "closure", kind: object, of: schema{
			{name: "error", kind: object, of: failure, oneof: true},
			{name: "abort_metadata", kind: object, of: schema{{name: "cause"}, {name: "principal"}}, oneof: true},
			{name: "phase", kind: enum, values: phases()}, {name: "workflow_id", kind: object, of: identifierSchema()},
			{name: "started_at", kind: instant}, {name: "created_at", kind: instant}, {name: "updated_at", kind: instant},
			{name: "duration", kind: instant}, {name: "notifications", kind: opaque, repeated: true}, {name: "state_change_details", kind: opaque},
		}},
	}
}

func launchPlanSchema() schema {
	return schema{
		{name: "id", kind: object, of: identifierSchema()},
		{name: "spec", kind: object, of: schema{{name: "workflow_id", kind: object, of: identifierSchema()}}},
		{name: "closure", kind: object, of: schema{
			{name: "state", kind: enum, values: []string{"INACTIVE", "ACTIVE"}}, {name: "created_at", kind: instant}, {name: "updated_at", kind: instant},
		}},
	}
}

func versionSchema() schema {
	return schema{{name: "control_plane_version", kind: object, of: schema{{name: "Build"}, {name: "Version"}, {name: "BuildTime"}}}}
}
