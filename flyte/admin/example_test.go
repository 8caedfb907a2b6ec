package admin_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/flyte/admin/adminfake"
)

// A client is made of an endpoint and credentials; nothing is sent yet.
func ExampleNew() {
	client, err := admin.New("https://flyte.acme.example", admin.WithClientCredentials(admin.ClientCredentials{
		ID: "installer", Secret: planewright.SecretFromEnv("FLYTE_CLIENT_SECRET"),
	}))
	fmt.Println(client, err)
	_, err = admin.New("dns:///flyte.acme.example:81", admin.WithRetries(-1))
	fmt.Println(err)
	// Output:
	// flyteadmin at https://flyte.acme.example <nil>
	// flyteadmin client: invalid:
	//   endpoint "dns:///flyte.acme.example:81": must begin with http:// or https://; fix: write it as "https://flyte.acme.example"; a gRPC address such as dns:///host:81 is not served over HTTP
	//   retries "-1": must not be negative; fix: use 0 to switch retries off
}

// connect stands for a connection to a real flyteadmin.
func connect(fake *adminfake.Fake) *admin.Client {
	client, err := fake.Client()
	if err != nil {
		panic(err)
	}
	return client
}

// Health tells whether the gateway serves, Version what runs behind it.
func ExampleClient_Version() {
	client := connect(adminfake.New())
	ctx := context.Background()
	fmt.Println(client.Health(ctx))
	version, err := client.Version(ctx)
	fmt.Println(version.Version, err)
	// Output:
	// <nil>
	// v1.16.8 <nil>
}

// A project is looked for, then registered, then kept as it should be.
func ExampleClient_RegisterProject() {
	client := connect(adminfake.New())
	ctx := context.Background()
	team := admin.Project{ID: "team1", Name: "Team 1"}
	_, err := client.Project(ctx, team.ID)
	if errors.Is(err, planewright.ErrNotFound) {
		err = client.RegisterProject(ctx, team)
	}
	fmt.Println(err)
	team.Description = "trains models"
	fmt.Println(client.UpdateProject(ctx, team))
	projects, err := client.Projects(ctx)
	fmt.Println(projects, err)
	// Output:
	// <nil>
	// <nil>
	// [{team1 Team 1 trains models map[] ACTIVE}] <nil>
}

// Drift is found in the list of all rows, which says whose each one is.
func ExampleClient_Attributes() {
	client := connect(adminfake.New(adminfake.WithProjects("team1")))
	ctx := context.Background()
	for scope, label := range map[admin.Scope]admin.ExecutionClusterLabel{
		admin.ProjectScope("team1"):                              "cpu",
		admin.WorkflowScope("team1", "production", "train.main"): "gpu",
	} {
		if err := client.PutAttributes(ctx, scope, label); err != nil {
			fmt.Println(err)
			return
		}
	}
	rows, err := client.Attributes(ctx, admin.KindExecutionClusterLabel)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range rows {
		fmt.Println(row.Scope, row.Attributes)
	}
	applies, err := client.GetAttributes(ctx, admin.ProjectDomainScope("team1", "production"), admin.KindExecutionClusterLabel)
	fmt.Println("production has that of", applies.Scope, err)
	// Output:
	// team1 cpu
	// team1/production/train.main gpu
	// production has that of team1 <nil>
}

// Attributes of one kind are put and deleted; those of narrower scopes stay.
func ExampleClient_DeleteAttributes() {
	client := connect(adminfake.New(adminfake.WithProjects("team1")))
	ctx := context.Background()
	scope := admin.ProjectDomainScope("team1", "production")
	fmt.Println(client.PutAttributes(ctx, scope, admin.TaskResourceAttributes{Limits: admin.TaskResourceSpec{CPU: "8", Memory: "32Gi"}}))
	fmt.Println(client.DeleteAttributes(ctx, scope, admin.KindTaskResource))
	_, err := client.GetAttributes(ctx, scope, admin.KindTaskResource)
	fmt.Println(errors.Is(err, planewright.ErrNotFound))
	// Output:
	// <nil>
	// <nil>
	// true
}

// A launch plan's latest version is launched and awaited; the execution tells
// on which cluster it ran.
func ExampleClient_AwaitExecution() {
	client := connect(adminfake.New(
		adminfake.WithProjects("team1"),
		adminfake.WithLaunchPlans(adminfake.LaunchPlan{ID: canary, Inputs: map[string]adminfake.InputType{"who": adminfake.String}}),
		adminfake.WithPlacement(func(e adminfake.Execution) string { return "dp-2" }),
		adminfake.WithPhases(admin.PhaseRunning, admin.PhaseSucceeded)))
	ctx := context.Background()
	plan, err := client.LaunchPlan(ctx, "team1", "production", "canary.main")
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := client.CreateExecution(ctx, admin.ExecutionRequest{
		LaunchPlan: plan.ID, Name: "canary-1", ExecutionClusterLabel: "gpu", Inputs: map[string]admin.Literal{"who": admin.StringLiteral("verify")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	execution, err := client.AwaitExecution(ctx, id, func(text string) { fmt.Println(text) })
	fmt.Println(execution.Phase, execution.Cluster, err)
	// Output:
	// execution team1/production/canary-1 is RUNNING on dp-2
	// execution team1/production/canary-1 is SUCCEEDED on dp-2
	// SUCCEEDED dp-2 <nil>
}

// Before a cluster is taken away, what runs on it is looked for.
func ExampleClient_Running() {
	fake := adminfake.New(adminfake.WithProjects("team1"))
	for i, cluster := range []string{"dp-1", "dp-2", "dp-1"} {
		id := admin.ExecutionID{Project: "team1", Domain: "production", Name: fmt.Sprintf("run-%d", i)}
		fake.AddExecutions(adminfake.Execution{ID: id, Cluster: cluster, Phase: admin.PhaseRunning})
	}
	client := connect(fake)
	ctx := context.Background()
	running, err := client.Running(ctx, "team1", "production")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range running {
		if e.Cluster == "dp-1" {
			fmt.Println(e.ID, e.Phase, client.Terminate(ctx, e.ID, "dp-1 goes away"))
		}
	}
	// Output:
	// team1/production/run-0 RUNNING <nil>
	// team1/production/run-2 RUNNING <nil>
}

// Errors are told apart by sentinels; what flyteadmin said is in the typed error.
func ExampleError() {
	fake := adminfake.New()
	_, err := connect(fake).Execution(context.Background(), admin.ExecutionID{Project: "team1", Domain: "production", Name: "run-1"})
	var failure *admin.Error
	if errors.As(err, &failure) {
		fmt.Println(errors.Is(err, planewright.ErrNotFound), failure.Op, failure.Status, failure.Code, failure.Retryable())
	}
	// Output: true GetExecution 404 NOT_FOUND false
}
