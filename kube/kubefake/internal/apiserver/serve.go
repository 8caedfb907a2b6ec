package apiserver

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Serve answers a request.
func (s *Server) Serve(r *Request) *Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	reply, err := s.serve(r)
	if err != nil {
		return ErrorReply(err)
	}
	return reply
}

func (s *Server) serve(r *Request) (*Reply, error) {
	if s.closed {
		return nil, apierrors.NewServiceUnavailable("the server is shutting down")
	}
	if len(r.body) > maxBody {
		return nil, apierrors.NewRequestEntityTooLargeError("limit is 3145728")
	}
	if err := s.authenticate(r); err != nil {
		return nil, err
	}
	if !r.isResource() {
		return s.discover(r)
	}
	if err := s.authorize(r); err != nil {
		return nil, err
	}
	k := r.kind
	if k == nil || r.Namespace != "" && !k.Namespaced {
		return s.unknownResource(r)
	}
	if !acceptsJSON(r.http) {
		return nil, notAcceptable()
	}
	if r.Subresource != "" {
		return s.serveSubresource(r, k)
	}
	if !slices.Contains(k.Verbs, kubernetesVerb(r.Verb)) {
		return nil, apierrors.NewMethodNotSupported(k.GroupResource(), r.Verb)
	}
	if k.Namespaced && r.Namespace == "" && r.Verb != "list" && r.Verb != "watch" {
		if r.Name != "" && r.Verb != "create" {
			return s.unknownResource(r)
		}
		return nil, &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusMethodNotAllowed, Reason: metav1.StatusReasonMethodNotAllowed,
			Message: "the server does not allow this method on the requested resource", Details: &metav1.StatusDetails{},
		}}
	}
	switch r.Verb {
	case "get":
		return s.get(r, k)
	case "list":
		return s.list(r, k)
	case "watch":
		return s.watch(r, k)
	case "create":
		if len(k.Verbs) == 1 {
			return s.review(r, k)
		}
		return s.create(r, k)
	case "update":
		return s.update(r, k, "")
	case "patch", "apply":
		return s.patch(r, k, "")
	case "delete":
		return s.delete(r, k)
	case "deletecollection":
		return s.deleteCollection(r, k)
	}
	return nil, apierrors.NewMethodNotSupported(k.GroupResource(), r.Verb)
}

// unknownResource answers a path that leads to no kind: by a Status in an API
// group that exists, else by a bare line of text.
func (s *Server) unknownResource(r *Request) (*Reply, error) {
	for _, known := range s.resources() {
		if known.Group == r.Group {
			return nil, &apierrors.StatusError{ErrStatus: metav1.Status{
				Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
				Message: "the server could not find the requested resource", Details: &metav1.StatusDetails{},
			}}
		}
	}
	return notFoundReply(), nil
}

func (s *Server) serveSubresource(r *Request, k *kind) (*Reply, error) {
	switch {
	case r.Subresource == "status" && k.Status:
		switch r.Verb {
		case "get":
			return s.get(r, k)
		case "update":
			return s.update(r, k, "status")
		case "patch", "apply":
			return s.patch(r, k, "status")
		}
	case r.Subresource == "scale" && k.Scale && (r.Verb == "get" || r.Verb == "update" || r.Verb == "patch"):
		return s.scale(r, k)
	case r.Subresource == "token" && k.Kind == "ServiceAccount" && r.Verb == "create":
		return s.requestToken(r)
	case r.Subresource == "finalize" && k.Kind == "Namespace" && r.Verb == "update":
		return s.update(r, k, "finalize")
	default:
		return s.unknownResource(r)
	}
	return nil, apierrors.NewMethodNotSupported(k.GroupResource(), r.Verb)
}

// kubernetesVerb is the verb as discovery and permissions spell it.
func kubernetesVerb(verb string) string {
	if verb == "apply" {
		return "patch"
	}
	return verb
}

func (s *Server) authenticate(r *Request) error {
	r.user = Administrator
	token, ok := strings.CutPrefix(r.http.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return nil
	}
	user, ok := s.userOf(token)
	if !ok {
		return apierrors.NewUnauthorized("Unauthorized")
	}
	r.user = user
	return nil
}

// userOf tells who a token stands for: a service account that still exists.
func (s *Server) userOf(token string) (string, bool) {
	if s.config.Authenticate == nil {
		return "", false
	}
	account, ok := s.config.Authenticate(token)
	if !ok {
		return "", false
	}
	rec := s.lookup(schema.GroupResource{Resource: "serviceaccounts"}, types.NamespacedName{Namespace: account.Namespace, Name: account.Name})
	if rec == nil || string(rec.obj.GetUID()) != account.UID {
		return "", false
	}
	if account.Secret != "" && !s.keepsToken(account, token) {
		return "", false
	}
	return "system:serviceaccount:" + account.Namespace + ":" + account.Name, true
}

// keepsToken reports whether a token's Secret still holds it.
func (s *Server) keepsToken(account Account, token string) bool {
	rec := s.lookup(schema.GroupResource{Resource: "secrets"}, types.NamespacedName{Namespace: account.Namespace, Name: account.Secret})
	if rec == nil {
		return false
	}
	secret, ok := rec.obj.(*corev1.Secret)
	return ok && secret.DeletionTimestamp == nil && string(secret.Data[corev1.ServiceAccountTokenKey]) == token
}

func (s *Server) authorize(r *Request) error {
	a := r.attributes()
	if s.config.Authorize == nil || s.config.Authorize(a) {
		return nil
	}
	return forbidden(a)
}

// forbidden words a refusal the way the real server does.
func forbidden(a Attributes) error {
	resource := a.Resource
	if a.Subresource != "" {
		resource += "/" + a.Subresource
	}
	message := "User \"" + a.User + "\" cannot " + a.Verb + " resource \"" + resource + "\" in API group \"" + a.Group + "\""
	if a.Namespace != "" {
		message += " in the namespace \"" + a.Namespace + "\""
	} else {
		message += " at the cluster scope"
	}
	return apierrors.NewForbidden(schema.GroupResource{Group: a.Group, Resource: resource}, a.Name, errors.New(message))
}

func acceptsJSON(req *http.Request) bool {
	accept := req.Header.Get("Accept")
	return accept == "" || strings.Contains(accept, "json") || strings.Contains(accept, "*/*") || strings.Contains(accept, "application/*") || strings.Contains(accept, "yaml")
}

func notAcceptable() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
		Message: "only the following media types are accepted: application/json",
	}}
}
