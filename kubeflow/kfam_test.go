package kubeflow_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/planewright/planewright/kubeflow"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestBindingsHaveTheNamesThatTheDashboardGivesThem(t *testing.T) {
	for _, tt := range []struct {
		user string
		role kubeflow.Role
		want string
	}{
		{"lalith.397401@zq.msds.kp.org", kubeflow.RoleEdit, "user-lalith-397401-zq-msds-kp-org-clusterrole-edit"},
		{"admin@cpaas.io", kubeflow.RoleAdmin, "user-admin-cpaas-io-clusterrole-admin"},
		{"a..b@x.io", kubeflow.RoleView, "user-a-b-x-io-clusterrole-view"},
		{"a.b@x.io", kubeflow.RoleView, "user-a-b-x-io-clusterrole-view"},
		{"A.B@x.io", kubeflow.RoleView, "user-a-b-x-io-clusterrole-view"},
		{"+ana@x.io", kubeflow.RoleView, "user-ana-x-io-clusterrole-view"},
	} {
		assert.Equal(t, tt.want, kubeflow.BindingName(tt.user, tt.role), tt.user)
	}
}

func TestEveryAddressGivesAValidName(t *testing.T) {
	const letters = "abcXYZ0189.!#$%&'*+/=?^_`{|}~-éß漢"
	random := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune(letters)
	for range 1000 {
		local := make([]rune, 1+random.IntN(64))
		for i := range local {
			local[i] = alphabet[random.IntN(len(alphabet))]
		}
		user := fmt.Sprintf("%s@host-%d.example", string(local), random.IntN(1000))
		name := kubeflow.BindingName(user, kubeflow.RoleEdit)
		assert.Empty(t, validation.IsDNS1123Subdomain(name), "%q gives %q", user, name)
	}
}

func TestProfilesHaveTheirUsualNames(t *testing.T) {
	for email, want := range map[string]string{
		"admin@cpaas.io": "kubeflow-admin-cpaas-io", "john_smith@example.com": "kubeflow-john-smith-example-com", "漢@字": "",
	} {
		assert.Equal(t, want, kubeflow.ProfileName(email), email)
	}
}
