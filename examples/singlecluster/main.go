// Command singlecluster installs Flyte in one cluster: planned, installed,
// verified, and found unchanged by a second install.
//
// Without flags it runs on a cluster in memory. With -kubeconfig it runs on a
// real one, where the database password comes from the environment variable
// FLYTE_DB. See -help.
package main

import (
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/examples/internal/program"
	"github.com/planewright/planewright/flyte"
	"k8s.io/apimachinery/pkg/runtime"
)

func main() { program.Main(example()) }

func example() program.Example {
	return program.Example{
		Name:     "singlecluster",
		About:    "installs Flyte in one cluster",
		Clusters: []string{"main"},
		OnFakes:  []runtime.Object{program.Webhook("flyte-backend-flyte-binary-webhook")},
		Stack: func(world program.World) planewright.Stack {
			env := flyte.NewEnv(world.Clusters...).WithCharts(world.Charts)
			return deployment(world.Secret("FLYTE_DB")).On(env)
		},
	}
}

// deployment is what should exist: Flyte 1.16.8 with its data in S3 and its
// state in Postgres, roles for itself and for user code, and a quota in every
// project's domains.
func deployment(password planewright.Secret) flyte.Deployment {
	return flyte.NewSingleCluster("ml", flyte.V1_16_8, "main").
		WithStorage(flyte.S3("acme-flyte-meta", "us-east-1").WithUserDataBucket("acme-flyte-data")).
		WithDatabase(flyte.Postgres("flyte-db.acme.example", "flyteadmin").
			WithUser("flyteadmin").
			WithPassword(password)).
		WithIdentity(flyte.AWSRole("arn:aws:iam::123456789012:role/flyte-backend")).
		WithUserIdentity(flyte.AWSRole("arn:aws:iam::123456789012:role/flyte-user")).
		WithProjects(flyte.NewProject("team1").WithDescription("Models of team one")).
		WithTemplateVariable("projectQuotaCpu", "8").
		WithTemplateVariable("projectQuotaCpu", "32", "production").
		WithResourceTemplate("010_quota.yaml", quota).
		WithResources(
			flyte.Resources{CPU: "500m", Memory: "1Gi"},
			flyte.Resources{Memory: "2Gi"})
}

// quota bounds each project's domains. Flyte fills in the namespace and the
// variable, whose value differs by domain.
const quota = `apiVersion: v1
kind: ResourceQuota
metadata:
  name: project-quota
  namespace: {{ namespace }}
spec:
  hard:
    limits.cpu: "{{ projectQuotaCpu }}"
`
