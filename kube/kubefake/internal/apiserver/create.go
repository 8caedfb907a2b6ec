package apiserver

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"

	"github.com/planewright/planewright/kube/kubefake/internal/apis"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func (s *Server) create(r *Request, k *kind) (*Reply, error) {
	options := &metav1.CreateOptions{DryRun: r.query["dryRun"], FieldManager: r.query.Get("fieldManager"), FieldValidation: r.query.Get("fieldValidation")}
	if errs := metavalidation.ValidateCreateOptions(options); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "CreateOptions"}, "", errs)
	}
	obj, warnings, err := r.decode(k, r.body)
	if err != nil {
		return nil, err
	}
	if err := place(obj, k, r.Namespace); err != nil {
		return nil, err
	}
	manager, err := k.fields("")
	if err != nil {
		return nil, err
	}
	obj.SetUID("")
	obj.SetManagedFields(nil)
	obj = managed(manager, k.newObject(), obj, r.manager())
	rec, err := s.insert(k, obj, r.DryRun)
	if err != nil {
		return nil, err
	}
	reply, err := s.objectReply(r, k, http.StatusCreated, rec)
	if err != nil {
		return nil, err
	}
	reply.Persisted = !r.DryRun
	reply.warn(warnings)
	return reply, nil
}

// place gives the object the namespace of the request.
func place(obj Object, k *kind, namespace string) error {
	if !k.Namespaced {
		obj.SetNamespace("")
		return nil
	}
	switch obj.GetNamespace() {
	case "":
		obj.SetNamespace(namespace)
	case namespace:
	default:
		return wrongNamespace()
	}
	if namespace == "" {
		return apierrors.NewBadRequest("an empty namespace may not be set during creation")
	}
	return nil
}

func wrongNamespace() error {
	return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
}

// insert admits a new object, whose managed fields are set, and stores it
// unless it is only a dry run.
func (s *Server) insert(k *kind, obj Object, dryRun bool) (*record, error) {
	if obj.GetResourceVersion() != "" {
		return nil, errors.New("resourceVersion should not be set on objects to be created")
	}
	if err := s.admitNamespace(k, obj); err != nil {
		return nil, err
	}
	if err := s.admitPod(obj); err != nil {
		return nil, err
	}
	if obj.GetName() == "" && obj.GetGenerateName() != "" {
		obj.SetName(obj.GetGenerateName() + s.newSuffix())
	}
	obj.SetUID(s.newUID())
	obj.SetCreationTimestamp(Now())
	obj.SetDeletionTimestamp(nil)
	obj.SetDeletionGracePeriodSeconds(nil)
	obj.SetSelfLink("")
	if err := s.prepareCreate(k, obj); err != nil {
		return nil, err
	}
	if s.lookup(k.GroupResource(), keyOf(obj)) != nil {
		return nil, apierrors.NewAlreadyExists(k.GroupResource(), obj.GetName())
	}
	if dryRun {
		return &record{obj: obj}, nil
	}
	return s.store(k.stored(s), k.stored(s).in(obj)), nil
}

// prepareCreate sets what the server sets, defaults the rest and validates.
func (s *Server) prepareCreate(k *kind, obj Object) error {
	var errs field.ErrorList
	if k.typed {
		apis.PrepareCreate(obj)
		s.allocate(obj)
		errs = apis.ValidateCreate(obj, k.Resource)
	} else {
		obj.SetGeneration(1)
		errs = k.prepareCustom(obj)
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(k.GroupVersionKind().GroupKind(), obj.GetName(), errs)
	}
	return nil
}

// admitNamespace refuses objects in a namespace that does not exist or is on its way out.
func (s *Server) admitNamespace(k *kind, obj Object) error {
	if !k.Namespaced {
		return nil
	}
	name := obj.GetNamespace()
	rec := s.lookup(schema.GroupResource{Resource: "namespaces"}, types.NamespacedName{Name: name})
	if rec == nil {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, name)
	}
	if rec.obj.(*corev1.Namespace).DeletionTimestamp == nil {
		return nil
	}
	err := apierrors.NewForbidden(k.GroupResource(), nameSoFar(obj), fmt.Errorf("unable to create new content in namespace %s because it is being terminated", name))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: corev1.NamespaceTerminatingCause, Message: fmt.Sprintf("namespace %s is being terminated", name), Field: "metadata.namespace",
	})
	return err
}

// admitPod gives a pod its service account and refuses one that does not exist.
func (s *Server) admitPod(obj Object) error {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return nil
	}
	if pod.Spec.ServiceAccountName == "" {
		pod.Spec.ServiceAccountName = "default"
	}
	pod.Spec.DeprecatedServiceAccount = pod.Spec.ServiceAccountName
	accounts := schema.GroupResource{Resource: "serviceaccounts"}
	if s.lookup(accounts, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Spec.ServiceAccountName}) != nil {
		return nil
	}
	missing := apierrors.NewNotFound(schema.GroupResource{Resource: "serviceaccount"}, pod.Spec.ServiceAccountName)
	return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, nameSoFar(pod),
		fmt.Errorf("error looking up service account %s/%s: %w", pod.Namespace, pod.Spec.ServiceAccountName, missing))
}

// nameSoFar is the name of an object that may not have its own yet.
func nameSoFar(obj Object) string { return cmp.Or(obj.GetName(), obj.GetGenerateName()) }
