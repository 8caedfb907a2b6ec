package apis

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource is one kind at one version, as discovery shows it.
type Resource struct {
	Group, Version, Kind string
	// Plural and Singular are the kind's names in paths and on kubectl's command line.
	Plural, Singular       string
	ShortNames, Categories []string
	Namespaced             bool
	// Status and Scale tell whether the kind has these subresources.
	Status, Scale bool
	// Verbs are what can be done with it.
	Verbs []string
}

// GroupVersionKind returns the type's name.
func (r *Resource) GroupVersionKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
}

// GroupVersion returns the version that the kind is served at.
func (r *Resource) GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: r.Group, Version: r.Version}
}

// GroupResource returns the kind's name in paths and errors.
func (r *Resource) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Group, Resource: r.Plural}
}

// AllVerbs are the verbs of a kind whose objects are stored.
func AllVerbs() []string {
	return []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
}

// Builtin returns the kinds that every API server serves, in the order in
// which discovery lists their groups. The list and what it points to must not be changed.
var Builtin = sync.OnceValue(func() []*Resource { //nolint:gochecknoglobals // made once, never changed
	var list []*Resource
	group := ""
	version := "v1"
	add := func(kind, plural string, opts ...func(*Resource)) {
		r := &Resource{Group: group, Version: version, Kind: kind, Plural: plural, Namespaced: true, Verbs: AllVerbs()}
		for _, o := range opts {
			o(r)
		}
		list = append(list, r)
	}

	add("ConfigMap", "configmaps", short("cm"))
	add("Endpoints", "endpoints", short("ep"))
	add("Event", "events", short("ev"))
	add("LimitRange", "limitranges", short("limits"))
	add("Namespace", "namespaces", short("ns"), global, status, func(r *Resource) {
		r.Verbs = slices.DeleteFunc(AllVerbs(), func(v string) bool { return v == "deletecollection" })
	})
	add("Node", "nodes", short("no"), global, status)
	add("PersistentVolumeClaim", "persistentvolumeclaims", short("pvc"), status)
	add("PersistentVolume", "persistentvolumes", short("pv"), global, status)
	add("Pod", "pods", short("po"), status, all)
	add("PodTemplate", "podtemplates")
	add("ReplicationController", "replicationcontrollers", short("rc"), status, scale, all)
	add("ResourceQuota", "resourcequotas", short("quota"), status)
	add("Secret", "secrets")
	add("ServiceAccount", "serviceaccounts", short("sa"))
	add("Service", "services", short("svc"), status, all)

	group = "apiregistration.k8s.io"
	add("APIService", "apiservices", global, status)

	group = "apps"
	add("ControllerRevision", "controllerrevisions")
	add("DaemonSet", "daemonsets", short("ds"), status, all)
	add("Deployment", "deployments", short("deploy"), status, scale, all)
	add("ReplicaSet", "replicasets", short("rs"), status, scale, all)
	add("StatefulSet", "statefulsets", short("sts"), status, scale, all)

	group = "authentication.k8s.io"
	add("SelfSubjectReview", "selfsubjectreviews", global, createOnly)
	add("TokenReview", "tokenreviews", global, createOnly)

	group = "authorization.k8s.io"
	add("LocalSubjectAccessReview", "localsubjectaccessreviews", createOnly)
	add("SelfSubjectAccessReview", "selfsubjectaccessreviews", global, createOnly)
	add("SelfSubjectRulesReview", "selfsubjectrulesreviews", global, createOnly)
	add("SubjectAccessReview", "subjectaccessreviews", global, createOnly)

	group = "autoscaling"
	version = "v2"
	add("HorizontalPodAutoscaler", "horizontalpodautoscalers", short("hpa"), status, all)
	version = "v1"

	group = "batch"
	add("CronJob", "cronjobs", short("cj"), status, all)
	add("Job", "jobs", status, all)

	group = "certificates.k8s.io"
	add("CertificateSigningRequest", "certificatesigningrequests", short("csr"), global, status)

	group = "networking.k8s.io"
	add("IngressClass", "ingressclasses", global)
	add("Ingress", "ingresses", short("ing"), status)
	add("NetworkPolicy", "networkpolicies", short("netpol"))

	group = "policy"
	add("PodDisruptionBudget", "poddisruptionbudgets", short("pdb"), status)

	group = "rbac.authorization.k8s.io"
	add("ClusterRoleBinding", "clusterrolebindings", global)
	add("ClusterRole", "clusterroles", global)
	add("RoleBinding", "rolebindings")
	add("Role", "roles")

	group = "storage.k8s.io"
	add("CSIDriver", "csidrivers", global)
	add("CSINode", "csinodes", global)
	add("StorageClass", "storageclasses", short("sc"), global)
	add("VolumeAttachment", "volumeattachments", global, status)

	group = "admissionregistration.k8s.io"
	add("MutatingAdmissionPolicy", "mutatingadmissionpolicies", global)
	add("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", global)
	add("MutatingWebhookConfiguration", "mutatingwebhookconfigurations", global, category("api-extensions"))
	add("ValidatingAdmissionPolicy", "validatingadmissionpolicies", global, status)
	add("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", global)
	add("ValidatingWebhookConfiguration", "validatingwebhookconfigurations", global, category("api-extensions"))

	group = "apiextensions.k8s.io"
	add("CustomResourceDefinition", "customresourcedefinitions", short("crd", "crds"), global, status, category("api-extensions"))

	group = "scheduling.k8s.io"
	add("PriorityClass", "priorityclasses", short("pc"), global)

	group = "coordination.k8s.io"
	add("Lease", "leases")

	group = "node.k8s.io"
	add("RuntimeClass", "runtimeclasses", global)

	group = "discovery.k8s.io"
	add("EndpointSlice", "endpointslices")

	group = "flowcontrol.apiserver.k8s.io"
	add("FlowSchema", "flowschemas", global, status)
	add("PriorityLevelConfiguration", "prioritylevelconfigurations", global, status)
	return list
})

func global(r *Resource) { r.Namespaced = false }
func status(r *Resource) { r.Status = true }
func scale(r *Resource)  { r.Scale = true }
func all(r *Resource)    { r.Categories = []string{"all"} }

func createOnly(r *Resource) { r.Verbs = []string{"create"} }

func short(names ...string) func(*Resource) {
	return func(r *Resource) { r.ShortNames = names }
}

func category(name string) func(*Resource) {
	return func(r *Resource) { r.Categories = []string{name} }
}
