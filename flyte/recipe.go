package flyte

import (
	"github.com/planewright/planewright/kube"
)

// recipe is what is particular to a release: its chart, and its part in the deployment.
type recipe interface {
	// chart is the chart's name.
	chart() string
	// overlays are the values files of the chart to start from, laid over
	// each other in this order.
	overlays(facts Chart) []string
	// typed are the values that the deployment sets itself, over those of the
	// chart's overlays. What is null in them takes away a value of an overlay.
	typed(overlay, defaults kube.Values, in inputs) kube.Values
	// needed are the entries of lists that raw values must not drop.
	needed() []neededItem
	// templates are the resource templates by name, and the paths of their
	// variables, as they come out of all layers.
	templates(merged kube.Values) (templates map[string]any, custom, everywhere string)
	// domainList is where the domains are.
	domainList() string
	// doors are the ports of the release's Services that matter.
	doors() []door
	// entrance is the host that the release serves and what leads to it.
	entrance() (host string, ingress Ingress)
	// workload is the Deployment that answers for Flyte, empty if none does.
	workload() string
	// executes reports whether the release runs workflows.
	executes() bool
	// webhook is the name of the webhook's registration, empty if there is none.
	webhook() string
	// leftovers are what Flyte makes itself while it runs.
	leftovers() []leftover
}

// inputs are what a release's values need and the deployment does not say.
type inputs struct {
	// database, storage, auth and credentials are the revisions of the Secrets that
	// pods must have seen.
	database, storage, auth, credentials string
	// endpoints are the data planes' API servers, by the data planes' names.
	endpoints map[string]string
	// catalog is the address of the catalog's load balancer.
	catalog string
	// host is hostElsewhere as long as a predecessor has the host.
	host string
}

// door is a port of a Service.
type door struct {
	// use is what it is for, one of the constants below.
	use string
	// service is the Service's name; empty is any of the release.
	service, port string
}

const (
	doorHTTP    = "http"
	doorGRPC    = "grpc"
	doorWebhook = "webhook"
)

// binary is the one release of a single-cluster deployment, of flyte-binary.
type binary struct{ Deployment }

func (b binary) chart() string { return binaryChart }

func (b binary) overlays(facts Chart) []string {
	if name := b.overlayName(facts); name != "" {
		return []string{name}
	}
	return nil
}

func (b binary) typed(overlay, defaults kube.Values, in inputs) kube.Values {
	return b.typedValues(overlay, defaults, revisions{in.database, in.storage, in.auth})
}

func (b binary) needed() []neededItem { return b.neededItems() }

func (b binary) templates(merged kube.Values) (templates map[string]any, custom, everywhere string) {
	value, _ := merged.Get("clusterResourceTemplates.inline")
	templates, _ = asMap(value)
	return templates, "configuration.inline.cluster_resources.customData", "configuration.inline.cluster_resources.templateData"
}

func (b binary) domainList() string { return "configuration.inline.domains" }

func (b binary) doors() []door {
	return []door{{doorHTTP, "", "http"}, {doorGRPC, "", "grpc"}, {doorWebhook, "", "webhook"}}
}

func (b binary) workload() string { return b.fullname() }

func (b binary) executes() bool { return true }

func (b binary) webhook() string { return b.fullname() + "-webhook" }

func (b binary) leftovers() []leftover {
	name := b.fullname()
	return append([]leftover{
		{kube.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: crd},
			"Flyte made it; deleting it deletes every workflow execution with it"},
		{webhookRef(name + "-webhook"),
			"Flyte made it; without Flyte it refuses pods that are labelled inject-flyte-secrets=true, so delete it if there are any"},
		{kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: b.namespace, Name: name + "-webhook-secret"},
			"Flyte made it; it holds the webhook's certificate"},
	}, b.projectNamespaces()...)
}

// projectNamespaces are the namespaces that flyteadmin makes.
func (d Deployment) projectNamespaces() []leftover {
	var list []leftover
	seen := map[string]bool{}
	for _, project := range d.projectNames() {
		for _, domain := range d.Domains() {
			if name := d.projectNamespace(project, domain); !seen[name] {
				seen[name] = true
				list = append(list, leftover{kube.Ref{APIVersion: "v1", Kind: "Namespace", Name: name},
					"Flyte made it; it holds user code's pods and data"})
			}
		}
	}
	return list
}

func webhookRef(name string) kube.Ref {
	return kube.Ref{APIVersion: "admissionregistration.k8s.io/v1", Kind: "MutatingWebhookConfiguration", Name: name}
}
