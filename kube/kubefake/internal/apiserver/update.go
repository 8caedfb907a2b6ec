package apiserver

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/planewright/planewright/kube/kubefake/internal/apis"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func (s *Server) update(r *Request, k *kind, subresource string) (*Reply, error) {
	options := &metav1.UpdateOptions{DryRun: r.query["dryRun"], FieldManager: r.query.Get("fieldManager"), FieldValidation: r.query.Get("fieldValidation")}
	if errs := metavalidation.ValidateUpdateOptions(options); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "UpdateOptions"}, "", errs)
	}
	obj, warnings, err := r.decode(k, r.body)
	if err != nil {
		return nil, err
	}
	if err := r.sameName(obj); err != nil {
		return nil, err
	}
	rec, err := s.find(k, r.Namespace, r.Name)
	if err != nil {
		return nil, err
	}
	if err := place(obj, k, r.Namespace); err != nil {
		return nil, err
	}
	old := k.in(rec.obj)
	manager, err := k.fields(subresource)
	if err != nil {
		return nil, err
	}
	obj = managed(manager, old, obj, r.manager())
	if uid := obj.GetUID(); uid != "" && uid != old.GetUID() {
		return nil, apierrors.NewConflict(k.GroupResource(), old.GetName(), fmt.Errorf("StorageError: invalid object, Code: 4, Key: /kubefake/%s/%s, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: %v, UID in object meta: %v", k.Plural, keyOf(old), uid, old.GetUID()))
	}
	return s.replaceReply(r, k, old, obj, subresource, http.StatusOK, warnings)
}

// sameName checks that the object is the one that the path names.
func (r *Request) sameName(obj Object) error {
	if name := obj.GetName(); name != r.Name {
		if name == "" {
			return apierrors.NewBadRequest("name must be provided")
		}
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", name, r.Name))
	}
	return nil
}

// replaceReply replaces old by obj and answers with the outcome.
func (s *Server) replaceReply(r *Request, k *kind, old, obj Object, subresource string, code int, warnings []string) (*Reply, error) {
	rec, persisted, err := s.replace(k, old, obj, subresource, r.DryRun)
	if err != nil {
		return nil, err
	}
	reply, err := s.objectReply(r, k, code, rec)
	if err != nil {
		return nil, err
	}
	reply.Persisted = persisted
	reply.warn(warnings)
	return reply, nil
}

// replace admits the new state of an object, whose managed fields are set, and
// stores it unless it is only a dry run or changes nothing.
func (s *Server) replace(k *kind, old, obj Object, subresource string, dryRun bool) (*record, bool, error) {
	if err := preconditions(k, old, obj); err != nil {
		return nil, false, err
	}
	if obj.GetUID() == "" {
		obj.SetUID(old.GetUID()) // another one is refused as a change of what cannot change
	}
	obj.SetCreationTimestamp(old.GetCreationTimestamp())
	obj.SetDeletionTimestamp(old.GetDeletionTimestamp())
	obj.SetDeletionGracePeriodSeconds(old.GetDeletionGracePeriodSeconds())
	obj.SetGeneration(old.GetGeneration())
	obj.SetGenerateName(old.GetGenerateName())
	obj.SetSelfLink("")
	obj.SetResourceVersion(old.GetResourceVersion())
	if err := s.prepareUpdate(k, obj, old, subresource); err != nil {
		return nil, false, err
	}
	current := s.lookup(k.GroupResource(), keyOf(old))
	if sameButTimes(obj, old) {
		return current, false, nil
	}
	if dryRun {
		return &record{obj: obj}, false, nil
	}
	stored := k.stored(s).in(obj)
	if isDone(k, obj) {
		rec := s.store(k.stored(s), stored)
		s.remove(k.stored(s), stored)
		return rec, true, nil
	}
	return s.store(k.stored(s), stored), true, nil
}

// isDone reports whether nothing holds a deleted object any more.
func isDone(k *kind, obj Object) bool {
	if obj.GetDeletionTimestamp() == nil || len(obj.GetFinalizers()) > 0 {
		return false
	}
	if k.Group == "" && k.Kind == "Namespace" {
		return len(apis.NamespaceFinalizers(obj)) == 0
	}
	grace := obj.GetDeletionGracePeriodSeconds()
	return grace == nil || *grace == 0
}

func preconditions(k *kind, old, obj Object) error {
	switch version := obj.GetResourceVersion(); {
	case version == "":
		if !apis.AllowsUnconditionalUpdate(k.GroupVersionKind(), k.typed) {
			return apierrors.NewInvalid(schema.GroupKind{Group: k.Group, Kind: k.Plural}, old.GetName(), field.ErrorList{
				field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update"),
			})
		}
	case !isNumber(version):
		return apierrors.NewInvalid(k.GroupVersionKind().GroupKind(), old.GetName(), field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), version, "strconv.ParseUint: parsing "+strconv.Quote(version)+": invalid syntax"),
		})
	case version != old.GetResourceVersion():
		return apierrors.NewConflict(k.GroupResource(), old.GetName(), fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again"))
	}
	return nil
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 64)
	return err == nil
}

// prepareUpdate keeps what the call may not change, defaults the rest and validates.
func (s *Server) prepareUpdate(k *kind, obj, old Object, subresource string) error {
	var errs field.ErrorList
	if k.typed {
		apis.PrepareUpdate(obj, old, subresource)
		s.allocate(obj)
		errs = apis.ValidateUpdate(obj, old, k.Resource)
	} else {
		errs = k.prepareCustomUpdate(obj, old, subresource)
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(k.GroupVersionKind().GroupKind(), obj.GetName(), errs)
	}
	return nil
}

// sameButTimes reports whether an update changes nothing beyond the times at
// which managers wrote.
func sameButTimes(a, b Object) bool {
	fields, old := a.GetManagedFields(), b.GetManagedFields()
	if len(fields) != len(old) {
		return false
	}
	aligned := make([]metav1.ManagedFieldsEntry, len(fields))
	for i := range fields {
		aligned[i] = fields[i]
		aligned[i].Time = old[i].Time
	}
	a.SetManagedFields(aligned)
	same := apiequality.Semantic.DeepEqual(a, b)
	a.SetManagedFields(fields)
	return same
}
