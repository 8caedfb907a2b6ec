// Package planewright installs ML platforms on Kubernetes from Go. It holds
// the words that all other packages share, and the verbs that act on them.
//
// A spec (flyte.Deployment, say) describes what should exist. On an env, the
// clusters and sources it is installed with, it becomes a [Stack]: a named set
// of steps. A [Step] is one thing that must be so; it can be checked, applied,
// awaited and undone. The verbs take any number of stacks, and options that
// say how:
//
//   - [Plan] reads, never writes, and returns every step with its [Change]: an
//     [ExecutionPlan] that prints as a tree and marshals as JSON.
//   - [Apply] carries a plan out, also one that was saved and approved; a
//     stale one is refused.
//   - [Install] plans, and if anything changes takes the lock, plans again and applies.
//   - [Verify] tells whether what should exist is there and works.
//   - [Uninstall] takes away in reverse order what installs have made.
//   - [Stack.Render] writes the same desired state as files.
//
// There is no state file: what should be comes from the spec, what is comes
// from the clusters and the cloud. An install that was killed is finished by
// running it again; one that has nothing to do persists nothing.
//
//	deployment := flyte.NewSingleCluster("ml", flyte.V1_16_8, "main"). …
//	plan, err := planewright.Plan(ctx, deployment.On(env))
//	fmt.Print(plan)
//	report, err := planewright.Install(ctx, deployment.On(env), planewright.WithEvents(show))
//
// # Errors
//
// Errors are told apart with [errors.Is] and the sentinels here ([ErrDenied],
// [ErrConflict], …), and with [errors.As] and the typed errors, first of all
// [*RunError] and [*StepError], which name each failed step, its cluster and
// what it was doing. A specification that breaks rules is a
// [*ValidationError] that lists every problem at once.
//
// # Secrets
//
// A [Secret] is a value or a reference, resolved in memory when it is needed.
// It prints, marshals and logs as "[redacted]", and plans mark it only as changed.
//
// # Steps of your own
//
// Anything else that must be so beside a product's stack can be a [Step] in
// it, see the example of [Stack.WithSteps]. It then takes part in plans,
// installs, verifications and uninstalls like any other.
package planewright
