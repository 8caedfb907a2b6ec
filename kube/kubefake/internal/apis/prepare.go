package apis

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Object is a typed built-in object.
type Object interface {
	metav1.Object
	runtime.Object
}

// PrepareCreate sets what only the server sets on a new object.
func PrepareCreate(obj Object) {
	if status, ok := statusOf(obj); ok {
		status.SetZero()
	}
	if hasGeneration(obj) {
		obj.SetGeneration(1)
	} else {
		obj.SetGeneration(0)
	}
	switch o := obj.(type) {
	case *corev1.Namespace:
		o.Status.Phase = corev1.NamespaceActive
		o.Spec.Finalizers = []corev1.FinalizerName{corev1.FinalizerKubernetes}
		setNameLabel(o)
	case *corev1.Pod:
		o.Status.Phase = corev1.PodPending
	case *corev1.PersistentVolumeClaim:
		o.Status.Phase = corev1.ClaimPending
	case *corev1.PersistentVolume:
		o.Status.Phase = corev1.VolumePending
	case *apiextensionsv1.CustomResourceDefinition:
		for _, v := range o.Spec.Versions {
			if v.Storage {
				o.Status.StoredVersions = []string{v.Name}
			}
		}
	}
}

// Normalize brings a decoded object into the form in which it is kept:
// stringData folded, defaults set.
func Normalize(obj runtime.Object) {
	foldStringData(obj)
	Default(obj)
}

// PrepareUpdate keeps what a call on the main resource or a subresource may
// not change, and counts the generation.
func PrepareUpdate(obj, old Object, subresource string) {
	if subresource == "status" {
		status, _ := statusOf(obj)
		kept := reflect.New(status.Type()).Elem()
		kept.Set(status)
		fields := obj.GetManagedFields()
		reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(old.DeepCopyObject()).Elem())
		status, _ = statusOf(obj)
		status.Set(kept)
		obj.SetManagedFields(fields)
		return
	}
	if status, ok := statusOf(obj); ok {
		was, _ := statusOf(old.DeepCopyObject().(Object))
		status.Set(was)
	}
	if ns, ok := obj.(*corev1.Namespace); ok {
		if subresource != "finalize" {
			ns.Spec.Finalizers = old.(*corev1.Namespace).Spec.Finalizers
		}
		setNameLabel(ns)
	}
	if hasGeneration(obj) && !sameContent(obj, old) {
		obj.SetGeneration(old.GetGeneration() + 1)
	}
}

// setNameLabel sets the label by which selectors find a namespace.
func setNameLabel(ns *corev1.Namespace) {
	if ns.Labels == nil {
		ns.Labels = map[string]string{}
	}
	ns.Labels[corev1.LabelMetadataName] = ns.Name
}

// foldStringData moves a Secret's stringData into its data.
func foldStringData(obj runtime.Object) {
	secret, ok := obj.(*corev1.Secret)
	if !ok || len(secret.StringData) == 0 {
		return
	}
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	for key, value := range secret.StringData {
		secret.Data[key] = []byte(value)
	}
	secret.StringData = nil
}

// statusOf is the status of an object that keeps it in a subresource.
func statusOf(obj Object) (reflect.Value, bool) {
	v := reflect.ValueOf(obj).Elem().FieldByName("Status")
	return v, v.IsValid() && v.Kind() == reflect.Struct
}

// hasGeneration reports whether the server counts an object's changes.
func hasGeneration(obj Object) bool {
	gvk := obj.GetObjectKind().GroupVersionKind()
	switch gvk.Group {
	case "apps":
		return gvk.Kind != "ControllerRevision"
	case "batch", "policy", "apiextensions.k8s.io", "admissionregistration.k8s.io", "flowcontrol.apiserver.k8s.io":
		return true
	case "networking.k8s.io":
		return true
	case "":
		return gvk.Kind == "Pod" || gvk.Kind == "ReplicationController"
	case "scheduling.k8s.io":
		return true
	}
	return false
}

// sameContent compares objects beyond their metadata and status.
func sameContent(a, b Object) bool {
	strip := func(obj Object) Object {
		c := obj.DeepCopyObject().(Object)
		v := reflect.ValueOf(c).Elem()
		v.FieldByName("ObjectMeta").SetZero()
		if status, ok := statusOf(c); ok {
			status.SetZero()
		}
		return c
	}
	return apiequality.Semantic.DeepEqual(strip(a), strip(b))
}

// AllowsUnconditionalUpdate reports whether an update may come without a resourceVersion.
func AllowsUnconditionalUpdate(gvk schema.GroupVersionKind, typed bool) bool {
	if !typed {
		return false
	}
	switch gvk.Kind {
	case "Lease", "CustomResourceDefinition", "PodDisruptionBudget", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding",
		"FlowSchema", "PriorityLevelConfiguration", "RuntimeClass", "EndpointSlice":
		return false
	}
	return true
}

// NamespaceFinalizers returns what holds a namespace that is being deleted.
func NamespaceFinalizers(obj Object) []corev1.FinalizerName {
	if ns, ok := obj.(*corev1.Namespace); ok {
		return ns.Spec.Finalizers
	}
	return nil
}

// PodGrace is how many seconds a pod has to end: none if it never ran.
func PodGrace(pod *corev1.Pod, asked *int64) int64 {
	switch {
	case pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		return 0
	case asked != nil:
		return *asked
	case pod.Spec.TerminationGracePeriodSeconds != nil:
		return *pod.Spec.TerminationGracePeriodSeconds
	}
	return 30
}
