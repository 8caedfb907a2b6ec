package flyte

import (
	"fmt"
	"strings"

	"github.com/planewright/planewright/kube"
)

// controlRecipe is the control plane's release of flyte-core.
type controlRecipe struct{ core }

func (c controlRecipe) overlays(facts Chart) []string {
	list := c.cloudOverlay(facts)
	if c.control.executes == "" {
		list = append(list, "values-controlplane.yaml")
	}
	return list
}

func (c controlRecipe) typed(overlay, defaults kube.Values, in inputs) kube.Values {
	v := &layer{values: kube.Values{}}
	c.setCommon(v, overlay, defaults)
	c.setDatabase(v)
	c.control.ingress.setCore(v, c.control.host, overlay, defaults)
	if in.host == hostElsewhere {
		v.set("common.ingress.enabled", false)
	}
	account(v, "flyteadmin.serviceAccount", c.control.identity, overlay)
	account(v, "datacatalog.serviceAccount", c.control.identity, overlay)
	account(v, "flytepropeller.serviceAccount", c.control.identity, overlay)
	if c.control.executes != "" && len(c.dataplanes) > 0 {
		v.set("flytepropeller.clusterName", c.control.executes)
	}
	v.set("flyteadmin.initialProjects", anyList(c.projectNames()))
	v.set("configmap.adminServer.auth.authorizedUris", c.authorizedURIs())
	c.setAuth(v)
	c.monitoring.setCore(v, defaults, "flyteadmin", "flytescheduler", "datacatalog")
	c.setClusters(v, in)
	c.setResources(v)
	annotate(v, map[string]string{
		databaseRevisionAnnotation: in.database,
		storageRevisionAnnotation:  in.storage,
	}, "datacatalog")
	annotate(v, map[string]string{
		databaseRevisionAnnotation: in.database,
		storageRevisionAnnotation:  in.storage,
		authRevisionAnnotation:     in.auth,
	}, "flytescheduler")
	annotate(v, map[string]string{
		databaseRevisionAnnotation:    in.database,
		storageRevisionAnnotation:     in.storage,
		authRevisionAnnotation:        in.auth,
		credentialsRevisionAnnotation: in.credentials,
	}, "flyteadmin", "cluster_resource_manager")
	if c.control.executes != "" {
		c.setPlugins(v, c.plugins, defaults)
		c.monitoring.setCore(v, defaults, "flytepropeller")
		annotate(v, map[string]string{storageRevisionAnnotation: in.storage, authRevisionAnnotation: in.auth}, "flytepropeller")
	}
	return v.values
}

func (c controlRecipe) setDatabase(v *layer) {
	db := c.database
	database := map[string]any{
		"host":     db.host,
		"port":     int64(db.port),
		"dbname":   db.name,
		"username": db.user,
		"options":  db.optionsAt(coreDatabaseMount),
	}
	secret := ""
	if ref, ok := db.password.InCluster(); ok {
		secret = ref.SecretName
		database["passwordPath"] = coreDatabaseMount + "/" + ref.Key
	} else if !db.password.IsZero() {
		database["passwordPath"] = coreDatabaseMount + "/" + corePasswordKey
	}
	if secret == "" {
		secret = c.databaseSecretName()
	}
	if _, ok := database["passwordPath"]; !ok {
		database["passwordPath"] = nil
	}
	v.set("db.admin.database", database)
	v.set("db.datacatalog.database", database)
	v.set("common.databaseSecret.name", secret)
	v.set("common.databaseSecret.secretManifest", nil)
}

// authorizedURIs are where flyteadmin is, for whoever authenticates there.
func (c controlRecipe) authorizedURIs() []any {
	var list []any
	if c.control.host != "" {
		list = append(list, "https://"+c.control.ingress.at(c.control.host))
	}
	return append(list, "http://flyteadmin:80", fmt.Sprintf("http://flyteadmin.%s.svc.cluster.local:80", c.namespace))
}

// setClusters gives flyteadmin the data planes, with their credentials.
func (c controlRecipe) setClusters(v *layer, in inputs) {
	for key, value := range c.clusterValues(in.endpoints) {
		v.set("configmap.clusters."+key, value)
	}
	var volumes, mounts []any
	for _, item := range c.needed() {
		switch item.path {
		case adminVolumes:
			volumes = append(volumes, item.item)
		case adminVolumeMounts:
			mounts = append(mounts, item.item)
		}
	}
	if volumes != nil {
		v.set(adminVolumes, volumes)
		v.set(adminVolumeMounts, mounts)
	}
}

// The lists of flyteadmin's volumes.
const (
	adminVolumes      = "flyteadmin.additionalVolumes"
	adminVolumeMounts = "flyteadmin.additionalVolumeMounts"
)

func credentialsVolume() map[string]any {
	return map[string]any{"name": credentialsSecret, "secret": map[string]any{"secretName": credentialsSecret}}
}

func credentialsVolumeMount() map[string]any {
	return map[string]any{"name": credentialsSecret, "mountPath": credentialsMount, "readOnly": true}
}

func (c controlRecipe) needed() []neededItem {
	var list []neededItem
	if len(c.dataplanes) > 0 {
		list = append(list,
			neededItem{adminVolumes, credentialsSecret, credentialsVolume()},
			neededItem{adminVolumeMounts, credentialsSecret, credentialsVolumeMount()})
	}
	if !c.auth.IsZero() {
		list = append(list,
			neededItem{adminVolumes, coreAuthVolume, c.auth.coreVolume()},
			neededItem{adminVolumeMounts, coreAuthVolume, coreAuthVolumeMount()})
	}
	return list
}

// setResources sets what flyteadmin makes in projects' namespaces. Helm
// replaces lists, so the chart's own templates, and its quotas, are gone.
func (c controlRecipe) setResources(v *layer) {
	v.set("cluster_resource_manager.config.cluster_resources.customData", c.customDataOf())
	list := []any{map[string]any{"key": strings.TrimSuffix(namespaceTemplate, ".yaml"), "value": namespaceTemplateText}}
	if c.hasUserIdentity() {
		list = append(list, map[string]any{"key": strings.TrimSuffix(accountTemplate, ".yaml"), "value": c.accountTemplateText()})
	}
	for _, t := range c.Deployment.templates {
		item := map[string]any{"key": strings.TrimSuffix(t.name, ".yaml"), "value": t.text}
		if t.name == namespaceTemplate {
			list[0] = item
			continue
		}
		list = append(list, item)
	}
	v.set("cluster_resource_manager.templates", list)
}

// customDataOf is customData, and an empty list rather than none.
func (c controlRecipe) customDataOf() []any {
	if data := c.customData(); data != nil {
		return data
	}
	return []any{}
}

func (c controlRecipe) doors() []door {
	list := []door{{doorHTTP, "flyteadmin", "http"}, {doorGRPC, "flyteadmin", "grpc"}}
	if c.control.executes != "" {
		list = append(list, door{doorWebhook, podWebhook, "https"})
	}
	return list
}

func (c controlRecipe) workload() string { return "flyteadmin" }

func (c controlRecipe) executes() bool { return c.control.executes != "" }

func (c controlRecipe) webhook() string {
	if c.control.executes == "" {
		return ""
	}
	return podWebhook
}

func (c controlRecipe) leftovers() []leftover {
	if c.control.executes == "" {
		return nil
	}
	return c.executionLeftovers()
}

// executionLeftovers are what Flyte makes in a cluster that runs workflows.
func (c core) executionLeftovers() []leftover {
	return append([]leftover{
		{kube.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: crd},
			"deleting it deletes every workflow execution with it"},
		{webhookRef(podWebhook),
			"Flyte made it; without Flyte it refuses pods that are labelled inject-flyte-secrets=true, so delete it if there are any"},
	}, c.projectNamespaces()...)
}

// podWebhook is what the webhook's objects are called.
const podWebhook = "flyte-pod-webhook"
