package apiserver

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func (s *Server) get(r *Request, k *kind) (*Reply, error) {
	rec, err := s.find(k, r.Namespace, r.Name)
	if err != nil {
		return nil, err
	}
	return s.objectReply(r, k, http.StatusOK, rec)
}

// find returns the stored object or the real server's "not found".
func (s *Server) find(k *kind, namespace, name string) (*record, error) {
	rec := s.lookup(k.GroupResource(), types.NamespacedName{Namespace: namespace, Name: name})
	if rec == nil {
		return nil, apierrors.NewNotFound(k.GroupResource(), name)
	}
	return rec, nil
}

// objectReply answers with one object, in the form that the client asks for.
func (s *Server) objectReply(r *Request, k *kind, code int, rec *record) (*Reply, error) {
	body, err := formOf(r, k).encode(rec)
	if err != nil {
		return nil, err
	}
	return &Reply{Code: code, Name: rec.obj.GetName(), body: body}, nil
}

// form is how objects are written to one client.
type form struct {
	kind *kind
	// metadataOnly writes a PartialObjectMetadata instead of the object.
	metadataOnly bool
}

func formOf(r *Request, k *kind) form {
	accept := r.http.Header.Get("Accept")
	return form{kind: k, metadataOnly: strings.Contains(accept, "as=PartialObjectMetadata")}
}

func (f form) encode(rec *record) ([]byte, error) {
	if f.metadataOnly {
		return json.Marshal(partial(rec.obj))
	}
	return f.kind.at(rec)
}

// item writes an object as part of a list, where typed kinds do not repeat
// their kind and version.
func (f form) item(rec *record) ([]byte, error) {
	body, err := f.encode(rec)
	if err != nil || !f.kind.typed || f.metadataOnly {
		return body, err
	}
	gvk := f.kind.GroupVersionKind()
	prefix := `{"kind":"` + gvk.Kind + `","apiVersion":"` + gvk.GroupVersion().String() + `",`
	if rest, ok := bytes.CutPrefix(body, []byte(prefix)); ok {
		return append([]byte{'{'}, rest...), nil
	}
	return body, nil
}

func partial(obj Object) *metav1.PartialObjectMetadata {
	meta := metav1.ObjectMeta{
		Name: obj.GetName(), GenerateName: obj.GetGenerateName(), Namespace: obj.GetNamespace(), UID: obj.GetUID(),
		ResourceVersion: obj.GetResourceVersion(), Generation: obj.GetGeneration(), CreationTimestamp: obj.GetCreationTimestamp(),
		DeletionTimestamp: obj.GetDeletionTimestamp(), DeletionGracePeriodSeconds: obj.GetDeletionGracePeriodSeconds(),
		Labels: obj.GetLabels(), Annotations: obj.GetAnnotations(), OwnerReferences: obj.GetOwnerReferences(),
		Finalizers: obj.GetFinalizers(), ManagedFields: obj.GetManagedFields(),
	}
	return &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"},
		ObjectMeta: meta,
	}
}
