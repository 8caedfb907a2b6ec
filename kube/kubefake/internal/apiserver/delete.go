package apiserver

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/planewright/planewright/kube/kubefake/internal/apis"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func (s *Server) delete(r *Request, k *kind) (*Reply, error) {
	options, err := r.deleteOptions()
	if err != nil {
		return nil, err
	}
	if errs := metavalidation.ValidateDeleteOptions(options); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", errs)
	}
	rec, err := s.find(k, r.Namespace, r.Name)
	if err != nil {
		return nil, err
	}
	left, err := s.drop(k, rec, options, r.DryRun)
	if err != nil {
		return nil, err
	}
	if left != nil {
		code := http.StatusOK
		if options.OrphanDependents != nil && !*options.OrphanDependents { //nolint:staticcheck // the real server heeds it too
			code = http.StatusAccepted
		}
		reply, err := s.objectReply(r, k, code, left)
		if err != nil {
			return nil, err
		}
		reply.Persisted = !r.DryRun && left != rec
		return reply, nil
	}
	if apis.ReturnsDeleted(k.GroupVersionKind()) {
		reply, err := s.objectReply(r, k, http.StatusOK, rec)
		if err != nil {
			return nil, err
		}
		reply.Persisted = !r.DryRun
		return reply, nil
	}
	reply := jsonReply(http.StatusOK, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusSuccess,
		Details:  &metav1.StatusDetails{Name: rec.obj.GetName(), Group: k.Group, Kind: k.Plural, UID: rec.obj.GetUID()},
	})
	reply.Persisted = !r.DryRun
	return reply, nil
}

// drop deletes an object. If something still holds it, the object that is
// left, marked as being deleted, is returned.
func (s *Server) drop(k *kind, rec *record, options *metav1.DeleteOptions, dryRun bool) (*record, error) {
	old := rec.obj
	if err := deletePreconditions(k, old, options.Preconditions); err != nil {
		return nil, err
	}
	obj := Clone(old)
	grace := int64(0)
	switch o := obj.(type) {
	case *corev1.Namespace:
		if slices.Contains([]string{"default", "kube-system", "kube-public"}, o.Name) {
			return nil, apierrors.NewForbidden(k.GroupResource(), o.Name, errors.New("this namespace may not be deleted"))
		}
		o.Status.Phase = corev1.NamespaceTerminating
	case *apiextensionsv1.CustomResourceDefinition:
		if o.DeletionTimestamp == nil {
			o.Finalizers = append(o.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer)
			o.Status.Conditions = append(o.Status.Conditions, apiextensionsv1.CustomResourceDefinitionCondition{
				Type: apiextensionsv1.Terminating, Status: apiextensionsv1.ConditionTrue, Reason: "InstanceDeletionPending",
				Message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon", LastTransitionTime: Now(),
			})
		}
	case *corev1.Pod:
		grace = apis.PodGrace(o, options.GracePeriodSeconds)
	}
	obj.SetFinalizers(propagationFinalizers(obj.GetFinalizers(), options))
	if obj.GetDeletionTimestamp() == nil {
		now := metav1.NewTime(Now().Add(time.Duration(grace) * time.Second))
		obj.SetDeletionTimestamp(&now)
		if !hasOwnDelete(obj) {
			obj.SetDeletionGracePeriodSeconds(&grace)
			if g := obj.GetGeneration(); g > 0 {
				obj.SetGeneration(g + 1)
			}
		}
	} else if had := obj.GetDeletionGracePeriodSeconds(); had != nil && grace < *had {
		obj.SetDeletionGracePeriodSeconds(&grace)
	}
	if isDone(k, obj) {
		if !dryRun {
			s.remove(k.stored(s), old)
		}
		return nil, nil
	}
	if sameButTimes(obj, old) {
		return rec, nil
	}
	if dryRun {
		return &record{obj: obj}, nil
	}
	return s.store(k.stored(s), obj), nil
}

// hasOwnDelete tells the kinds that do not go through the common way of
// marking objects as deleted.
func hasOwnDelete(obj Object) bool {
	switch obj.(type) {
	case *corev1.Namespace, *apiextensionsv1.CustomResourceDefinition:
		return true
	}
	return false
}

func deletePreconditions(k *kind, obj Object, p *metav1.Preconditions) error {
	if p == nil {
		return nil
	}
	if p.UID != nil && *p.UID != obj.GetUID() {
		return preconditionFailed(k, obj, "UID", string(*p.UID), string(obj.GetUID()))
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != obj.GetResourceVersion() {
		return preconditionFailed(k, obj, "ResourceVersion", *p.ResourceVersion, obj.GetResourceVersion())
	}
	return nil
}

func preconditionFailed(k *kind, obj Object, what, given, found string) error {
	message := fmt.Errorf("the %s in the precondition (%s) does not match the %s in record (%s). The object might have been deleted and then recreated", what, given, what, found)
	if what == "ResourceVersion" {
		message = fmt.Errorf("the %s in the precondition (%s) does not match the %s in record (%s). The object might have been modified", what, given, what, found)
	}
	return apierrors.NewConflict(schema.GroupResource{Group: k.Group, Resource: k.Kind}, obj.GetName(), message)
}

// propagationFinalizers are the finalizers after the delete's propagation
// policy has been written into them, where the garbage collector finds it.
func propagationFinalizers(finalizers []string, options *metav1.DeleteOptions) []string {
	kept := slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool {
		return options.PropagationPolicy != nil && (f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents)
	})
	orphan := options.OrphanDependents != nil && *options.OrphanDependents //nolint:staticcheck // the real server heeds it too
	if options.PropagationPolicy != nil {
		switch *options.PropagationPolicy {
		case metav1.DeletePropagationOrphan:
			orphan = true
		case metav1.DeletePropagationForeground:
			kept = append(kept, metav1.FinalizerDeleteDependents)
		case metav1.DeletePropagationBackground:
		}
	}
	if orphan {
		kept = append(kept, metav1.FinalizerOrphanDependents)
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

func (s *Server) deleteCollection(r *Request, k *kind) (*Reply, error) {
	options, err := r.deleteOptions()
	if err != nil {
		return nil, err
	}
	sel, err := s.selection(r, k)
	if err != nil {
		return nil, err
	}
	persisted := false
	list, err := s.list(r, k)
	if err != nil {
		return nil, err
	}
	for _, rec := range s.table(k.stored(s)).sorted(r.Namespace) {
		if !sel.matches(rec.obj) {
			continue
		}
		if _, err := s.drop(k, rec, options, r.DryRun); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return nil, err
		}
		persisted = persisted || !r.DryRun
	}
	list.Persisted = persisted
	return list, nil
}
