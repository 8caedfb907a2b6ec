package flyte

import _ "embed"

//go:embed charts/flyte-binary-v1.16.8.tsv
var binaryV1_16_8Values string

//go:embed charts/flyte-core-v1.16.8.tsv
var coreV1_16_8Values string

// binaryChart is the name of the chart of a single-cluster deployment.
const binaryChart = "flyte-binary"

// V1_16_8 is Flyte v1.16.8, the newest release of Flyte 1 that this package
// knows. Its charts are published at https://flyteorg.github.io/flyte. They
// must be asked for by version: the newest chart of the same name there is
// another product, Flyte 2.
//
//nolint:revive // The underscores stand for the dots of the release's name.
var V1_16_8 = NewVersion("v1.16.8", Chart{
	Name:    binaryChart,
	Version: "v1.16.8",
	Digest:  "sha256:2a0df4fb7798c9d18e41be31c60e218f48aa19538e1cd34e33fe9faf9921bcae",
	Values:  mustChartValues(binaryV1_16_8Values),
	Overlays: map[string]string{
		providerS3:  "eks-starter.yaml",
		providerGCS: "gke-starter.yaml",
	},
	Architectures: []string{"amd64", "arm64"},
	Traps:         append(binaryV1Traps(), binaryV1_16Traps()...),
	Changes:       binaryV1_16Changes(),
}, Chart{
	Name:    coreChart,
	Version: "v1.16.8",
	Digest:  "sha256:4d59f56b6531dbc27d20c46820c34b4e9a678461b3056baaa2a4a3b38554b972",
	Values:  mustChartValues(coreV1_16_8Values),
	Overlays: map[string]string{
		providerS3:  "values-eks.yaml",
		providerGCS: "values-gcp.yaml",
	},
	Architectures: []string{"amd64", "arm64"},
	Traps:         append(coreV1Traps(), coreV1_16Traps()...),
	Changes:       coreV1_16Changes(),
})

// binaryV1Traps are what the flyte-binary charts of Flyte 1 have in common.
func binaryV1Traps() []Trap {
	return []Trap{
		{
			Path:  "configuration.database.postgres",
			Cause: "this is how Flyte 2 is given its database; the chart of Flyte 1 does not read it and would go on using the host 127.0.0.1",
			Fix:   "use WithDatabase, or the values below configuration.database",
			Error: true,
		},
		{
			Path:  "configuration.database.password",
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
			Cause: "the chart then renders no configuration at all: everything this deployment says about database, storage and plugins is dropped",
			Fix:   "use configuration.inlineConfigMap, which is merged over the rendered configuration",
		},
		{
			Path:  "configuration.externalSecretRef",
			Cause: "the chart then renders no configuration at all: everything this deployment says about database, storage and plugins is dropped",
			Fix:   "use configuration.inlineSecretRef, which is merged over the rendered configuration",
		},
		{
			Path:  "clusterResourceTemplates.externalConfigMap",
			Cause: "the chart then renders no resource templates at all: those of this deployment are dropped",
			Fix:   "use WithResourceTemplate, or clusterResourceTemplates.inlineConfigMap, which adds to them",
		},
		{
			Path:  "deployment.replicas",
			Cause: "the chart always runs one replica",
			Fix:   "leave it out; the chart flyte-core scales its components",
		},
		{
			Path:  "flyteadmin",
			Cause: "this is a value of the chart flyte-core; flyte-binary does not read it",
			Fix:   "put flyteadmin's own configuration below configuration.inline.flyteadmin",
		},
		{
			Path:  "configmap",
			Cause: "this is a value of the chart flyte-core; flyte-binary does not read it",
			Fix:   "put the configuration below configuration.inline",
		},
		{
			Path:  "secrets",
			Cause: "this is a value of the chart flyte-core; flyte-binary does not read it",
			Fix:   "keep secrets in a Secret object that configuration.inlineSecretRef names",
		},
	}
}
