package adminfake_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/flyte/admin/adminfake"
)

var train = admin.LaunchPlanID{Project: "team1", Domain: "development", Name: "train.main", Version: "v1"}

// A fake is used through a client, like any flyteadmin.
func Example() {
	fake := adminfake.New(adminfake.WithProjects("team1"))
	client, err := fake.Client()
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	fmt.Println(client.RegisterProject(ctx, admin.Project{ID: "team2", Name: "Team 2"}))
	err = client.RegisterProject(ctx, admin.Project{ID: "team1", Name: "Team 1"})
	fmt.Println(errors.Is(err, planewright.ErrAlreadyExists))
	for _, call := range fake.Calls(adminfake.Operation("write")) {
		fmt.Println(call)
	}
	// Output:
	// <nil>
	// true
	// RegisterProject POST /api/v1/projects: 200, persisted
	// RegisterProject POST /api/v1/projects: 409
}

// The placement stands for flyteadmin's labelClusterMap. It sees the label
// that counts for an execution.
func ExampleWithPlacement() {
	fake := adminfake.New(
		adminfake.WithProjects("team1"),
		adminfake.WithLaunchPlans(adminfake.LaunchPlan{ID: train}),
		adminfake.WithPlacement(func(e adminfake.Execution) string {
			if e.Label == "gpu" {
				return "dp-2"
			}
			return "dp-1"
		}))
	client, err := fake.Client()
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	if err := client.PutAttributes(ctx, admin.ProjectScope("team1"), admin.ExecutionClusterLabel("gpu")); err != nil {
		fmt.Println(err)
		return
	}
	for _, label := range []string{"", "cpu"} {
		if _, err := client.CreateExecution(ctx, admin.ExecutionRequest{LaunchPlan: train, ExecutionClusterLabel: label}); err != nil {
			fmt.Println(err)
			return
		}
	}
	for _, e := range fake.Executions() {
		fmt.Printf("%s on %s by label %s\n", e.Phase, e.Cluster, e.Label)
	}
	// Output:
	// UNDEFINED on dp-2 by label gpu
	// UNDEFINED on dp-1 by label cpu
}

// Faults strike the calls they are meant for.
func ExampleFake_Fail() {
	fake := adminfake.New(adminfake.WithProjects("team1"))
	fake.Fail(adminfake.Operation("GetProject"), adminfake.Denied, adminfake.After(1), adminfake.Times(1))
	client, err := fake.Client()
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		_, err := client.Project(context.Background(), "team1")
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// flyteadmin: GetProject /api/v1/projects/team1: 403 PERMISSION_DENIED: permission denied by a rule of the fake
	// <nil>
}

// Over a network, the fake is a handler.
func ExampleFake_ServeHTTP() {
	server := httptest.NewServer(adminfake.New())
	defer server.Close()
	client, err := admin.New(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	version, err := client.Version(context.Background())
	fmt.Println(version.Version, err)
	// Output: v1.16.8 <nil>
}

// A fake that demands a login.
func ExampleWithAuth() {
	fake := adminfake.New(adminfake.WithAuth(adminfake.Auth{ClientID: "installer", ClientSecret: "s3cret"}))
	ctx := context.Background()
	for _, secret := range []string{"s3cret", "wrong"} {
		client, err := fake.Client(admin.WithClientCredentials(admin.ClientCredentials{ID: "installer", Secret: planewright.SecretValue(secret)}))
		if err != nil {
			fmt.Println(err)
			return
		}
		domains, err := client.Domains(ctx)
		fmt.Println(len(domains), errors.Is(err, planewright.ErrDenied))
	}
	// Output:
	// 3 false
	// 0 true
}
