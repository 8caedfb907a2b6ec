package live

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// clusterScoped are the kinds of a group of Kubernetes itself that live in no
// namespace. Rendering without a cluster goes by it.
func clusterScoped(group string) []string {
	switch group {
	case "":
		return []string{"ComponentStatus", "Namespace", "Node", "PersistentVolume"}
	case "admissionregistration.k8s.io":
		return []string{
			"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration",
			"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
		}
	case "apiextensions.k8s.io":
		return []string{"CustomResourceDefinition"}
	case "apiregistration.k8s.io":
		return []string{"APIService"}
	case "authentication.k8s.io":
		return []string{"SelfSubjectReview", "TokenReview"}
	case "authorization.k8s.io":
		return []string{"SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"}
	case "certificates.k8s.io":
		return []string{"CertificateSigningRequest", "ClusterTrustBundle"}
	case "flowcontrol.apiserver.k8s.io":
		return []string{"FlowSchema", "PriorityLevelConfiguration"}
	case "internal.apiserver.k8s.io":
		return []string{"StorageVersion"}
	case "networking.k8s.io":
		return []string{"IPAddress", "IngressClass", "ServiceCIDR"}
	case "node.k8s.io":
		return []string{"RuntimeClass"}
	case "rbac.authorization.k8s.io":
		return []string{"ClusterRole", "ClusterRoleBinding"}
	case "resource.k8s.io":
		return []string{"DeviceClass", "DeviceTaintRule", "ResourceSlice"}
	case "scheduling.k8s.io":
		return []string{"PriorityClass"}
	case "storage.k8s.io":
		return []string{"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"}
	case "storagemigration.k8s.io":
		return []string{"StorageVersionMigration"}
	}
	return nil
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
func (s *scopes) place(ctx context.Context, obj *unstructured.Unstructured, namespace string) error {
	namespaced, known, err := s.namespaced(ctx, obj.GroupVersionKind())
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

func (s *scopes) namespaced(ctx context.Context, gvk schema.GroupVersionKind) (namespaced, known bool, err error) {
	if s.lookup != nil {
		m, err := s.lookup.mapping(ctx, gvk)
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
	if slices.Contains(clusterScoped(gvk.Group), gvk.Kind) {
		return false, true, nil
	}
	return true, scheme.Scheme.IsGroupRegistered(gvk.Group), nil
}
