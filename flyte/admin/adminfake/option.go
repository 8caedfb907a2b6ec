package adminfake

import (
	"slices"
	"time"

	"github.com/planewright/planewright/flyte/admin"
)

// Option says what the flyteadmin is like.
type Option func(*Fake)

// WithVersion sets the version that it tells, [DefaultVersion] by default.
func WithVersion(version string) Option { return func(f *Fake) { f.version = version } }

// WithDomains sets the domains, by default development, staging and production.
func WithDomains(ids ...string) Option { return func(f *Fake) { f.domains = slices.Clone(ids) } }

// WithProjects adds active projects, each named as its id.
func WithProjects(ids ...string) Option {
	return func(f *Fake) {
		for _, id := range ids {
			f.projects[id] = fields{"id": id, "name": id}
		}
	}
}

// WithLaunchPlans adds launch plans, as [Fake.AddLaunchPlans] does.
func WithLaunchPlans(plans ...LaunchPlan) Option {
	return func(f *Fake) { f.addLaunchPlans(plans) }
}

// WithPlacement decides on which cluster an execution runs, in place of
// flyteadmin's labelClusterMap. The function is given the execution with its
// label, and must not call the fake. By default executions have no cluster, as
// with a flyteadmin that only knows its own.
func WithPlacement(place func(Execution) string) Option {
	return func(f *Fake) { f.placement = place }
}

// WithPhases has every execution go through phases by itself: each time that
// it is read by its name it goes to the next, and stays in the last. By
// default executions stay undefined, as flyteadmin has it until their cluster
// reports, until [Fake.SetPhase] or [Fake.FailExecution].
func WithPhases(phases ...admin.Phase) Option {
	return func(f *Fake) { f.script = slices.Clone(phases) }
}

// WithAuth demands tokens, and gives them to one OAuth2 client.
func WithAuth(auth Auth) Option { return func(f *Fake) { f.auth = newAuthState(auth) } }

// WithLatency keeps every call waiting, until its context ends at the latest.
func WithLatency(d time.Duration) Option { return func(f *Fake) { f.latency = d } }

// WithClock sets the clock of timestamps and of tokens, [time.Now] by default.
func WithClock(now func() time.Time) Option { return func(f *Fake) { f.now = now } }
