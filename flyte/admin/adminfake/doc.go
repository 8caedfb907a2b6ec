// Package adminfake is flyteadmin's HTTP gateway in memory: an [http.Handler]
// for a network, and an [http.RoundTripper] without one.
//
//	fake := adminfake.New(
//		adminfake.WithProjects("team1"),
//		adminfake.WithLaunchPlans(adminfake.LaunchPlan{ID: admin.LaunchPlanID{Project: "team1", Domain: "development", Name: "train.main", Version: "v1"}}),
//		adminfake.WithPlacement(func(e adminfake.Execution) string { return "dp-" + e.Label }),
//		adminfake.WithPhases(admin.PhaseRunning, admin.PhaseSucceeded))
//	client, err := fake.Client()
//
// It is stateful, and as strict as flyteadmin v1.16.8 is, whose answers it
// follows; package admintest is the contract that both pass. Unknown and
// archived projects are 400 with the code 3, what exists is 409 with 6, what
// does not is 404 with 5; any label is taken for attributes; plugin overrides
// are merged; a deletion takes narrower scopes' attributes with it; an update
// of a project leaves what is empty; a list's token is an offset. Names in JSON
// are taken in both spellings; unknown ones are refused for the media type
// application/json, and passed over for others. Answers are spelt as the
// request's headers ask for: execution_cluster_label for application/json,
// executionClusterLabel for others.
//
// [Fake.Fail] has calls meet faults, [Do] lets somebody else write in between,
// and [Fake.Calls] tells what was asked. Nothing sleeps but for latency that
// was asked for; it runs in a bubble of testing/synctest.
//
// # What is more lenient than flyteadmin
//
//   - Texts of errors differ where flyteadmin has them from a library: where in a
//     JSON document something is wrong, what a valid label is.
//   - Nothing is registered: launch plans appear by [Fake.AddLaunchPlans], and no
//     workflows or tasks are served. Inputs are strings, integers and booleans,
//     each of them required.
//   - Executions run nowhere: their phases are set by [Fake.SetPhase],
//     [Fake.FailExecution] or [WithPhases]. Any cluster that the placement names
//     is there and takes them, and any label has one.
//   - Filters know the columns that a list of this package's clients needs, and
//     are not read by a database, which has more to say about types.
//   - Quality of service, security contexts and the like are stored and not checked.
//   - Tokens are no JWTs, and there is one OAuth2 client. Cookies, PKCE and device
//     codes are not offered.
//   - There are no descriptions, node executions, events, or data.
package adminfake
