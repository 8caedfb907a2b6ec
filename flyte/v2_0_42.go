package flyte

import _ "embed"

//go:embed charts/flyte-binary-v2.0.42.tsv
var binaryV2_0_42Values string

// V2_0_42 is Flyte v2.0.42. Flyte 2 is another product than Flyte 1 under the
// same chart name: one process with another configuration, another API and another
// SDK, on one cluster only. See [NewSingleCluster] for what it takes and
// [Deployment.Moving] for what a deployment of Flyte 1 would need to become one.
//
//nolint:revive // The underscores stand for the dots of the release's name.
var V2_0_42 = NewVersion("v2.0.42", Chart{
	Name:          binaryChart,
	Version:       "v2.0.42",
	Digest:        "sha256:1404906e6372a54d256e137c3c3d3f0cc3b77e59710c58e94a61a28d9d9ee69e",
	Values:        mustChartValues(binaryV2_0_42Values),
	Architectures: []string{"amd64", "arm64"},
	Traps:         binaryV2Traps(),
})

// binaryV2Traps are above all the values of Flyte 1: the chart takes them
// without a word, and goes on with its defaults.
func binaryV2Traps() []Trap {
	flyte1 := func(path, cause, fix string) Trap {
		return Trap{Path: path, Cause: "this is a value of Flyte 1: " + cause, Fix: fix, Error: true}
	}
	const unread = "no template of this chart reads it"
	database := "the chart writes it into a ConfigMap as it is, and goes on using the host 127.0.0.1"
	traps := []Trap{
		flyte1("configuration.database.password", "the chart writes it into a ConfigMap in plain text", "use WithPassword of the database"),
		flyte1("configuration.storage.userDataContainer", unread, "use WithUserDataBucket of the storage"),
		flyte1("configuration.auth", unread+": Flyte 2 checks no login itself", "put a proxy that logs people in before it, and tell it of the proxy's headers by flyte-core-components.runs.identityHeaders"),
		flyte1("configuration.propeller", unread, "leave it out; the chart has the definition of task actions always"),
		flyte1("configuration.agentService", unread, "put the connector's configuration below configuration.inline"),
		{
			Path:  "configuration.connectorService",
			Cause: "the chart has this value and no template reads it",
			Fix:   "put the connector's configuration below configuration.inline",
		},
		flyte1("clusterResourceTemplates", unread+": Flyte 2 makes no namespaces for projects", "make quotas and the like in the namespace that tasks run in"),
		flyte1("configuration.inline.cluster_resources", "Flyte 2 makes no namespaces for projects", "make quotas and the like in the namespace that tasks run in"),
		flyte1("configuration.inline.namespace_mapping", "Flyte 2 runs tasks in one namespace", "use WithNamespace"),
		flyte1("flyte-core-components.admin", "Flyte 2 has no flyteadmin", "look among runs, actions, dataproxy and secret"),
		flyte1("flyte-core-components.propeller", "Flyte 2 has no flytepropeller", "look among runs, actions, dataproxy and secret"),
		flyte1("flyte-core-components.dataCatalog", "Flyte 2 has no data catalog", "leave it out"),
		flyte1("service.ports.grpc", "Flyte 2 has one port for everything", "use service.ports.http"),
		flyte1("ingress.grpcAnnotations", "Flyte 2 needs no Ingress of its own for gRPC", "use ingress.httpAnnotations"),
		flyte1("ingress.separateGrpcIngress", "Flyte 2 needs no Ingress of its own for gRPC", "leave it out"),
		{
			Path:  "configuration.database.postgres.password",
			Cause: "Helm keeps every value of a release in plain text in the release's record",
			Fix:   "use WithPassword of the database",
		},
		{
			Path:  "configuration.storage.providerConfig.s3.secretKey",
			Cause: "Helm keeps every value of a release in plain text in the release's record",
			Fix:   "use WithKeys of the storage",
		},
		{
			Path:  "configuration.externalConfigMap",
			Cause: "the chart then renders no configuration at all: everything this deployment says about database and storage is dropped",
			Fix:   "use configuration.inlineConfigMap, which is merged over the rendered configuration",
		},
		{
			Path:  "configuration.externalSecretRef",
			Cause: "the chart then renders no configuration at all: everything this deployment says about database and storage is dropped",
			Fix:   "use configuration.extraInlineSecretRefs, which is merged over the rendered configuration",
		},
	}
	for _, key := range []string{"host", "port", "dbname", "username", "passwordPath", "options"} {
		traps = append(traps, flyte1("configuration.database."+key, database, "use WithDatabase, or the value of that name below configuration.database.postgres"))
	}
	for _, key := range []string{"flyteadmin", "flytepropeller", "flyteconsole", "datacatalog", "configmap", "secrets"} {
		traps = append(traps, flyte1(key, unread, "leave it out"))
	}
	return traps
}
