package flyte_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"slices"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/internal/testcharts"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kube/live"
)

// exampleEnv is an Env with one cluster in memory. On real clusters it is
//
//	cluster, err := live.FromKubeconfig("", "main")
//	env := flyte.NewEnv(cluster).WithCharts(live.ChartRepository("https://flyteorg.github.io/flyte"))
func exampleEnv() (flyte.Env, *kubefake.Fleet) {
	fleet := kubefake.NewFleet("main")
	return flyte.NewEnv(fleet.Cluster("main")).WithCharts(live.ChartFS(testcharts.FS(), ".")), fleet
}

func exampleDeployment() flyte.Deployment {
	return flyte.NewSingleCluster("ml", flyte.V1_16_8, "main").
		WithStorage(flyte.S3("acme-flyte", "us-east-1")).
		WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("hunter2")))
}

// One Flyte on one cluster: planned, installed, verified, and found unchanged.
func Example() {
	ctx := context.Background()
	env, fleet := exampleEnv()
	defer fleet.Close()

	deployment := flyte.NewSingleCluster("ml", flyte.V1_16_8, "main").
		WithStorage(flyte.S3("acme-flyte", "us-east-1").WithUserDataBucket("acme-flyte-data")).
		WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").
			WithUser("flyte").
			WithTLS(flyte.TLSRequire).
			WithPassword(planewright.SecretValue("hunter2"))).
		WithIdentity(flyte.AWSRole("arn:aws:iam::123456789012:role/flyte-backend")).
		WithUserIdentity(flyte.AWSRole("arn:aws:iam::123456789012:role/flyte-user"))

	plan, err := planewright.Plan(ctx, deployment.On(env))
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range plan.Changes() {
		fmt.Println(step.Change.Action, step.ID)
	}
	report, err := planewright.Apply(ctx, plan)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("done:", len(report.Changed()))
	verification, err := planewright.Verify(ctx, deployment.On(env))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("working:", verification.OK())
	again, err := deployment.Install(ctx, env)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("done by a second install:", len(again.Changed()))
	// Output:
	// create flyte/ml/namespace
	// create flyte/ml/database-secret
	// create flyte/ml/release
	// done: 3
	// working: true
	// done by a second install: 0
}

// Everything that is wrong with a deployment is told at once, before anything is read or written.
func ExampleDeployment_Validate() {
	err := flyte.NewSingleCluster("ml", flyte.V1_16_8, "main").
		WithStorage(flyte.S3("s3://acme-flyte", "us-east-1")).
		WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin")).
		WithIdentity(flyte.AWSRole("arn:aws:iam::<ACCOUNT_NUMBER>:role/flyte")).
		Validate()
	var invalid *planewright.ValidationError
	if errors.As(err, &invalid) {
		for _, problem := range invalid.Problems {
			fmt.Println(problem.Path+":", problem.Fix)
		}
	}
	// Output:
	// storage.bucket: use the bucket's plain name, without a scheme or path
	// database.password: use WithPassword, or say WithTLS(flyte.TLSDisable)
	// identity: put in the value
}

// A base is kept and varied; each variant is a value of its own.
func ExampleNewSingleCluster() {
	base := flyte.NewSingleCluster("ml", flyte.V1_16_8, "staging").
		WithStorage(flyte.S3("acme-flyte-staging", "us-east-1")).
		WithDatabase(flyte.Postgres("db.staging.acme.internal", "flyteadmin").WithPassword(planewright.SecretFromEnv("FLYTE_DB")))
	lab := base.WithNamespace("flyte-lab").WithRelease("lab")

	fmt.Print(base)
	fmt.Print(lab)
	// Output:
	// flyte deployment ml: Flyte v1.16.8 on cluster staging
	//   release:  flyte/flyte-backend
	//   storage:  s3://acme-flyte-staging in us-east-1
	//   database: postgres://flyteadmin@db.staging.acme.internal:5432/flyteadmin, TLS require, password from environment variable FLYTE_DB
	//   identity: no identity, user code: no identity
	//   domains:  development, staging and production
	// flyte deployment ml: Flyte v1.16.8 on cluster staging
	//   release:  flyte-lab/lab
	//   storage:  s3://acme-flyte-staging in us-east-1
	//   database: postgres://flyteadmin@db.staging.acme.internal:5432/flyteadmin, TLS require, password from environment variable FLYTE_DB
	//   identity: no identity, user code: no identity
	//   domains:  development, staging and production
}

// Every project's domains get a quota, larger in production.
func ExampleDeployment_WithResourceTemplate() {
	deployment := exampleDeployment().
		WithProjects(flyte.NewProject("vision").WithDescription("Images and video")).
		WithResourceTemplate("010_quota.yaml", `
apiVersion: v1
kind: ResourceQuota
metadata:
  name: quota
  namespace: '{{ namespace }}'
spec:
  hard:
    limits.cpu: '{{ quotaCPU }}'
`).
		WithTemplateVariable("quotaCPU", "64", "production")

	fmt.Println(deployment.Validate())
	fmt.Println(deployment.WithTemplateVariable("quotaCPU", "8", "development", "staging").Validate())
	// Output:
	// flyte deployment ml: invalid:
	//   templates[0].text "{{ quotaCPU }}": the variable has no value in development and staging, and would stay in the object as it is; fix: use WithTemplateVariable("quotaCPU", …)
	// <nil>
}

// The desired state as files, for review and GitOps. Secrets are left out.
func ExampleDeployment_Render() {
	env, fleet := exampleEnv()
	defer fleet.Close()
	files := memory{}
	if err := exampleDeployment().Render(context.Background(), env, files); err != nil {
		log.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Println(name)
	}
	fmt.Print(files["database-secret/secret-flyte-backend-database.yaml"])
	// Output:
	// database-secret/secret-flyte-backend-database.yaml
	// namespace/namespace-flyte.yaml
	// release/manifests/clusterrole-flyte-backend-flyte-binary-cluster-role.yaml
	// release/manifests/clusterrolebinding-flyte-backend-flyte-binary-cluster-role-binding.yaml
	// release/manifests/configmap-flyte-backend-flyte-binary-cluster-resource-templates.yaml
	// release/manifests/configmap-flyte-backend-flyte-binary-config.yaml
	// release/manifests/deployment-flyte-backend-flyte-binary.yaml
	// release/manifests/secret-flyte-backend-flyte-binary-config-secret.yaml
	// release/manifests/service-flyte-backend-flyte-binary-grpc.yaml
	// release/manifests/service-flyte-backend-flyte-binary-http.yaml
	// release/manifests/service-flyte-backend-flyte-binary-webhook.yaml
	// release/manifests/serviceaccount-flyte-backend-flyte-binary.yaml
	// release/values.yaml
	// # What this Secret holds is left out here.
	// apiVersion: v1
	// kind: Secret
	// metadata:
	//   annotations:
	//     planewright.dev/revision: "1"
	//   labels:
	//     app.kubernetes.io/managed-by: planewright
	//     planewright.dev/stack: flyte.ml
	//   name: flyte-backend-database
	//   namespace: flyte
	// stringData:
	//   password: '[redacted]'
	// type: Opaque
}

// Raw values go over everything; what no template reads is told.
func ExampleDeployment_WithValues() {
	env, fleet := exampleEnv()
	defer fleet.Close()
	deployment := exampleDeployment().
		WithValues(kube.Values{"deployment": map[string]any{"podLabel": map[string]any{"team": "ml"}}})
	plan, err := deployment.Plan(context.Background(), env)
	if err != nil {
		log.Fatal(err)
	}
	for _, finding := range plan.Findings() {
		if finding.Code == flyte.CodeUnreadValue {
			fmt.Println(finding.Cause)
			fmt.Println(finding.Fix)
		}
	}
	// Output:
	// the raw value deployment.podLabel.team is read by no template of chart flyte-binary v1.16.8
	// did you mean deployment.podLabels? Otherwise leave it out
}

// A release that this package does not know: name its chart, and what the
// templates read if values are to be checked.
func ExampleNewVersion() {
	known, _ := flyte.V1_16_8.Chart("flyte-binary")
	known.Version = "v1.16.9"
	known.Digest = "" // any archive of that version
	version := flyte.NewVersion("v1.16.9", known)
	fmt.Println(version, exampleDeployment().Validate())
	// Output: v1.16.9 <nil>
}
