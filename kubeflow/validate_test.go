package kubeflow_test

import (
	"errors"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kubeflow"
	"github.com/planewright/planewright/kubeflow/kubeflowtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAWholeStackIsValid(t *testing.T) { require.NoError(t, whole().Validate()) }

func TestEverythingThatIsWrongIsToldAtOnce(t *testing.T) {
	profile := kubeflow.NewProfile("john_smith@example.com", "john_smith@example.com").
		WithEditors("a.b@x.io", "a-b@x.io", "john_smith@example.com").
		WithQuota("requests.cpu", "much")
	err := kubeflow.NewKubeflowStack("ML", kubeflow.Release2603().WithPin(kubeflow.ComponentBase, "v26.3.0"), "", "").
		WithHost("https://Kubeflow.acme.example/").
		WithBase(kubeflow.NewBase().WithOperatorNamespace("ops").WithValues(kube.Values{}.Set("global.kubeflowHost", "other.acme.example"))).
		WithPipelines(kubeflow.NewPipelines().WithOperatorNamespace("ops")).
		WithProfiles(profile, kubeflow.NewProfile("kube-system", "ana@acme.example")).
		WithModelRegistries(kubeflow.NewModelRegistry("Models", kubeflow.NewProfile("other", "x@y.z")).WithStorage("", "big")).
		WithNamespaceBindings(kubeflow.NewNamespaceBinding("default", "").WithRole("owner")).
		Validate()
	require.ErrorIs(t, err, planewright.ErrInvalid)
	invalid, ok := errors.AsType[*planewright.ValidationError](err)
	require.True(t, ok)
	var got []string
	for _, p := range invalid.Problems {
		got = append(got, p.Path+": "+p.Fix)
	}
	assert.Equal(t, []string{
		"name: choose a short name like ml",
		"global: give NewKubeflowStack the name of a cluster of the Env",
		"workload: give NewKubeflowStack the name of a cluster of the Env",
		"host: leave out the scheme, the port and slashes: kubeflow.acme.example",
		"release.base.csv: use a name like kfbase-operator.v1.2.3",
		"pipelines.operatorNamespace: leave it out to use kfp-operator",
		"base.values.global.kubeflowHost: leave the value out, or change WithHost",
		"profiles[0].name: use kubeflow-john-smith-example-com",
		"profiles[0].quota.requests.cpu: write it like 10Gi or 500m",
		"profiles[0].edit: use one of the two addresses",
		"profiles[0].edit: leave it out",
		"profiles[1].name: choose another name",
		"namespaceBindings[0].namespace: choose another name",
		"namespaceBindings[0].user: give NewNamespaceBinding one",
		"namespaceBindings[0].role: use one of the constants, such as kubeflow.RoleEdit",
		"modelRegistries[0].name: choose a short name like models",
		"modelRegistries[0].profile: add the profile by WithProfiles",
		"modelRegistries[0].size: write it like 10Gi or 500m",
	}, got)
}

func TestAStackNeedsItsClusters(t *testing.T) {
	_, err := bare().Plan(t.Context(), kubeflow.NewEnv())
	require.ErrorIs(t, err, planewright.ErrInvalid)
	require.ErrorContains(t, err, `env.clusters "global": the stack's cluster must be in the Env; fix: give NewEnv a cluster of that name`)
}

func TestAStackIsAValue(t *testing.T) {
	base := bare()
	_ = base.WithPipelines(kubeflow.NewPipelines()).WithProfiles(teamA()).WithHost("other.acme.example")
	assert.Equal(t, kubeflowtest.Host, base.Host())
	assert.Equal(t, []kubeflow.Component{kubeflow.ComponentBase}, base.Components())
	profile := kubeflow.NewProfile("team-a", owner).WithEditors("a@x.io")
	_, _ = profile.WithEditors("b@x.io"), profile.WithEditors("c@x.io")
	assert.Equal(t, []kubeflow.Binding{{User: "a@x.io", Role: kubeflow.RoleEdit}}, profile.Bindings())
}
