package apis

import (
	"maps"
	"reflect"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
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
	case *corev1.Pod:
		o.Status.Phase = corev1.PodPending
		admitPod(o)
	case *corev1.PersistentVolumeClaim:
		o.Status.Phase = corev1.ClaimPending
		addFinalizer(o, ClaimProtection)
	case *corev1.PersistentVolume:
		o.Status.Phase = corev1.VolumePending
		addFinalizer(o, VolumeProtection)
	case *appsv1.DaemonSet:
		o.Annotations[appsv1.DeprecatedTemplateGeneration] = "1"
	case *batchv1.Job:
		labelJob(o)
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

// ClaimProtection and VolumeProtection hold a claim or volume that is in use.
const (
	ClaimProtection  = "kubernetes.io/pvc-protection"
	VolumeProtection = "kubernetes.io/pv-protection"
)

func addFinalizer(obj Object, finalizer string) {
	if !slices.Contains(obj.GetFinalizers(), finalizer) {
		obj.SetFinalizers(append(obj.GetFinalizers(), finalizer))
	}
}

// labelJob ties a Job's pods to it by labels.
func labelJob(j *batchv1.Job) {
	if j.Spec.ManualSelector != nil && *j.Spec.ManualSelector {
		return
	}
	uid, name := string(j.UID), j.Name
	labels := map[string]string{}
	maps.Copy(labels, j.Spec.Template.Labels)
	maps.Copy(labels, map[string]string{
		batchv1.ControllerUidLabel: uid, "controller-uid": uid, batchv1.JobNameLabel: name, "job-name": name,
	})
	if len(j.Labels) == 0 || maps.Equal(j.Labels, j.Spec.Template.Labels) {
		j.Labels = labels
	}
	j.Spec.Template.Labels = labels
	j.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{batchv1.ControllerUidLabel: uid}}
}

// admitPod sets what admission gives every pod, but for the volume of its
// service account's token.
func admitPod(p *corev1.Pod) {
	setDefault(&p.Spec.Priority, 0)
	setDefault(&p.Spec.PreemptionPolicy, corev1.PreemptLowerPriority)
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		if !slices.ContainsFunc(p.Spec.Tolerations, func(t corev1.Toleration) bool { return t.Key == key || t.Key == "" }) {
			seconds := int64(300)
			p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{
				Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds,
			})
		}
	}
	p.Status.QOSClass = qosClass(p)
}

// qosClass is the class of service that a pod's resources ask for.
func qosClass(p *corev1.Pod) corev1.PodQOSClass {
	some, guaranteed := false, true
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		some = some || len(c.Resources.Requests)+len(c.Resources.Limits) > 0
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			limit, ok := c.Resources.Limits[name]
			request := c.Resources.Requests[name]
			guaranteed = guaranteed && ok && limit.Cmp(request) == 0
		}
	}
	switch {
	case !some:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
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
	switch o := obj.(type) {
	case *corev1.Namespace:
		if subresource != "finalize" {
			o.Spec.Finalizers = old.(*corev1.Namespace).Spec.Finalizers
		}
	case *corev1.Service:
		keepAllocated(o, old.(*corev1.Service))
	case *appsv1.DaemonSet:
		countTemplates(o, old.(*appsv1.DaemonSet))
	}
	if hasGeneration(obj) && !sameContent(obj, old) {
		obj.SetGeneration(old.GetGeneration() + 1)
	}
}

// keepAllocated keeps the addresses and ports of a Service that an update
// does not mention.
func keepAllocated(s, old *corev1.Service) {
	if s.Spec.Type == corev1.ServiceTypeExternalName || old.Spec.Type == corev1.ServiceTypeExternalName {
		return
	}
	fill(&s.Spec.ClusterIP, old.Spec.ClusterIP)
	if len(s.Spec.ClusterIPs) == 0 && s.Spec.ClusterIP == old.Spec.ClusterIP {
		s.Spec.ClusterIPs = old.Spec.ClusterIPs
	}
	if s.Spec.IPFamilyPolicy == nil {
		s.Spec.IPFamilyPolicy = old.Spec.IPFamilyPolicy
	}
	if len(s.Spec.IPFamilies) == 0 {
		s.Spec.IPFamilies = old.Spec.IPFamilies
	}
	if s.Spec.Type != corev1.ServiceTypeNodePort && s.Spec.Type != corev1.ServiceTypeLoadBalancer {
		return
	}
	ports := map[string]int32{}
	for _, p := range old.Spec.Ports {
		ports[string(p.Protocol)+strconv.Itoa(int(p.Port))] = p.NodePort
	}
	for i := range s.Spec.Ports {
		p := &s.Spec.Ports[i]
		fill(&p.NodePort, ports[string(p.Protocol)+strconv.Itoa(int(p.Port))])
	}
}

// countTemplates counts the changes of a DaemonSet's template in an annotation.
func countTemplates(d, old *appsv1.DaemonSet) {
	count, _ := strconv.Atoi(old.Annotations[appsv1.DeprecatedTemplateGeneration])
	if !apiequality.Semantic.DeepEqual(d.Spec.Template, old.Spec.Template) {
		count++
	}
	d.Annotations[appsv1.DeprecatedTemplateGeneration] = strconv.Itoa(count)
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
	case "autoscaling":
		return true
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

// ReturnsDeleted reports whether a delete answers with the object that is gone.
func ReturnsDeleted(gvk schema.GroupVersionKind) bool {
	switch gvk.Group {
	case "":
		return slices.Contains([]string{"PersistentVolume", "PersistentVolumeClaim", "Pod", "PodTemplate", "ResourceQuota", "Service", "ServiceAccount"}, gvk.Kind)
	case "storage.k8s.io":
		return true
	}
	return false
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
