package live

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// clusterScoped are the kinds of Kubernetes itself that live in no namespace.
// Rendering without a cluster goes by it.
var clusterScoped = map[string][]string{
	"": {"ComponentStatus", "Namespace", "Node", "PersistentVolume"},
	"admissionregistration.k8s.io": {
		"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
	},
	"apiextensions.k8s.io":         {"CustomResourceDefinition"},
	"apiregistration.k8s.io":       {"APIService"},
	"authentication.k8s.io":        {"SelfSubjectReview", "TokenReview"},
	"authorization.k8s.io":         {"SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"},
	"certificates.k8s.io":          {"CertificateSigningRequest", "ClusterTrustBundle"},
	"flowcontrol.apiserver.k8s.io": {"FlowSchema", "PriorityLevelConfiguration"},
	"internal.apiserver.k8s.io":    {"StorageVersion"},
	"networking.k8s.io":            {"IPAddress", "IngressClass", "ServiceCIDR"},
	"node.k8s.io":                  {"RuntimeClass"},
	"rbac.authorization.k8s.io":    {"ClusterRole", "ClusterRoleBinding"},
	"resource.k8s.io":              {"DeviceClass", "DeviceTaintRule", "ResourceSlice"},
	"scheduling.k8s.io":            {"PriorityClass"},
	"storage.k8s.io":               {"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"},
	"storagemigration.k8s.io":      {"StorageVersionMigration"},
}

// scopes tells which kinds live in namespaces: by what the cluster serves, by
// definitions that come along, by what is known of Kubernetes itself.
type scopes struct {
	lookup  *lookup // nil without a cluster
	defined []definedKind
	// missing are the kinds that the cluster does not serve.
	missing []schema.GroupVersionKind
}

// place puts an object that says nothing of a namespace into the given one, if
// its kind lives in namespaces. A kind that nobody knows stays as it is.
func (s *scopes) place(obj *unstructured.Unstructured, namespace string) error {
	namespaced, known, err := s.namespaced(obj.GroupVersionKind())
	if err != nil || !known {
		return err
	}
	switch {
	case namespaced && obj.GetNamespace() == "":
		obj.SetNamespace(namespace)
	case !namespaced && obj.GetNamespace() != "":
		// Helm and kubectl ignore it.
		obj.SetNamespace("")
	}
	return nil
}

func (s *scopes) namespaced(gvk schema.GroupVersionKind) (namespaced, known bool, err error) {
	if s.lookup != nil {
		m, err := s.lookup.mapping(gvk)
		if err == nil {
			return m.Scope.Name() == meta.RESTScopeNameNamespace, true, nil
		}
		if !meta.IsNoMatchError(err) {
			return false, false, err
		}
		if !slices.Contains(s.missing, gvk) {
			s.missing = append(s.missing, gvk)
		}
	}
	if d, ok := brings(s.defined, gvk); ok {
		return d.namespaced, true, nil
	}
	if slices.Contains(clusterScoped[gvk.Group], gvk.Kind) {
		return false, true, nil
	}
	return true, scheme.Scheme.IsGroupRegistered(gvk.Group), nil
}
