package apiserver

import (
	"net/http"
	"time"

	"github.com/planewright/planewright/kube/kubefake/internal/apis"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// review answers the kinds that ask a question and are never stored.
func (s *Server) review(r *Request, k *kind) (*Reply, error) {
	obj, _, err := r.decode(k, r.body)
	if err != nil {
		return nil, err
	}
	switch o := obj.(type) {
	case *authorizationv1.SelfSubjectAccessReview:
		o.Status = s.accessStatus(r.user, o.Spec.ResourceAttributes)
	case *authorizationv1.SubjectAccessReview:
		o.Status = s.accessStatus(o.Spec.User, o.Spec.ResourceAttributes)
	case *authorizationv1.LocalSubjectAccessReview:
		o.Status = s.accessStatus(o.Spec.User, o.Spec.ResourceAttributes)
	case *authorizationv1.SelfSubjectRulesReview:
		all := []string{"*"}
		o.Status = authorizationv1.SubjectRulesReviewStatus{
			ResourceRules:    []authorizationv1.ResourceRule{{Verbs: all, APIGroups: all, Resources: all}},
			NonResourceRules: []authorizationv1.NonResourceRule{{Verbs: all, NonResourceURLs: all}},
		}
	case *authenticationv1.SelfSubjectReview:
		o.CreationTimestamp = Now()
		o.Status.UserInfo.Username = r.user
	case *authenticationv1.TokenReview:
		if user, ok := s.userOf(o.Spec.Token); ok {
			o.Status.Authenticated, o.Status.User.Username = true, user
		} else {
			o.Status.Error = "invalid bearer token"
		}
	}
	obj.SetManagedFields(nil)
	return s.objectReply(r, k, http.StatusCreated, &record{obj: obj})
}

func (s *Server) accessStatus(user string, a *authorizationv1.ResourceAttributes) authorizationv1.SubjectAccessReviewStatus {
	if a == nil || s.config.Authorize == nil || s.config.Authorize(Attributes{
		User: user, Verb: a.Verb, Group: a.Group, Resource: a.Resource, Subresource: a.Subresource, Namespace: a.Namespace, Name: a.Name,
	}) {
		return authorizationv1.SubjectAccessReviewStatus{Allowed: true}
	}
	return authorizationv1.SubjectAccessReviewStatus{Reason: "denied by a rule of the fake cluster"}
}

// requestToken issues a token for a service account.
func (s *Server) requestToken(r *Request) (*Reply, error) {
	rec, err := s.find(r.kind, r.Namespace, r.Name)
	if err != nil {
		return nil, err
	}
	obj := &authenticationv1.TokenRequest{}
	gvk := authenticationv1.SchemeGroupVersion.WithKind("TokenRequest")
	if _, _, err := apis.Decoder().Decode(r.body, &gvk, obj); err != nil && !runtime.IsStrictDecodingError(err) {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if s.config.Issue == nil {
		return nil, apierrors.NewServiceUnavailable("this server issues no tokens")
	}
	seconds := int64(3600)
	if obj.Spec.ExpirationSeconds != nil {
		seconds = *obj.Spec.ExpirationSeconds
	} else {
		obj.Spec.ExpirationSeconds = &seconds
	}
	account := rec.obj.(*corev1.ServiceAccount)
	obj.Namespace, obj.Name = account.Namespace, account.Name
	obj.CreationTimestamp = Now()
	obj.Status.Token = s.config.Issue(Account{Namespace: account.Namespace, Name: account.Name, UID: string(account.UID)}, seconds)
	obj.Status.ExpirationTimestamp = metav1.NewTime(Now().Add(time.Duration(seconds) * time.Second))
	obj.SetGroupVersionKind(gvk)
	return jsonReply(http.StatusCreated, obj), nil
}
