// Package admin is a client of flyteadmin's HTTP gateway: projects, matchable
// attributes (execution cluster labels among them), launch plans, executions,
// version and health. It speaks JSON over HTTP, through an ingress or a
// port-forward, and needs neither gRPC nor flyteidl.
//
//	client, err := admin.New("https://flyte.acme.example", admin.WithClientCredentials(admin.ClientCredentials{
//		ID: "installer", Secret: planewright.SecretFromEnv("FLYTE_CLIENT_SECRET"),
//	}))
//	err = client.RegisterProject(ctx, admin.Project{ID: "team1", Name: "Team 1"})
//	err = client.PutAttributes(ctx, admin.ProjectDomainScope("team1", "production"), admin.ExecutionClusterLabel("gpu"))
//	rows, err := client.Attributes(ctx, admin.KindExecutionClusterLabel)
//
// # Errors
//
// What is wrong before anything is sent is a [*planewright.ValidationError].
// What flyteadmin or the way to it says is an [*Error]; errors.Is tells by the
// root package's sentinels what it means: planewright.ErrNotFound,
// ErrAlreadyExists, ErrDenied, ErrInvalid, ErrConflict, ErrThrottled,
// ErrUnavailable, ErrTimeout, ErrUnsupported. No error holds a credential.
//
// # Retries
//
// Calls that may be made twice are retried a few times with growing pauses
// (see [WithRetries]) after 429, 5xx and broken connections. A POST is retried
// only if it is certain that it did nothing. Of one that may have done
// something, [Client.RegisterProject] and [Client.CreateExecution] look whether
// it did.
//
// # What is known of the server
//
// The rules come from flyteadmin v1.16.8, its sources and its answers. The
// gateway names JSON fields execution_cluster_label or executionClusterLabel,
// depending on the headers of a request and on versions; both are understood.
// Three of its habits are worth knowing:
//
//   - A read of attributes returns the most specific row that applies, which
//     may be one of a wider scope. [Client.Attributes] lists rows as they are.
//   - A deletion takes the narrower scopes' rows of the same kind with it.
//     [Client.DeleteAttributes] puts them back.
//   - Plugin overrides are merged by task type, not replaced, and cannot be
//     set for a whole project.
//
// Package adminfake is such a gateway in memory.
package admin
