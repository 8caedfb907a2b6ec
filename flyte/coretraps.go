package flyte

// coreV1Traps are what the flyte-core charts of Flyte 1 have in common.
func coreV1Traps() []Trap {
	const plain = "Helm keeps every value of a release in plain text in the release's record"
	return []Trap{
		{
			Path:  "flyteadmin.initContainerClusterSyncAdditionalVolumeMounts",
			Cause: "no release of the chart reads it; the init container has the mounts of flyteadmin.additionalVolumeMounts",
			Fix:   "leave it out",
		},
		{
			Path:  "cluster_resource_manager.standaloneDeployment",
			Cause: "no template reads it",
			Fix:   "use cluster_resource_manager.standalone_deploy and cluster_resource_manager.config.cluster_resources.standaloneDeployment, both",
		},
		{
			Path:  "flytescheduler.enabled",
			Cause: "no template reads it",
			Fix:   "use workflow_scheduler.enabled",
		},
		{
			Path:  "propeller",
			Cause: "this is a key of flytepropeller's configuration, not of the chart",
			Fix:   "use flytepropeller for its pods, configmap.core.propeller for its configuration",
		},
		{
			Path:  "common.databaseSecret.secretManifest",
			Cause: plain,
			Fix:   "use WithPassword of the database",
		},
		{
			Path:  "secrets.adminOauthClientCredentials.clientSecret",
			Cause: plain,
			Fix:   "leave it empty, and make the Secret that secrets.adminOauthClientCredentials.secretName names",
		},
		{
			Path:  "storage.s3.secretKey",
			Cause: plain,
			Fix:   "use WithKeys of the storage",
		},
		{
			Path:  "configmap.adminServer.server.grpcPort",
			Cause: "this is the port's old name; the chart's Services and pods take the port of configmap.adminServer.server.grpc.port",
			Fix:   "use configmap.adminServer.server.grpc.port",
		},
		{
			Path:  "configuration",
			Cause: "this is a value of the chart flyte-binary; flyte-core does not read it",
			Fix:   "use configmap",
		},
		{
			Path:  "configmap.clusters",
			Cause: "it lies over what the data planes and the label map say, and Helm replaces lists",
			Fix:   "use WithDataplanes and WithLabelMap",
		},
	}
}
