package apiserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func (s *Server) patch(r *Request, k *kind, subresource string) (*Reply, error) {
	patchType := types.PatchType(r.contentType)
	force := isTrue(r.query, "force")
	options := &metav1.PatchOptions{DryRun: r.query["dryRun"], FieldManager: r.query.Get("fieldManager"), FieldValidation: r.query.Get("fieldValidation")}
	if r.query.Has("force") {
		options.Force = &force
	}
	if errs := metavalidation.ValidatePatchOptions(options, patchType); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "PatchOptions"}, "", errs)
	}
	switch {
	case patchType == types.ApplyYAMLPatchType:
		return s.apply(r, k, subresource, force)
	case patchType == types.JSONPatchType, patchType == types.MergePatchType:
	case patchType == types.StrategicMergePatchType && k.typed:
	default:
		return nil, unsupportedMediaType(k)
	}
	rec, err := s.find(k, r.Namespace, r.Name)
	if err != nil {
		return nil, err
	}
	old := k.in(rec.obj)
	before, err := k.at(rec)
	if err != nil {
		return nil, err
	}
	after, err := patched(k, patchType, before, r.body)
	if err != nil {
		return nil, err
	}
	obj, warnings, err := r.decode(k, after)
	if err != nil {
		return nil, apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), string(after), reason(err))})
	}
	if err := r.sameName(obj); err != nil {
		return nil, err
	}
	if err := place(obj, k, r.Namespace); err != nil {
		return nil, err
	}
	manager, err := k.fields(subresource)
	if err != nil {
		return nil, err
	}
	obj = managed(manager, old, obj, r.manager())
	return s.replaceReply(r, k, old, obj, subresource, http.StatusOK, warnings)
}

// reason is what is wrong with a patched object, without the words about its type.
func reason(err error) string {
	_, text, found := strings.Cut(err.Error(), " cannot be handled as a ")
	if _, after, ok := strings.Cut(text, ": "); found && ok {
		return after
	}
	return err.Error()
}

// patched applies a patch to an encoded object.
func patched(k *kind, patchType types.PatchType, before, patch []byte) ([]byte, error) {
	switch patchType {
	case types.JSONPatchType:
		operations, err := jsonpatch.DecodePatch(patch)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		after, err := operations.Apply(before)
		if err != nil {
			return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
		}
		return after, nil
	case types.MergePatchType:
		after, err := jsonpatch.MergePatch(before, patch)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return after, nil
	default:
	}
	if !json.Valid(patch) {
		return nil, apierrors.NewBadRequest("error decoding patch: it is not JSON")
	}
	after, err := strategicpatch.StrategicMergePatch(before, patch, k.newObject())
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return after, nil
}

// apply is server-side apply: it creates the object or merges the given fields
// into it.
func (s *Server) apply(r *Request, k *kind, subresource string, force bool) (*Reply, error) {
	configuration, err := r.configuration()
	if err != nil {
		return nil, err
	}
	if name := configuration.GetName(); name == "" {
		configuration.SetName(r.Name)
	} else if err := r.sameName(configuration); err != nil {
		return nil, err
	}
	if given := configuration.GetNamespace(); given != "" && given != r.Namespace {
		return nil, wrongNamespace()
	}
	manager, err := k.fields(subresource)
	if err != nil {
		return nil, err
	}
	rec := s.lookup(k.GroupResource(), types.NamespacedName{Namespace: r.Namespace, Name: r.Name})
	old := k.newObject()
	if rec != nil {
		old = k.in(rec.obj)
	} else if subresource != "" {
		return nil, apierrors.NewNotFound(k.GroupResource(), r.Name)
	} else if configuration.GetUID() != "" {
		return nil, apierrors.NewConflict(k.GroupResource(), r.Name, fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", configuration.GetUID()))
	}
	merged, err := manager.Apply(old, configuration, r.manager(), force)
	if err != nil {
		return nil, err
	}
	obj := merged.(Object)
	if err := place(obj, k, r.Namespace); err != nil {
		return nil, err
	}
	if rec != nil {
		return s.replaceReply(r, k, old, obj, subresource, http.StatusOK, nil)
	}
	obj.SetResourceVersion("") // an apply that creates does not heed it
	created, err := s.insert(k, obj, r.DryRun)
	if err != nil {
		return nil, err
	}
	reply, err := s.objectReply(r, k, http.StatusCreated, created)
	if err != nil {
		return nil, err
	}
	reply.Persisted = !r.DryRun
	return reply, nil
}

func unsupportedMediaType(k *kind) error {
	status := metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: "415: Unsupported Media Type", Details: &metav1.StatusDetails{},
	}
	if !k.typed {
		status.Message = "the body of the request was in an unknown format - accepted media types include: " +
			"application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
		status.Details = nil
	}
	return &apierrors.StatusError{ErrStatus: status}
}
