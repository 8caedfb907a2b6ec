package kubefake_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// tokenOf makes a service account with a token Secret and waits for the token.
func tokenOf(t *testing.T, c *kubernetes.Clientset, account string) *corev1.Secret {
	t.Helper()
	ctx := t.Context()
	_, err := c.CoreV1().ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}}, metav1.CreateOptions{})
	require.NoError(t, err)
	return tokenSecret(t, c, account, account+"-token")
}

// tokenSecret makes a token Secret for a service account and waits for the token.
func tokenSecret(t *testing.T, c *kubernetes.Clientset, account, name string) *corev1.Secret {
	t.Helper()
	ctx := t.Context()
	s := secret(name)
	s.Type, s.Annotations = corev1.SecretTypeServiceAccountToken, map[string]string{corev1.ServiceAccountNameKey: account}
	s, err := c.CoreV1().Secrets("default").Create(ctx, s, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Empty(t, s.Data, "the token takes its time")
	settle()
	s, err = c.CoreV1().Secrets("default").Get(ctx, s.Name, metav1.GetOptions{})
	require.NoError(t, err)
	return s
}

func TestATokenIsGoodForItsAccountOnItsCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		fleet := kubefake.NewFleet("dp-1", "dp-2")
		admin := client(t, fleet, "dp-1")
		s := tokenOf(t, admin, "robot")
		assert.Equal(t, "default", string(s.Data["namespace"]))
		assert.Equal(t, fleet.CA("dp-1"), s.Data["ca.crt"])
		assert.NotEqual(t, fleet.CA("dp-1"), fleet.CA("dp-2"))

		parts := strings.Split(string(s.Data["token"]), ".")
		require.Len(t, parts, 3, "it is a JSON web token")
		payload, err := base64.RawURLEncoding.DecodeString(parts[1])
		require.NoError(t, err)
		var claims map[string]any
		require.NoError(t, json.Unmarshal(payload, &claims))
		assert.Equal(t, "system:serviceaccount:default:robot", claims["sub"])

		as := func(cluster string) (string, error) {
			config := fleet.Config(cluster)
			config.BearerToken = string(s.Data["token"])
			c, err := kubernetes.NewForConfig(config)
			require.NoError(t, err)
			who, err := c.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
			if err != nil {
				return "", err
			}
			return who.Status.UserInfo.Username, nil
		}
		who, err := as("dp-1")
		require.NoError(t, err)
		assert.Equal(t, "system:serviceaccount:default:robot", who)
		_, err = as("dp-2")
		assert.True(t, apierrors.IsUnauthorized(err), "another cluster: %v", err)

		other := tokenSecret(t, admin, "robot", "robot-token-2")
		assert.NotEqual(t, string(s.Data["token"]), string(other.Data["token"]), "each Secret has a token of its own")
		require.NoError(t, admin.CoreV1().Secrets("default").Delete(ctx, s.Name, metav1.DeleteOptions{}))
		_, err = as("dp-1")
		assert.True(t, apierrors.IsUnauthorized(err), "the token's Secret is gone: %v", err)
		s = other
		_, err = as("dp-1")
		require.NoError(t, err)

		require.NoError(t, admin.CoreV1().ServiceAccounts("default").Delete(ctx, "robot", metav1.DeleteOptions{}))
		_, err = as("dp-1")
		assert.True(t, apierrors.IsUnauthorized(err), "the account is gone: %v", err)
		settle()
		_, err = admin.CoreV1().Secrets("default").Get(ctx, s.Name, metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err), "and its token with it: %v", err)
	})
}

func TestARequestedTokenExpires(t *testing.T) {
	bubble(t, func(t *testing.T, fleet *kubefake.Fleet, c *kubernetes.Clientset) {
		ctx := t.Context()
		settle()
		seconds := int64(600)
		request, err := c.CoreV1().ServiceAccounts("default").CreateToken(ctx, "default",
			&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}, metav1.CreateOptions{})
		require.NoError(t, err)
		review := func() authenticationv1.TokenReviewStatus {
			r, err := c.AuthenticationV1().TokenReviews().Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: request.Status.Token}}, metav1.CreateOptions{})
			require.NoError(t, err)
			return r.Status
		}
		assert.True(t, review().Authenticated)
		assert.Equal(t, "system:serviceaccount:default:default", review().User.Username)
		<-time.After(601 * time.Second)
		assert.False(t, review().Authenticated)
		assert.Zero(t, fleet.Writes("dp-1"), "asking for a token stores nothing")
	})
}

func TestTheSameFleetIsTheSameInEveryRun(t *testing.T) {
	run := func() (objects []string) {
		synctest.Test(t, func(t *testing.T) {
			fleet := kubefake.NewFleet("dp-1")
			s := tokenOf(t, client(t, fleet, "dp-1"), "robot")
			objects = append(objects, string(s.UID), string(s.Data["token"]), string(fleet.CA("dp-1")))
			for _, obj := range fleet.Objects("dp-1") {
				objects = append(objects, obj.GetKind()+" "+obj.GetName()+" "+string(obj.GetUID())+" "+obj.GetResourceVersion())
			}
		})
		return objects
	}
	first := run()
	assert.Equal(t, first, run())
}
