package flyte_test

import (
	"fmt"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kube/live"
	"github.com/stretchr/testify/require"
)

func TestSmoke(t *testing.T) {
	fleet := kubefake.NewFleet("one", "two").Add("control", kubefake.WithHealth(adminfake.New()))
	defer fleet.Close()
	aws := eksfake.New("123456789012", "us-east-1", "control", "one", "two")
	aws.PutBucket(eksfake.Bucket{Name: "acme-flyte"})
	env := flyte.NewEnv(fleet.Cluster("control"), fleet.Cluster("one"), fleet.Cluster("two")).WithCharts(live.ChartArchive("/tmp/charts/flyte-core-v1.16.8.tgz"))
	for _, n := range []string{"control", "one", "two"} {
		env = env.WithCloud(n, aws.Account().Cluster(n))
	}
	d := flyte.NewDeployment("ml", flyte.V1_16_8).
		WithStorage(flyte.S3("acme-flyte", "us-east-1")).
		WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("hunter2"))).
		WithProjects(flyte.NewProject("team1")).
		WithControlPlane(flyte.NewControlPlane("control").WithHost("flyte.acme.example").
			WithIngress(flyte.ALB("arn:aws:acm:us-east-1:123456789012:certificate/abc"))).
		WithDataplanes(flyte.NewDataplane("dp-1", "one"), flyte.NewDataplane("dp-2", "two")).
		WithLabelMap(flyte.NewLabelMap().WithLabel("cpu", flyte.Weight("dp-1", 1)).WithLabel("gpu", flyte.Weight("dp-1", 30), flyte.Weight("dp-2", 70)).WithDefault("cpu").WithProject("team1","development","gpu"))
	fmt.Print(d)
	plan, err := planewright.Plan(t.Context(), d.On(env))
	require.NoError(t, err)
	fmt.Print(plan)
	report, err := planewright.Install(t.Context(), d.On(env))
	fmt.Print(report)
	require.NoError(t, err)
	v, err := planewright.Verify(t.Context(), d.On(env))
	fmt.Print(v)
	require.NoError(t, err)
	before := fleet.Writes("control") + fleet.Writes("one")
	report, err = planewright.Install(t.Context(), d.On(env))
	require.NoError(t, err)
	fmt.Print(report)
	require.Equal(t, before, fleet.Writes("control")+fleet.Writes("one"))
}
