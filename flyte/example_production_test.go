package flyte_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/kube/kubefake"
)

// A host leads to Flyte by an ingress controller. The install gives out the
// DNS record to create.
func ExampleDeployment_WithIngress() {
	fleet := kubefake.NewFleet().Add("main",
		kubefake.WithObjects(ingressClass("alb", "ingress.k8s.aws/alb")), kubefake.WithLoadBalancers(time.Millisecond))
	defer fleet.Close()
	env := flyte.NewEnv(fleet.Cluster("main")).WithCharts(standIns())

	deployment := flyte.NewSingleCluster("ml", flyte.V1_16_8, "main").
		WithStorage(flyte.S3("acme-flyte", "us-east-1")).
		WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("hunter2"))).
		WithHost("flyte.acme.example").
		WithIngress(flyte.ALB("arn:aws:acm:us-east-1:123456789012:certificate/abc").InternetFacing())

	report, err := deployment.Install(context.Background(), env)
	if err != nil {
		fmt.Println(err)
		return
	}
	record, err := deployment.DNSRecord().From(report)
	fmt.Println(record, err)
	// Output: flyte.acme.example. CNAME ingress.flyte.main.example. <nil>
}

// What cannot be is refused before anything is touched, all of it at once.
func ExampleIngress_WithAnnotation() {
	ingress := flyte.ALB("arn:aws:acm:us-east-1:123456789012:certificate/abc").
		WithAnnotation("kubernetes.io/ingress.class", "nginx").
		WithAnnotation("alb.ingress.kubernetes.io/target-type", "instance")
	err := flyte.NewSingleCluster("ml", flyte.V1_16_8, "main").
		WithStorage(flyte.S3("acme-flyte", "us-east-1")).
		WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("hunter2"))).
		WithIngress(ingress).
		Validate()
	for line := range strings.Lines(err.Error()) {
		if _, fix, ok := strings.Cut(line, "; fix: "); ok {
			fmt.Print(fix)
		}
	}
	// Output:
	// use WithHost
	// leave it out, or use WithInstanceTargets and Services of type NodePort
	// leave the annotation out, and use WithClass
}

// An upgrade is the same deployment in another version: its plan says what the
// version changes, and what to save before.
func ExampleDeployment_WithVersion() {
	fleet := kubefake.NewFleet("main")
	defer fleet.Close()
	env := flyte.NewEnv(fleet.Cluster("main")).WithCharts(everyVersion{})
	deployment := flyte.NewSingleCluster("ml", flyte.V1_15_3, "main").
		WithStorage(flyte.S3("acme-flyte", "us-east-1")).
		WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("hunter2")))
	if _, err := deployment.Install(context.Background(), env); err != nil {
		fmt.Println(err)
		return
	}

	plan, err := deployment.WithVersion(flyte.V1_16_8).Plan(context.Background(), env)
	if err != nil {
		fmt.Println(err)
		return
	}
	step, _ := plan.Step("flyte/ml/release")
	fmt.Println(step.Change.Action, step.Change.Diff[0])
	for _, finding := range plan.Findings() {
		if finding.Code == flyte.CodeBackup {
			fmt.Println(finding.Fix)
		}
	}
	// Output:
	// update chart: flyte-binary v1.15.3 → flyte-binary v1.16.8
	// save the database first: pg_dump --host=db.acme.internal --port=5432 --username=flyteadmin --format=custom --file=flyteadmin-v1.15.3.dump flyteadmin
}
