package flyte

import "github.com/planewright/planewright/kube"

// dataRecipe is a data plane's release of flyte-core.
type dataRecipe struct {
	core
	plane Dataplane
}

func (r dataRecipe) overlays(facts Chart) []string {
	return append(r.cloudOverlay(facts), "values-dataplane.yaml")
}

func (r dataRecipe) typed(overlay, defaults kube.Values, in inputs) kube.Values {
	v := &layer{values: kube.Values{}}
	r.setCommon(v, overlay, defaults)
	// What the overlay leaves on, for services that are not here.
	Ingress{}.setCore(v, "", overlay, defaults)
	v.set("common.databaseSecret.name", "")
	v.set("common.databaseSecret.secretManifest", nil)
	v.set("db", nil)
	account(v, "flyteadmin.serviceAccount", Identity{}, overlay)
	account(v, "datacatalog.serviceAccount", Identity{}, overlay)
	account(v, "flytepropeller.serviceAccount", r.plane.identity, overlay)
	// flyteadmin refuses events of a cluster that calls itself by another name.
	v.set("flytepropeller.clusterName", r.plane.name)
	api := r.control.apiOf()
	v.set("configmap.admin.admin.endpoint", api.endpoint())
	v.set("configmap.admin.admin.insecure", api.plaintext)
	v.set("configmap.catalog.catalog-cache", r.catalogValues(in))
	r.monitoring.setCore(v, defaults, "flytepropeller")
	r.setPlugins(v, mergePlugins(r.plugins, r.plane.plugins), defaults)
	annotate(v, map[string]string{storageRevisionAnnotation: in.storage, authRevisionAnnotation: in.auth}, "flytepropeller")
	return v.values
}

// catalogValues say where cached results are looked up.
func (r dataRecipe) catalogValues(in inputs) map[string]any {
	catalog := r.control.catalog
	address := catalog.address
	if catalog.balanced {
		address = in.catalog
	}
	if address == "" {
		return map[string]any{"type": "noop", "endpoint": nil, "insecure": nil}
	}
	return map[string]any{"type": "datacatalog", "endpoint": "dns:///" + address, "insecure": !catalog.tls}
}

func (r dataRecipe) doors() []door { return []door{{doorWebhook, podWebhook, "https"}} }

func (r dataRecipe) entrance() (host string, ingress Ingress) { return "", Ingress{} }

func (r dataRecipe) workload() string { return "" }

func (r dataRecipe) executes() bool { return true }

func (r dataRecipe) webhook() string { return podWebhook }

func (r dataRecipe) leftovers() []leftover { return r.executionLeftovers() }
