package flyte

import (
	"fmt"
	"strings"

	"github.com/planewright/planewright/kube"
)

// coreChart is the name of the chart of a deployment in planes.
const coreChart = "flyte-core"

// core is what the releases of the chart flyte-core have in common.
type core struct {
	Deployment
	pods pods
}

func (c core) chart() string { return coreChart }

// cloudOverlay is the values file for the storage's cloud.
func (c core) cloudOverlay(facts Chart) []string {
	if name := c.overlayName(facts); name != "" {
		return []string{name}
	}
	return nil
}

func (c core) needed() []neededItem { return nil }

func (c core) templates(merged kube.Values) (templates map[string]any, custom, everywhere string) {
	templates = map[string]any{}
	value, _ := merged.Get("cluster_resource_manager.templates")
	list, _ := value.([]any)
	for _, item := range list {
		m, _ := asMap(item)
		if key, ok := m["key"].(string); ok {
			templates[key+".yaml"] = m["value"]
		}
	}
	return templates, "cluster_resource_manager.config.cluster_resources.customData", "cluster_resource_manager.config.cluster_resources.templateData"
}

func (c core) domainList() string { return "configmap.domain.domains" }

// setCommon sets what every release of flyte-core has.
func (c core) setCommon(v *layer, overlay, defaults kube.Values) {
	// The overlays' own settings are templates over these placeholders; all
	// that reads them is set here.
	v.set("userSettings", nil)
	v.set("Release", nil) // a slip in values-gcp.yaml
	c.setStorage(v)
	v.set("configmap.core.propeller.rawoutput-prefix", c.storage.scheme()+"://"+c.storage.UserDataBucket()+"/")
	v.set("configmap.core.propeller.leader-election.lock-config-map.namespace", c.namespace)
	v.set("configmap.task_logs.plugins.logs", c.logLinks.coreValues(overlay))
	v.set("configmap.task_logs.plugins.k8s-array", nil)
	v.set("configmap.namespace_config.namespace_mapping.template", c.namespaceMapping())
	v.set("configmap.domain.domains", c.domainValues())
	c.setMachineLogin(v)
	v.set("workflow_notifications.config", nil)
	for _, component := range c.pods.sorted() {
		c.pods[component].set(v, component, overlay)
	}
	fitLimits(v, overlay, defaults)
	c.setImages(v, defaults)
}

func (c core) setStorage(v *layer) {
	s := c.storage
	v.set("storage.enableMultiContainer", s.UserDataBucket() != s.bucket)
	v.set("storage.bucketName", s.bucket)
	switch {
	case s.keyed():
		// All of the storage's configuration is in a Secret.
		v.set("storage.secretName", c.storageSecretName())
		v.set("storage.type", "s3")
		v.set("storage.s3.region", s.region)
	case s.provider == providerGCS:
		v.set("storage.type", "gcs")
		v.set("storage.gcs", map[string]any{"projectId": s.project})
	default:
		v.set("storage.type", "s3")
		v.set("storage.s3.region", s.region)
		if s.compatible {
			v.set("storage.s3.endpoint", s.endpoint)
		}
	}
}

// keyedFile is the whole of the storage's configuration, as flyte-core's own
// templates write it where there are no keys.
func (s Storage) keyedFile(keys map[string]any) kube.Values {
	config := map[string]any{"auth_type": "accesskey", "region": s.region}
	for key, value := range keys {
		config[key] = value
	}
	if s.compatible {
		config["endpoint"] = strings.TrimSuffix(s.endpoint, "/")
		config["disable_ssl"] = strings.HasPrefix(s.endpoint, "http://")
	}
	return kube.Values{"storage": map[string]any{
		"type":                  "stow",
		"container":             s.bucket,
		"enable-multicontainer": s.UserDataBucket() != s.bucket,
		"stow":                  map[string]any{"kind": "s3", "config": config},
		"limits":                map[string]any{"maxDownloadMBs": int64(10)},
	}}
}

// scheme is that of the bucket's URLs.
func (s Storage) scheme() string {
	if s.provider == providerGCS {
		return "gs"
	}
	return "s3"
}

// coreValues are the links as flyte-core has them: what an overlay says with
// placeholders is taken away.
func (l LogLinks) coreValues(overlay kube.Values) map[string]any {
	values := cleared("configmap.task_logs.plugins.logs", overlay)
	values["kubernetes-enabled"] = false
	for _, kind := range []string{logsCloudWatch, logsStackdriver} {
		values[kind+"-enabled"] = kind == l.kind
		if kind == l.kind {
			values[kind+"-template-uri"] = l.uri()
		}
	}
	return values
}

// account sets the annotations of a ServiceAccount to those of an identity,
// and nothing else. What an overlay says with placeholders is taken away.
func account(v *layer, path string, identity Identity, overlay kube.Values) {
	annotations := cleared(path+".annotations", overlay)
	for key, value := range identity.annotations {
		annotations[key] = value
	}
	v.set(path+".annotations", annotations)
}

// coreImages are the values that name images, by what they are of.
func coreImages() []string {
	return []string{"flyteadmin", "datacatalog", "flytescheduler", "flytepropeller", "flyteconsole"}
}

func (c core) setImages(v *layer, defaults kube.Values) {
	if c.registry != "" {
		for _, of := range coreImages() {
			value, _ := defaults.Get(of + ".image.repository")
			if repository, ok := value.(string); ok && repository != "" {
				v.set(of+".image.repository", c.registry+"/"+withoutRegistry(repository))
			}
		}
		copilot := "configmap.copilot.plugins.k8s.co-pilot.image"
		if value, _ := defaults.Get(copilot); value != nil {
			v.set(copilot, c.registry+"/"+withoutRegistry(fmt.Sprint(value)))
		}
	}
	if len(c.pullSecrets) == 0 {
		return
	}
	var list []any
	for _, name := range c.pullSecrets {
		list = append(list, map[string]any{"name": name})
	}
	for _, of := range []string{"flyteadmin.serviceAccount", "datacatalog.serviceAccount", "flytescheduler.serviceAccount", "flytepropeller.serviceAccount", "webhook.serviceAccount", "flyteconsole"} {
		v.set(of+".imagePullSecrets", list)
	}
}

// annotate sets annotations of pods, so that they are replaced when a Secret changes.
func annotate(v *layer, annotations map[string]string, components ...string) {
	set := map[string]any{}
	for key, revision := range annotations {
		if revision != "" {
			set[key] = revision
		}
	}
	if len(set) == 0 {
		return
	}
	for _, component := range components {
		v.set(component+".podAnnotations", set)
	}
}
