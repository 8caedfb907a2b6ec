package flyte

import (
	"testing"

	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
)

// TestWhatTheGuideGetsWrong has, for each step of the deployment guide that
// does not work as it is written, how it comes out here. The numbers are those
// of a list of the guide's errors. What is not here cannot arise:
//
//	1       the sandbox is another mode
//	2, 3, 18-22, 36  no command is typed: charts are pinned, values files read out of
//	        them in one order, releases and namespaces named by the deployment
//	4, 5    ports are found by Services; see TestTheReportSaysHowToReachFlyte
//	6, 7    flyte-binary; see the tests of a single cluster
//	8-11, 14-16  policies and trust policies; see packages cloud/iam and cloud/eks
//	23      the control plane is installed once, with its credentials
//	24, 25  tokens are read as bytes and awaited; see TestATokenIsCheckedBeforeItIsUsed
//	28      weights are whole numbers; see TestWeightsComeOutAsTheShortestDecimalsThatAddUpToOne
//	30      endpoints come from the cloud or the cluster's handle; see TestFlyteadminIsGivenEachDataplane
//	31, 32  bindings name labels and projects that exist; see TestBadInputInPlanes
//	33      labels are written through the API; see package flyte/admin
//	38      authentication is off, and so is the published secret
//	41      see TestTurningExecutionOffIsRefusedWhileWorkflowsAreThere
func TestWhatTheGuideGetsWrong(t *testing.T) {
	forEachCoreChart(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		control, data := renderPlane(t, c, planes(), 0), renderPlane(t, c, planes(), 1)

		t.Run("12 the roles that are made are used", func(t *testing.T) {
			for _, name := range []string{"flyteadmin", "datacatalog"} {
				assert.Equal(t, controlRole, at(t, control.get("ServiceAccount", name), "metadata", "annotations", awsRoleAnnotation))
			}
			assert.Equal(t, dataRole, at(t, data.get("ServiceAccount", "flytepropeller"), "metadata", "annotations", awsRoleAnnotation))
		})
		t.Run("13 a data plane does not ask for the control plane's role", func(t *testing.T) {
			assert.NotContains(t, data.text(), "controlplane")
			assert.Nil(t, at(t, data.get("ServiceAccount", "flyteadmin"), "metadata", "annotations"))
		})
		t.Run("17 the catalog is plain text, at an address of its own", func(t *testing.T) {
			assert.Equal(t, map[string]any{"endpoint": "dns:///datacatalog.acme.internal:89", "insecure": true, "type": "datacatalog"},
				data.file("flyte-propeller-config", "catalog.yaml")["catalog-cache"])
			tls := planes()
			tls = tls.WithControlPlane(tls.control.WithCatalog(CatalogAt("datacatalog.acme.example:443").WithTLS()))
			assert.Equal(t, false, at(t, renderPlane(t, c, tls, 1).file("flyte-propeller-config", "catalog.yaml"), "catalog-cache", "insecure"))
			none := planes()
			none = none.WithControlPlane(none.control.WithCatalog(Catalog{}))
			assert.Equal(t, map[string]any{"type": "noop"}, renderPlane(t, c, none, 1).file("flyte-propeller-config", "catalog.yaml")["catalog-cache"])
		})
		t.Run("26 credentials are mounted where they are read", func(t *testing.T) {
			admin := control.get("Deployment", "flyteadmin")
			mount := map[string]any{"name": "cluster-credentials", "mountPath": "/var/run/credentials", "readOnly": true}
			assert.Contains(t, at(t, admin, "spec", "template", "spec", "containers", 0, "volumeMounts"), mount)
			assert.Contains(t, at(t, admin, "spec", "template", "spec", "initContainers", 2, "volumeMounts"), mount)
			assert.Contains(t, at(t, admin, "spec", "template", "spec", "volumes"),
				map[string]any{"name": "cluster-credentials", "secret": map[string]any{"secretName": "cluster-credentials"}})
		})
		t.Run("27 a cluster's auth has the fields that flyteadmin reads", func(t *testing.T) {
			assert.Equal(t, map[string]any{
				"name": "dp-1", "endpoint": "https://dp-1.example", "enabled": true,
				"auth": map[string]any{"tokenPath": "/var/run/credentials/dp-1_token", "certPath": "/var/run/credentials/dp-1_cacert"},
			}, at(t, control.file("flyte-admin-clusters-config", "clusters.yaml"), "clusters", "clusterConfigs", 0))
		})
		t.Run("29 each data plane has its own endpoint and credentials", func(t *testing.T) {
			second := at(t, control.file("flyte-admin-clusters-config", "clusters.yaml"), "clusters", "clusterConfigs", 1)
			assert.Equal(t, "https://dp-2.example", at(t, second, "endpoint"))
			assert.Equal(t, "/var/run/credentials/dp-2_token", at(t, second, "auth", "tokenPath"))
		})
		t.Run("34 a control plane that runs workflows has a label of its own", func(t *testing.T) {
			d := planes()
			d = d.WithControlPlane(d.control.WithExecution("controlplane")).WithLabelMap(d.labels.WithLabel("near", Weight("controlplane", 1)))
			both := renderPlane(t, c, d, 0)
			clusters := both.file("flyte-admin-clusters-config", "clusters.yaml")
			assert.Equal(t, map[string]any{"name": "controlplane", "enabled": true, "inCluster": true}, at(t, clusters, "clusters", "clusterConfigs", 0))
			assert.Equal(t, []any{map[string]any{"id": "controlplane", "weight": int64(1)}}, at(t, clusters, "clusters", "labelClusterMap", "near"))
			assert.Equal(t, "cpu", at(t, clusters, "clusters", "defaultExecutionLabel"))
			command := at(t, both.get("Deployment", "flytepropeller"), "spec", "template", "spec", "containers", 0, "command")
			assert.Contains(t, command, "controlplane")
			both.get("Deployment", "flyte-pod-webhook")
			both.get("CustomResourceDefinition", crd)
		})
		t.Run("35 every domain has user code's identity, in the form that keeps its case", func(t *testing.T) {
			role := []any{map[string]any{"defaultIamRole": map[string]any{"value": dataRole}}}
			want := []any{map[string]any{"development": role}, map[string]any{"staging": role}, map[string]any{"production": role}}
			for _, configMap := range []string{"flyte-admin-base-config", "flyte-clusterresourcesync-config"} {
				assert.Equal(t, want, at(t, control.file(configMap, "cluster_resources.yaml"), "cluster_resources", "customData"), configMap)
			}
			text, _ := at(t, control.get("ConfigMap", "clusterresource-template"), "data", "002_serviceaccount.yaml").(string)
			assert.Contains(t, text, "eks.amazonaws.com/role-arn: '{{ defaultIamRole }}'")
		})
		t.Run("37 keys, paths and names follow from one name", func(t *testing.T) {
			d := planes().WithDataplanes(NewDataplane("Paris_2.a", "three"))
			configs := at(t, renderPlane(t, c, d, 0).file("flyte-admin-clusters-config", "clusters.yaml"), "clusters", "clusterConfigs", 2)
			assert.Equal(t, "/var/run/credentials/Paris_2.a_token", at(t, configs, "auth", "tokenPath"))
			assert.Equal(t, "dataplanes/paris_2.a", d.views()[3].id)
		})
		t.Run("39 a data plane has nothing of the control plane's", func(t *testing.T) {
			assert.ElementsMatch(t, []string{
				"ServiceAccount flyteadmin", "ServiceAccount flytepropeller", "ServiceAccount flyte-pod-webhook",
				"Secret flyte-pod-webhook", "ConfigMap flyte-propeller-config", "CustomResourceDefinition flyteworkflows.flyte.lyft.com",
				"ClusterRole flyte-flyteadmin", "ClusterRole flyte-flytepropeller", "ClusterRole flyte-flyte-pod-webhook",
				"ClusterRoleBinding flyte-flyteadmin-binding", "ClusterRoleBinding flyte-flytepropeller", "ClusterRoleBinding flyte-flyte-pod-webhook",
				"Service flyte-pod-webhook", "Deployment flytepropeller", "Deployment flyte-pod-webhook",
			}, data.kinds())
		})
		t.Run("40 a data plane calls itself as flyteadmin does", func(t *testing.T) {
			command, _ := at(t, data.get("Deployment", "flytepropeller"), "spec", "template", "spec", "containers", 0, "command").([]any)
			assert.Equal(t, []any{"--propeller.cluster-id", "dp-1"}, command[len(command)-2:])
			assert.Equal(t, map[string]any{"endpoint": "dns:///flyte.acme.example:443", "insecure": false,
				"clientId": "flytepropeller", "clientSecretLocation": "/etc/secrets/client_secret"},
				data.file("flyte-propeller-config", "admin.yaml")["admin"])
		})
	})
}
