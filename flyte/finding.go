package flyte

// The codes of the findings that this package makes. They are stable, so that
// programs can tell findings apart.
const (
	// CodePlaceholder: a rendered object holds a placeholder of the chart's values.
	CodePlaceholder = "placeholder-left"
	// CodeUnreadValue: a raw value is read by no template.
	CodeUnreadValue = "value-unread"
	// CodeTrap: a raw value does not do what it seems to.
	CodeTrap = "value-trap"
	// CodeResourceTemplate: flyteadmin would trip over a resource template.
	CodeResourceTemplate = "resource-template"
	// CodeChartUnpinned: the chart could not be compared with its published digest.
	CodeChartUnpinned = "chart-unpinned"
	// CodeOtherFlyte: another Flyte is, or may be, in the way.
	CodeOtherFlyte = "other-flyte"
	// CodeOtherChart: the release is of another chart, or of another Flyte.
	CodeOtherChart = "release-of-other-chart"
	// CodeDowngrade: the release is of a newer chart.
	CodeDowngrade = "downgrade"
	// CodeVersionChange: something is different in the version that is to come.
	CodeVersionChange = "version-change"
	// CodeBackup: the database should be saved first.
	CodeBackup = "database-backup"
	// CodeFixedField: a field would be changed that cannot be.
	CodeFixedField = "fixed-field"
	// CodeOutage: Flyte cannot be used for a while.
	CodeOutage = "outage"
	// CodeVersionSkew: planes of versions that are far apart work together.
	CodeVersionSkew = "version-skew"
	// CodeDeletes: the upgrade deletes objects that hold data.
	CodeDeletes = "upgrade-deletes"
	// CodeKept: something that is no longer wanted stays.
	CodeKept = "kept"
	// CodeServerVersion: the API server is too old.
	CodeServerVersion = "server-version"
	// CodeDenied: a permission is missing.
	CodeDenied = "permission-denied"
	// CodeNodes: no node can run Flyte.
	CodeNodes = "no-usable-node"
	// CodeSecretMissing: a Secret that is referred to, or its key, does not exist.
	CodeSecretMissing = "secret-missing"
	// CodeNotInstalled: the release does not exist.
	CodeNotInstalled = "not-installed"
	// CodeReleaseStatus: the release is not deployed.
	CodeReleaseStatus = "release-status"
	// CodeWorkload: a workload is not ready.
	CodeWorkload = "workload-not-ready"
	// CodeService: a Service or one of its ports is missing.
	CodeService = "service-missing"
	// CodePlugin: the operator of a plugin is missing.
	CodePlugin = "plugin-operator"
	// CodeMonitoring: the Prometheus operator is missing.
	CodeMonitoring = "monitoring-operator"
	// CodeIssuer: an identity provider is not what the deployment says.
	CodeIssuer = "identity-provider"
	// CodeAuthorization: who is logged in may do everything.
	CodeAuthorization = "no-authorization"
	// CodeRedirectURI: what is to be registered at the identity provider.
	CodeRedirectURI = "redirect-uri"
	// CodeIngressClass: the class of the ingress is missing, or another controller's.
	CodeIngressClass = "ingress-class"
	// CodeIngressController: the controller of the ingress does not run.
	CodeIngressController = "ingress-controller"
	// CodeIngressAddress: an Ingress has no address.
	CodeIngressAddress = "ingress-address"
	// CodeIngressGRPC: whether gRPC gets through the ingress.
	CodeIngressGRPC = "ingress-grpc"
	// CodeDNS: the host does not lead to the ingress.
	CodeDNS = "dns"
	// CodeWebhook: the webhook that gives tasks their secrets is not registered.
	CodeWebhook = "webhook-missing"
	// CodeHealth: Flyte's health check.
	CodeHealth = "health"
	// CodeEndpoint: the control plane may not reach a data plane's API server.
	CodeEndpoint = "endpoint-unreachable"
	// CodeToken: a data plane does not take flyteadmin's token.
	CodeToken = "token-refused"
	// CodeOtherLabel: somebody else bound a label in flyteadmin.
	CodeOtherLabel = "other-label"
	// CodeTooFewNodes: pods that must not share a node would wait for one.
	CodeTooFewNodes = "too-few-nodes"
	// CodeWeights: a label's weights do not quite add up.
	CodeWeights = "weights"
	// CodePlacement: where executions run.
	CodePlacement = "placement"
	// CodeNamespaces: a cluster lacks projects' namespaces.
	CodeNamespaces = "namespaces-missing"
	// CodeCertificate: a certificate has ended, or is about to.
	CodeCertificate = "certificate"
	// CodeDiscovery: something of a Flyte that is there could not be read.
	CodeDiscovery = "discovery"
	// CodeAccess: what Flyte's own pods may do.
	CodeAccess = "access"
	// CodeRunning: executions would lose what ends them.
	CodeRunning = "executions-running"
	// CodeNoCatalog: data planes run without a cache.
	CodeNoCatalog = "no-catalog"
	// CodeEngine: no container engine, or one that a sandbox cannot run on.
	CodeEngine = "container-engine"
	// CodePortInUse: somebody has a port that a sandbox needs.
	CodePortInUse = "port-in-use"
	// CodeTestsOnly: what is installed is for tests only.
	CodeTestsOnly = "tests-only"
	// CodeUnreachable: nobody answers where a hosted Flyte should be.
	CodeUnreachable = "unreachable"
	// CodeNoDiscovery: what answers does not tell how to log in.
	CodeNoDiscovery = "no-discovery"
	// CodeLogin: a login cannot be had, or is refused.
	CodeLogin = "login"
	// CodeHostedVersion: which release a hosted Flyte is.
	CodeHostedVersion = "hosted-version"
	// CodeNoLogin: whoever reaches Flyte may use it.
	CodeNoLogin = "no-login"
	// CodeImageUnpinned: which image runs is decided when a node pulls it.
	CodeImageUnpinned = "image-unpinned"
	// CodeMove: what a deployment would need for another release.
	CodeMove = "move"
)
