package flyte

import _ "embed"

//go:embed charts/flyte-binary-v1.15.3.tsv
var binaryV1_15_3Values string

//go:embed charts/flyte-core-v1.15.3.tsv
var coreV1_15_3Values string

// V1_15_3 is Flyte v1.15.3, the last release of Flyte 1.15: to take over what
// runs it, and to upgrade that to [V1_16_8]. Its charts are published at
// https://flyteorg.github.io/flyte.
//
// In planes it takes no [Storage.WithKeys]: its chart flyte-core has no way to
// read them from a Secret.
//
//nolint:revive // The underscores stand for the dots of the release's name.
var V1_15_3 = NewVersion("v1.15.3", Chart{
	Name:    binaryChart,
	Version: "v1.15.3",
	Digest:  "sha256:e793cb89247f4c615bc951691d768550e153026c72092e32a062aea0c8d50b24",
	Values:  mustChartValues(binaryV1_15_3Values),
	Overlays: map[string]string{
		providerS3:  "eks-starter.yaml",
		providerGCS: "gke-starter.yaml",
	},
	Architectures: []string{"amd64", "arm64"},
	Traps: append(binaryV1Traps(),
		notYet("flyteconnector", "flyteagent"),
		notYet("configuration.connectorService", "configuration.agentService")),
}, Chart{
	Name:    coreChart,
	Version: "v1.15.3",
	Digest:  "sha256:3bc5338163272a46b01b08d7c66ae2aeaac2359da1016a75ed2775d3a430721e",
	Values:  mustChartValues(coreV1_15_3Values),
	Overlays: map[string]string{
		providerS3:  "values-eks.yaml",
		providerGCS: "values-gcp.yaml",
	},
	Architectures: []string{"amd64", "arm64"},
	Traps: append(coreV1Traps(),
		notYet("flyteconnector", "flyteagent"),
		notYet("flyteadmin.serviceAccount.rbac", "flyteadmin.serviceAccount.createClusterRole"),
		notYet("flyteadmin.serviceAccount.rbacRules", "flyteadmin.serviceAccount.clusterRole")),
})

// notYet is the trap of a value that has its name since v1.16.0.
func notYet(path, until string) Trap {
	return Trap{Path: path, Cause: "it has this name since v1.16.0; before, it is called " + until, Fix: "use " + until}
}
