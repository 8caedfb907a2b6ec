// Package kubefake holds a fleet of Kubernetes clusters in memory. They stand
// behind an [net/http.RoundTripper], so that package kube/live, Helm's own code
// and any client-go client talk to them as they talk to real ones.
//
//	fleet := kubefake.NewFleet("control", "dp-1")
//	defer fleet.Close()
//
//	cluster := fleet.Cluster("dp-1")                          // what specs are installed on
//	client, err := kubernetes.NewForConfig(fleet.Config("dp-1"))  // any client-go client
//
//	fleet.Fail(kubefake.Call("create").Kind("Deployment"), kubefake.Unavailable, kubefake.Times(1))
//	… install …
//	fmt.Println(fleet.Writes("dp-1"), fleet.Calls(kubefake.Call("write").On("dp-1")))
//
// It needs no testing package: example programs run on it as tests do.
//
// # What it is like
//
// Each cluster answers as an API server of version [DefaultVersion] does; a
// test replays requests whose answers were recorded on a real one, and package
// kube/kubetest passes on both. Server-side apply is the real field manager's,
// dry runs and calls that change nothing store nothing, objects have uids,
// generations and versions, watches and pages work, names, sizes, schemas and
// what cannot change are checked, and errors carry the same codes, reasons,
// fields and mostly words. Custom kinds come and go with their definitions.
//
// The controllers that an install waits for are simulated: workloads get pods,
// pods find nodes (room, selectors, taints, affinity) and become ready after
// a delay, jobs complete, claims are bound, token Secrets are filled,
// namespaces are furnished and emptied, owned objects are collected. What they
// do takes a few milliseconds, so that code that does not wait is caught.
//
// All waiting is done by package time: tests with [testing/synctest] run in
// virtual time. There are no goroutines that outlive a call, but for those of
// open port-forwards, which need real time. Make the fleet inside the bubble.
//
// The same calls make the same objects in every run, uids and keys included.
//
// # Faults
//
// [Fleet.Fail] makes calls meet a [Fault]: throttled, refused, lost on the way,
// before or after they took effect, so often, after so many. [Fleet.Kill] is
// the death of the client's process. [Fleet.Calls] is the log of all calls.
//
// # What it is not
//
// It is more lenient than a real API server, or less than one, in this:
//
//   - Only the stable versions of built-in APIs are served, each kind at one
//     version. events.k8s.io, resource.k8s.io and autoscaling/v1 are missing.
//   - Beyond metadata, the content of built-in kinds is checked only as far as
//     charts and installers get it wrong. CEL rules of custom kinds and
//     admission policies are stored and not evaluated.
//   - Admission webhooks, conversion webhooks and aggregated APIs are not
//     called: versions of a custom kind differ in name only.
//   - There are no quotas, limit ranges, priorities, pod security or disruption
//     budgets. Horizontal autoscalers and CronJobs do nothing.
//   - RBAC objects are stored and not evaluated. Everybody may do everything
//     but for what [WithDenied] takes away. A service account's token tells who
//     one is, nothing more.
//   - No container runs: there are no logs, no exec, no failing pods, and a pod
//     whose Secret or ConfigMap is missing starts all the same. Pods have no
//     volume for their account's token.
//   - Services get addresses, and no EndpointSlices; load balancers get one only
//     with [WithLoadBalancers], ingresses none.
//   - What controllers write is not in managedFields. No kind but a Deployment's
//     ReplicaSets keeps revisions, and minReadySeconds is not waited for.
//   - Pages of a list are not a snapshot: each shows its own moment.
//   - Answers are JSON; OpenAPI documents describe no schemas.
//   - Request timeouts, priorities and fairness, and TLS are left to the faults.
package kubefake
