package kubeflow_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kubeflow"
	"github.com/planewright/planewright/kubeflow/kubeflowtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const bindingOfBo = "user-bo-acme-example-clusterrole-edit"

func TestAPersonIsLetInByAPairOfObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		install(t, w, bare().WithProfiles(teamA()))
		role := get(t, w, "rbac.authorization.k8s.io/v1", "RoleBinding", "team-a", bindingOfBo)
		assert.Equal(t, map[string]string{"user": editor, "role": "edit"}, role.GetAnnotations())
		assert.Equal(t, map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "kubeflow-edit"}, field(t, role, "roleRef"))
		assert.Equal(t, []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": editor}}, field(t, role, "subjects"))
		policy := get(t, w, "security.istio.io/v1beta1", "AuthorizationPolicy", "team-a", bindingOfBo)
		assert.Equal(t, map[string]any{"rules": []any{map[string]any{
			"from": []any{map[string]any{"source": map[string]any{"principals": []any{
				"cluster.local/ns/istio-system/sa/kubeflow-istio-ingressgateway-service-account", "cluster.local/ns/kubeflow/sa/ml-pipeline-ui"}}}},
			"when": []any{map[string]any{"key": "request.headers[kubeflow-userid]", "values": []any{editor}}},
		}}}, field(t, policy, "spec"), "one rule: who asks, and where from")
		ns := get(t, w, "v1", "Namespace", "", "team-a")
		assert.Equal(t, "baseline", ns.GetLabels()["pod-security.kubernetes.io/enforce"])
		quota := get(t, w, "v1", "ResourceQuota", "team-a", "kf-resource-quota")
		assert.Equal(t, map[string]any{"requests.cpu": "8"}, field(t, quota, "spec", "hard"))
	})
}

func TestAnotherRoleReplacesTheOldOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		install(t, w, bare().WithProfiles(teamA()))
		report := install(t, w, bare().WithProfiles(kubeflow.NewProfile("team-a", owner).WithViewers(editor)))
		assert.Contains(t, report.Changed(), "kubeflow/ml/profiles/team-a/bindings/user-bo-acme-example-clusterrole-view")
		assert.NotContains(t, names(w, "workload", "RoleBinding"), "team-a/"+bindingOfBo)
		assert.NotContains(t, names(w, "workload", "AuthorizationPolicy"), "team-a/"+bindingOfBo)
		assert.Contains(t, names(w, "workload", "AuthorizationPolicy"), "team-a/user-bo-acme-example-clusterrole-view")
	})
}

func TestTwoPeopleOfOneNameAreACollision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		install(t, w, bare().WithProfiles(kubeflow.NewProfile("team-a", owner)))
		w.Add("workload", manifest("rbac.authorization.k8s.io/v1", "RoleBinding", "", "", map[string]any{
			"metadata": map[string]any{"name": bindingOfBo, "namespace": "team-a", "annotations": map[string]any{"user": "BO@acme.example", "role": "edit"}},
			"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "kubeflow-edit"}}))
		plan, err := bare().WithProfiles(teamA()).Plan(t.Context(), w.Env())
		require.NoError(t, err)
		_, installed := bare().WithProfiles(teamA()).Install(t.Context(), w.Env())
		for _, err := range []error{plan.Err(), installed} {
			require.ErrorIs(t, err, planewright.ErrBlocked)
			require.ErrorIs(t, err, planewright.ErrConflict)
			collision, ok := errors.AsType[*kubeflow.CollisionError](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, editor, collision.Wanted)
			assert.Equal(t, "BO@acme.example", collision.Found)
			assert.Equal(t, "RoleBinding team-a/user-bo-acme-example-clusterrole-edit in cluster workload", collision.Object.String())
		}
		reason := blocked(t, w, bare().WithProfiles(teamA()), "kubeflow/ml/profiles/team-a/bindings/"+bindingOfBo)
		assert.Contains(t, reason, `RoleBinding team-a/user-bo-acme-example-clusterrole-edit in cluster workload belongs to "BO@acme.example", and "bo@acme.example" would have an object of the same name`)
	})
}

func TestHalfAPairIsCompletedAndAWholeOneOfTheDashboardsIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		install(t, w, bare().WithProfiles(teamA()))
		ref := kube.Ref{APIVersion: "security.istio.io/v1beta1", Kind: "AuthorizationPolicy", Namespace: "team-a", Name: bindingOfBo}
		require.NoError(t, w.Cluster("workload").Objects.Delete(t.Context(), ref, kube.DeleteOptions{}))
		verified, err := bare().WithProfiles(teamA()).Verify(t.Context(), w.Env())
		require.NoError(t, err)
		assert.False(t, verified.OK())
		report := install(t, w, bare().WithProfiles(teamA()))
		assert.Equal(t, []string{"kubeflow/ml/profiles/team-a/bindings/" + bindingOfBo}, report.Changed())

		for _, r := range []kube.Ref{ref, {APIVersion: "rbac.authorization.k8s.io/v1", Kind: "RoleBinding", Namespace: "team-a", Name: bindingOfBo}} {
			edit(t, w, "workload", r, func(o *unstructured.Unstructured) { o.SetLabels(nil) })
		}
		w.Fleet.ForgetCalls()
		assert.Empty(t, install(t, w, bare().WithProfiles(teamA())).Changed())
		_, err = bare().WithProfiles(teamA()).Uninstall(t.Context(), w.Env())
		require.NoError(t, err)
		assert.Contains(t, names(w, "workload", "RoleBinding"), "team-a/"+bindingOfBo)
	})
}

func TestANamespaceThatExistsIsAdoptedOnRequestOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, workloadWith(manifest("v1", "Namespace", "", "team-a", nil)))
		step := "kubeflow/ml/profiles/team-a/profile"
		profile := kubeflow.NewProfile("team-a", owner)
		assert.Equal(t, "namespace team-a exists and lacks the annotation owner: ana@acme.example; the profile controller leaves it alone: add the annotation by WithNamespaceAdoption, or use NewNamespaceBinding",
			blocked(t, w, bare().WithProfiles(profile), step))
		install(t, w, bare().WithProfiles(profile.WithNamespaceAdoption()))
		assert.Equal(t, owner, get(t, w, "v1", "Namespace", "", "team-a").GetAnnotations()["owner"])
		assert.Contains(t, blocked(t, w, bare().WithProfiles(kubeflow.NewProfile("team-a", editor)), step), "Profile team-a belongs to ana@acme.example, and its owner cannot be changed")
	})
}

func TestAProfileOfTheSameOwnerIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		install(t, w, bare())
		w.Add("workload", manifest("kubeflow.org/v1", "Profile", "", "team-a", map[string]any{"spec": map[string]any{"owner": map[string]any{"kind": "User", "name": owner}}}))
		settle()
		stack := bare().WithProfiles(kubeflow.NewProfile("team-a", owner))
		found := findings(t, w, stack, kubeflow.CodeProfile)
		require.Len(t, found, 1)
		assert.Equal(t, "somebody else made the profile, with the same owner; it stays as it is", found[0].Cause)
		assert.NotContains(t, install(t, w, stack).Changed(), "kubeflow/ml/profiles/team-a/profile")
	})
}

func TestPodSecurityIsLoweredOnRequestOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		profile := kubeflow.NewProfile("team-a", owner)
		install(t, w, bare().WithProfiles(profile.WithPodSecurity(kubeflow.PodSecurityBaseline)))
		assert.Equal(t, "namespace team-a keeps pods to the level baseline, and privileged would lower it; say so by WithLoweredPodSecurity",
			blocked(t, w, bare().WithProfiles(profile.WithPodSecurity(kubeflow.PodSecurityPrivileged)), "kubeflow/ml/profiles/team-a/security"))
		install(t, w, bare().WithProfiles(profile.WithLoweredPodSecurity(kubeflow.PodSecurityPrivileged)))
		assert.Equal(t, "privileged", get(t, w, "v1", "Namespace", "", "team-a").GetLabels()["pod-security.kubernetes.io/enforce"])
	})
}

func TestAPersonIsLetIntoANamespaceThatIsNoProfiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, workloadWith(manifest("v1", "Namespace", "", "legacy", nil)))
		stack := bare().WithNamespaceBindings(kubeflow.NewNamespaceBinding("legacy", "Cy@acme.example"))
		require.Empty(t, findings(t, w, stack, kubeflow.CodeLetterCase), "while the base is not there nothing is known")
		install(t, w, stack)
		for _, f := range []struct{ code, cause string }{
			{kubeflow.CodeLetterCase, "Cy@acme.example has upper-case letters; people are compared letter by letter with what the login gives, which is often lower case"},
			{kubeflow.CodeInvisible, "the namespace is no profile's: Cy@acme.example is let in, and the dashboard's list of contributors does not show it"},
		} {
			found := findings(t, w, stack, f.code)
			require.Len(t, found, 1)
			assert.Equal(t, f.cause, found[0].Cause)
		}
		get(t, w, "v1", "ServiceAccount", "legacy", "default-editor")
		editors := get(t, w, "rbac.authorization.k8s.io/v1", "RoleBinding", "legacy", "default-editor")
		assert.Equal(t, "kubeflow-edit", field(t, editors, "roleRef", "name"))
		admin := get(t, w, "rbac.authorization.k8s.io/v1", "RoleBinding", "legacy", "user-cy-acme-example-clusterrole-admin")
		assert.Equal(t, "kubeflow-admin", field(t, admin, "roleRef", "name"))
		get(t, w, "security.istio.io/v1beta1", "AuthorizationPolicy", "legacy", "user-cy-acme-example-clusterrole-admin")
		w.Fleet.ForgetCalls()
		assert.Empty(t, install(t, w, stack).Changed())
		assert.Zero(t, w.Fleet.Writes("workload"))
		assert.Equal(t, "namespace missing does not exist; create it first, or use NewProfile, which does",
			blocked(t, w, bare().WithNamespaceBindings(kubeflow.NewNamespaceBinding("missing", owner)), "kubeflow/ml/namespaces/missing/editor"))
	})
}

func TestARegistryAdmitsFurtherNamespacesBesideItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		registry := kubeflow.NewModelRegistry("models", teamA())
		stack := bare().WithProfiles(teamA())
		install(t, w, stack.WithModelRegistries(registry.WithAccessFrom("serving", "batch"), kubeflow.NewModelRegistry("second", teamA())))
		admitted := func() any {
			return field(t, get(t, w, "security.istio.io/v1beta1", "AuthorizationPolicy", "team-a", "models"), "spec", "rules")
		}
		from := func(namespaces ...any) any {
			return map[string]any{"from": []any{map[string]any{"source": map[string]any{"namespaces": namespaces}}}}
		}
		assert.Equal(t, []any{from("team-a"), from("batch", "serving")}, admitted())
		assert.Equal(t, map[string]any{"mysql": map[string]any{"storageSize": "10Gi"}}, field(t, get(t, w, "operator.alauda.io/v1", "ModelRegistry", "team-a", "models"), "spec"))
		assert.Equal(t, []string{"team-a/models", "team-a/second"}, names(w, "workload", "ModelRegistry"))

		install(t, w, stack.WithModelRegistries(registry))
		assert.Equal(t, []any{from("team-a")}, admitted())
		assert.Equal(t, []string{"team-a/models"}, names(w, "workload", "ModelRegistry"), "what is no longer named is taken away")
	})
}

func TestAComponentThatIsNoLongerNamedIsTakenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		install(t, w, bare().WithTrainer(kubeflow.NewTrainer()))
		report := install(t, w, bare())
		assert.Contains(t, report.Changed(), "kubeflow/ml/trainer/subscription/pruned")
		assert.Empty(t, names(w, "workload", "KubeflowTrainer"))
		assert.Equal(t, []string{"kfbase-operator/kfbase-operator"}, names(w, "workload", "Subscription"))
		assert.NotContains(t, names(w, "workload", "ClusterServiceVersion"), "kubeflow-trainer-operator/kubeflow-trainer-operator.v2.1.0")
		assert.Contains(t, names(w, "workload", "CustomResourceDefinition"), "trainjobs.trainer.kubeflow.org")
		w.Fleet.ForgetCalls()
		assert.Empty(t, install(t, w, bare()).Changed())
		assert.Zero(t, w.Fleet.Writes("workload"))
	})
}

func TestTheBaseStaysIfProfilesWouldGoWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		stack := bare().WithProfiles(teamA())
		install(t, w, stack)
		edit(t, w, "workload", kube.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "profiles.kubeflow.org"},
			func(o *unstructured.Unstructured) {
				o.SetAnnotations(map[string]string{"meta.helm.sh/release-name": "kubeflowbase", "meta.helm.sh/release-namespace": "kfbase-operator"})
			})
		_, err := stack.Uninstall(t.Context(), w.Env())
		require.ErrorIs(t, err, planewright.ErrBlocked)
		require.ErrorContains(t, err, "its chart would delete the definition profiles.kubeflow.org, and with it Profile team-a, their namespaces and data")
		assert.Empty(t, w.Fleet.Calls(kubefake.Call("delete").Kind("KubeflowBase")))
		assert.Equal(t, []string{"team-a"}, names(w, kubeflowtest.Workload, "Profile"))
	})
}
