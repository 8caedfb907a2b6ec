package kubefake_test

import (
	"testing"

	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
)

func TestTheCallLogTellsWhatWasStored(t *testing.T) {
	bubble(t, func(t *testing.T, fleet *kubefake.Fleet, c *kubernetes.Clientset) {
		ctx := t.Context()
		secrets := c.CoreV1().Secrets("default")
		_, err := c.Discovery().ServerVersion()
		require.NoError(t, err)
		_, err = secrets.Create(ctx, secret("a"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		require.NoError(t, err)
		_, err = secrets.Create(ctx, secret("a"), metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = secrets.Create(ctx, secret("a"), metav1.CreateOptions{})
		require.Error(t, err)
		apply := applycorev1.Secret("a", "default").WithLabels(map[string]string{"x": "y"})
		for range 2 {
			_, err = secrets.Apply(ctx, apply, metav1.ApplyOptions{FieldManager: "me"})
			require.NoError(t, err)
		}
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods"},
		}}
		_, err = c.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, secrets.Delete(ctx, "a", metav1.DeleteOptions{}))

		var log []string
		for _, call := range fleet.Calls() {
			log = append(log, call.String())
		}
		assert.Equal(t, []string{
			"dp-1: discover /version: 200",
			"dp-1: create Secret default/a (dry run): 201",
			"dp-1: create Secret default/a: 201, persisted",
			"dp-1: create Secret default/a: 409",
			"dp-1: apply Secret default/a: 200, persisted",
			"dp-1: apply Secret default/a: 200",
			"dp-1: create SelfSubjectAccessReview: 201",
			"dp-1: delete Secret default/a: 200, persisted",
		}, log)
		assert.Equal(t, 3, fleet.Writes("dp-1"))
		assert.Equal(t, 5, fleet.Reads("dp-1"))
		assert.Len(t, fleet.Calls(kubefake.Call("write")), 5, "what is meant to be stored")
		assert.Len(t, fleet.Calls(kubefake.Call("patch")), 2, "an apply is a patch")
		assert.Len(t, fleet.Calls(kubefake.Call("write").Kind("Secret"), kubefake.Call("create")), 2, "all matches must match")
		fleet.ForgetCalls()
		assert.Empty(t, fleet.Calls())
	})
}

func TestMatchesPrintThemselves(t *testing.T) {
	assert.Equal(t, "patch Secret flyte/db on dp-1", kubefake.Call("patch").On("dp-1").Kind("Secret").Named("flyte/db").String())
	assert.Equal(t, "any call", kubefake.Call("").String())
}

func TestDeniedPermissionsAreReviewedAndEnforced(t *testing.T) {
	bubble(t, func(t *testing.T, fleet *kubefake.Fleet, c *kubernetes.Clientset) {
		ctx := t.Context()
		fleet.Configure("dp-1", kubefake.WithDenied(
			kube.Access{Verb: "create", Resource: "secrets", Namespace: "default"},
			kube.Access{Verb: "*", Group: "rbac.authorization.k8s.io", Resource: "*"},
		))
		_, err := c.CoreV1().Secrets("default").Create(ctx, secret("a"), metav1.CreateOptions{})
		require.True(t, apierrors.IsForbidden(err), "%v", err)
		require.EqualError(t, err, `secrets is forbidden: User "kubernetes-admin" cannot create resource "secrets" in API group "" in the namespace "default"`)
		_, err = c.RbacV1().ClusterRoles().List(ctx, metav1.ListOptions{})
		require.EqualError(t, err, `clusterroles.rbac.authorization.k8s.io is forbidden: User "kubernetes-admin" cannot list resource "clusterroles" in API group "rbac.authorization.k8s.io" at the cluster scope`)
		_, err = c.CoreV1().Secrets("default").List(ctx, metav1.ListOptions{})
		require.NoError(t, err)

		denied, err := fleet.Cluster("dp-1").Facts.Denied(ctx,
			kube.Access{Verb: "create", Resource: "secrets", Namespace: "default"},
			kube.Access{Verb: "create", Resource: "secrets", Namespace: "kube-system"},
			kube.Access{Verb: "delete", Group: "rbac.authorization.k8s.io", Resource: "roles"},
		)
		require.NoError(t, err)
		assert.Equal(t, []kube.Access{
			{Verb: "create", Resource: "secrets", Namespace: "default"},
			{Verb: "delete", Group: "rbac.authorization.k8s.io", Resource: "roles"},
		}, denied)

		fleet.Configure("dp-1", kubefake.WithAllAllowed())
		_, err = c.CoreV1().Secrets("default").Create(ctx, secret("a"), metav1.CreateOptions{})
		assert.NoError(t, err)
	})
}
