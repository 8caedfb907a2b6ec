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
)

func addClaim(w *kubeflowtest.World, namespace, name string) {
	w.Add("workload", manifest("v1", "PersistentVolumeClaim", namespace, name, map[string]any{"spec": map[string]any{
		"accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "10Gi"}}}}))
}

func TestAnUninstallDeletesWhatIsNamedAndKeepsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		other := kubeflow.NewProfile("team-b", "eve@acme.example")
		stack := whole().WithProfiles(other).
			WithProfilesDeleted("team-a").
			WithDefinitionsDeleted("kubeflowpipelines.operator.alauda.io", "trainjobs.trainer.kubeflow.org").
			WithVolumesDeleted("kubeflow/mysql-pv-claim", "kubeflow/never-made")
		install(t, w, stack)
		addClaim(w, "kubeflow", "mysql-pv-claim")
		addClaim(w, "kubeflow", "minio-pvc")
		plan, err := stack.Plan(t.Context(), w.Env())
		require.NoError(t, err)
		planewright.AssertNoChanges(t, plan)
		assert.Contains(t, plan.String(), "volumes that an uninstall deletes: kubeflow/mysql-pv-claim, kubeflow/never-made")

		report, err := stack.Uninstall(t.Context(), w.Env())
		require.NoError(t, err)
		settle()
		assert.Equal(t, []string{"team-b"}, names(w, "workload", "Profile"))
		assert.NotContains(t, names(w, "workload", "Namespace"), "team-a")
		assert.Contains(t, names(w, "workload", "Namespace"), "team-b")
		assert.Equal(t, []string{"kubeflow/minio-pvc"}, names(w, "workload", "PersistentVolumeClaim"))
		definitions := names(w, "workload", "CustomResourceDefinition")
		assert.NotContains(t, definitions, "kubeflowpipelines.operator.alauda.io")
		assert.NotContains(t, definitions, "trainjobs.trainer.kubeflow.org")
		assert.Contains(t, definitions, "kubeflowbases.operator.alauda.io")
		var kept []string
		for _, k := range report.Kept {
			kept = append(kept, k.Object.String())
		}
		assert.Contains(t, kept, "Profile team-b in cluster workload")
		assert.Contains(t, kept, "CustomResourceDefinition kubeflowbases.operator.alauda.io in cluster workload")
		assert.NotContains(t, kept, "Profile team-a in cluster workload")
		assert.NotContains(t, kept, "CustomResourceDefinition kubeflowpipelines.operator.alauda.io in cluster workload")

		_, err = stack.Uninstall(t.Context(), w.Env())
		require.NoError(t, err, "once more does nothing")
	})
}

func TestADefinitionIsNotDeletedWhileObjectsWouldGoWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		stack := whole().WithDefinitionsDeleted("profiles.kubeflow.org", "trainjobs.trainer.kubeflow.org")
		install(t, w, stack)
		w.Add("workload", manifest("trainer.kubeflow.org/v1alpha1", "TrainJob", "team-a", "tonight", nil))
		w.Fleet.ForgetCalls()
		_, err := stack.Uninstall(t.Context(), w.Env())
		blocked, ok := errors.AsType[*planewright.BlockedError](err)
		require.True(t, ok, "%v", err)
		var causes []string
		for _, f := range blocked.Findings {
			assert.Equal(t, kubeflow.CodeInUse, f.Code)
			causes = append(causes, f.Object.Name+": "+f.Cause)
		}
		assert.Equal(t, []string{"profiles.kubeflow.org: with it would go Profile team-a", "trainjobs.trainer.kubeflow.org: with it would go TrainJob team-a/tonight"}, causes)
		assert.Zero(t, w.Fleet.Writes("workload"), "nothing is taken away")

		require.NoError(t, w.Cluster("workload").Objects.Delete(t.Context(),
			kube.Ref{APIVersion: "trainer.kubeflow.org/v1alpha1", Kind: "TrainJob", Namespace: "team-a", Name: "tonight"}, kube.DeleteOptions{}))
		_, err = stack.WithProfilesDeleted("team-a").Uninstall(t.Context(), w.Env())
		require.NoError(t, err)
		assert.NotContains(t, names(w, "workload", "CustomResourceDefinition"), "profiles.kubeflow.org")
	})
}

// The base's chart may own the definition of profiles: those that are to go do not keep it.
func TestProfilesThatAreToGoDoNotKeepTheBase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		stack := bare().WithProfiles(teamA())
		install(t, w, stack)
		ref := kube.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "profiles.kubeflow.org"}
		set(t, w, ref, map[string]any{"meta.helm.sh/release-name": "kubeflowbase", "meta.helm.sh/release-namespace": "kfbase-operator"}, "metadata", "annotations")
		_, err := stack.Uninstall(t.Context(), w.Env())
		require.ErrorIs(t, err, planewright.ErrBlocked)
		_, err = stack.WithProfilesDeleted("team-a").Uninstall(t.Context(), w.Env())
		require.NoError(t, err)
		assert.Empty(t, names(w, "workload", "KubeflowBase"))
	})
}

func TestAProfileOfSomebodyElsesIsNeverDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		install(t, w, bare())
		w.Add("workload", manifest("kubeflow.org/v1", "Profile", "", "team-a", map[string]any{"spec": map[string]any{"owner": map[string]any{"kind": "User", "name": owner}}}))
		settle()
		stack := bare().WithProfiles(kubeflow.NewProfile("team-a", owner)).WithProfilesDeleted("team-a")
		install(t, w, stack)
		_, err := stack.Uninstall(t.Context(), w.Env())
		require.NoError(t, err)
		assert.Equal(t, []string{"team-a"}, names(w, "workload", "Profile"))
		assert.Empty(t, w.Fleet.Calls(kubefake.Call("delete").Kind("Profile")))
	})
}

func TestWhatAnUninstallDeletesIsNamedWhole(t *testing.T) {
	err := bare().WithProfilesDeleted("team-z").WithDefinitionsDeleted("profiles").WithVolumesDeleted("mysql-pv-claim").Validate()
	invalid, ok := errors.AsType[*planewright.ValidationError](err)
	require.True(t, ok)
	var got []string
	for _, p := range invalid.Problems {
		got = append(got, p.Path+" "+p.Value+": "+p.Fix)
	}
	assert.Equal(t, []string{
		"profilesDeleted team-z: name a profile that WithProfiles names, or leave it out",
		"definitionsDeleted profiles: use a name like profiles.kubeflow.org",
		"volumesDeleted mysql-pv-claim: use a name like kubeflow/mysql-pv-claim",
	}, got)
}
