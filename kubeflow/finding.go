package kubeflow

// The codes of the findings that this package makes. They are stable, so that
// programs can tell findings apart.
const (
	// CodeNoOLM: the cluster has no Operator Lifecycle Manager.
	CodeNoOLM = "olm-missing"
	// CodeNotOffered: the catalog does not offer a package, or not at its pin.
	CodeNotOffered = "package-not-offered"
	// CodePinMissing: the release does not say which version to install.
	CodePinMissing = "pin-missing"
	// CodeCatalog: the catalog does not answer.
	CodeCatalog = "catalog-unhealthy"
	// CodeNewerOffered: the catalog offers a newer version than the pin.
	CodeNewerOffered = "newer-version-offered"
	// CodeSubscription: somebody else's Subscription differs from what the stack would make.
	CodeSubscription = "subscription-differs"
	// CodeOrphanCSV: an operator is there that no Subscription stands for.
	CodeOrphanCSV = "operator-without-subscription"
	// CodeOperator: an operator is not at its pin, or not working.
	CodeOperator = "operator"
	// CodeUnknownKey: a custom resource has no such key.
	CodeUnknownKey = "key-unknown"
	// CodePlatform: the platform, or a part of it that Kubeflow needs, is missing or too old.
	CodePlatform = "platform"
	// CodePlatformURL: the host is not among the platform's access URLs.
	CodePlatformURL = "platform-url"
	// CodeCertificate: the certificate of the platform's login.
	CodeCertificate = "login-certificate"
	// CodeMesh: the service mesh is not as the stack needs it.
	CodeMesh = "mesh"
	// CodeMeshDeprecated: service mesh version 1.
	CodeMeshDeprecated = "mesh-v1-deprecated"
	// CodeMeshWebhook: a webhook of service mesh version 1 is in the way.
	CodeMeshWebhook = "mesh-v1-webhook"
	// CodeKServe: KServe is not ready.
	CodeKServe = "kserve"
	// CodeLeaderWorkerSet: the LeaderWorkerSet operator is not ready.
	CodeLeaderWorkerSet = "leaderworkerset"
	// CodeJobSet: JobSet is there already, by another operator.
	CodeJobSet = "jobset-twice"
	// CodeOldPlugin: a cluster plugin of an older release is still there.
	CodeOldPlugin = "old-plugin"
	// CodeOtherPipelines: another operator of Kubeflow Pipelines is there.
	CodeOtherPipelines = "other-pipelines"
	// CodeArchitecture: the nodes' architecture is not supported.
	CodeArchitecture = "node-architecture"
	// CodeServerVersion: the version of Kubernetes is not supported.
	CodeServerVersion = "server-version"
	// CodeKueue: an installed Kueue and the trainer do not fit.
	CodeKueue = "kueue"
	// CodeStorageClass: there is no storage class to use.
	CodeStorageClass = "storage-class"
	// CodeDenied: a permission is missing.
	CodeDenied = "permission-denied"
	// CodeLetterCase: a person's name has upper-case letters.
	CodeLetterCase = "letter-case"
	// CodeInvisible: a binding works, and the dashboard does not show it.
	CodeInvisible = "binding-invisible"
	// CodePrincipal: the mesh's gateway is not the one that bindings let in.
	CodePrincipal = "gateway-principal"
	// CodeBinding: one half of a binding is missing.
	CodeBinding = "binding"
	// CodeProfile: a profile is not complete.
	CodeProfile = "profile"
	// CodeSidecar: two labels of a namespace ask for two meshes.
	CodeSidecar = "sidecar-labels"
	// CodeWorkload: a workload is not ready.
	CodeWorkload = "workload-not-ready"
	// CodeGateway: the gateway has no address.
	CodeGateway = "gateway"
	// CodeDNS: the host's name does not lead to the gateway.
	CodeDNS = "dns"
	// CodeLogin: the host's page does not lead to the login.
	CodeLogin = "login"
	// CodeInUse: something cannot be taken away, because others need it.
	CodeInUse = "in-use"
	// CodeKept: something that is no longer wanted stays.
	CodeKept = "kept"
)
