package planewright_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/planewright/planewright"
)

var errBroken = errors.New("broken")

func TestInstallMakesEverythingInOrderAndASecondOneWritesNothing(t *testing.T) {
	w, lock, inv := newWorld(), &lockbox{name: "lock"}, &inventory{}
	stack := planewright.NewStack("demo").
		WithSteps(w.step("demo/release", "v1", "demo/secret"), w.step("demo/secret", "s", "demo/namespace"), w.step("demo/namespace", "n")).
		WithLocker(lock).WithInventory(inv, w.prune)

	report, err := planewright.Install(t.Context(), stack)
	require.NoError(t, err)
	assert.Equal(t, []string{"demo/namespace", "demo/secret", "demo/release"}, w.written())
	assert.Equal(t, []string{"demo/release", "demo/secret", "demo/namespace"}, report.Changed())
	assert.Equal(t, []string{"lock", "release"}, lock.log)
	assert.Equal(t, 1, inv.saves)

	plan, err := planewright.Plan(t.Context(), stack)
	require.NoError(t, err)
	planewright.AssertNoChanges(t, plan)
	report, err = planewright.Install(t.Context(), stack)
	require.NoError(t, err)
	assert.Empty(t, report.Changed())
	assert.Len(t, w.written(), 3)
	assert.Equal(t, []string{"lock", "release"}, lock.log, "the lock is not even taken")
	assert.Equal(t, 1, inv.saves)
}

func TestAFailureStopsOnlyItsBranchAndASecondRunFinishes(t *testing.T) {
	w := newWorld()
	w.before = func(_ context.Context, name string) error {
		if name == "demo/a" {
			return errBroken
		}
		return nil
	}
	stack := planewright.NewStack("demo").WithSteps(
		w.step("demo/a", "a"), w.step("demo/a2", "a", "demo/a"), w.step("demo/a3", "a", "demo/a2"), w.step("demo/b", "b"), w.step("demo/b2", "b", "demo/b"))

	report, err := planewright.Install(t.Context(), stack)
	require.ErrorIs(t, err, errBroken)
	run, ok := errors.AsType[*planewright.RunError](err)
	require.True(t, ok)
	require.Len(t, run.Failed, 1, "the cause, not its echoes")
	assert.Equal(t, &planewright.StepError{Step: "demo/a", Op: planewright.OpApply, Attempts: 1, Err: errBroken}, run.Failed[0])
	assert.Equal(t, []string{"demo/a2", "demo/a3"}, run.NotTried)
	assert.Equal(t, []string{"demo/b", "demo/b2"}, report.Changed())
	a3, _ := report.Step("demo/a3")
	assert.Equal(t, planewright.OutcomeNotTried, a3.Outcome)
	assert.Equal(t, "needs demo/a, which failed", a3.Reason)

	w.before = nil
	report, err = planewright.Install(t.Context(), stack)
	require.NoError(t, err)
	assert.Equal(t, []string{"demo/a", "demo/a2", "demo/a3"}, report.Changed())
}

func TestOnlyRetryableErrorsAreTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		tries := map[string]int{}
		w.before = func(_ context.Context, name string) error {
			tries[name]++
			switch {
			case name == "demo/flaky" && tries[name] < 3:
				return flaky{}
			case name == "demo/throttled" && tries[name] < 2:
				return fmt.Errorf("slow down: %w", planewright.ErrThrottled)
			case name == "demo/broken":
				return errBroken
			}
			return nil
		}
		var retries []string
		_, err := planewright.Install(t.Context(),
			planewright.NewStack("demo").WithSteps(w.step("demo/flaky", "x"), w.step("demo/throttled", "x"), w.step("demo/broken", "x")),
			planewright.WithParallelism(1),
			planewright.WithEvents(func(e planewright.Event) {
				if e.Kind == planewright.EventRetry {
					retries = append(retries, fmt.Sprint(e.Step, " ", e.Attempt))
				}
			}))
		require.ErrorIs(t, err, errBroken)
		assert.Equal(t, map[string]int{"demo/flaky": 3, "demo/throttled": 2, "demo/broken": 1}, tries)
		assert.Equal(t, []string{"demo/flaky 1", "demo/flaky 2", "demo/throttled 1"}, retries)
	})
}

func TestAWriteThatWentThroughThoughItsAnswerWasLostIsNotMadeTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.after = func(context.Context, string) error { return flaky{"connection reset"} }
		report, err := planewright.Install(t.Context(), planewright.NewStack("demo").WithSteps(w.step("demo/a", "x")))
		require.NoError(t, err)
		assert.Equal(t, []string{"demo/a"}, report.Changed())
		assert.Equal(t, []string{"demo/a"}, w.written())
	})
}

func TestOutputsFlowAndMakeTheirReadersUnknownInAPlan(t *testing.T) {
	w := newWorld()
	token := planewright.NewOutput[string]("demo/account", "token")
	account := w.step("demo/account", "made")
	account.Check = func(_ context.Context, run *planewright.Run) (planewright.Change, error) {
		c := w.check("demo/account", "made")
		if c.Action == "" {
			token.Set(run, "t0k3n")
		}
		return c, nil
	}
	account.Await = func(_ context.Context, run *planewright.Run) error { token.Set(run, "t0k3n"); return nil }
	credential := w.step("demo/credential", "", "demo/account")
	credential.Check = func(_ context.Context, run *planewright.Run) (planewright.Change, error) {
		v, err := token.Get(run)
		if err != nil {
			return planewright.Change{}, err
		}
		return w.check("demo/credential", v), nil
	}
	credential.Apply = func(ctx context.Context, run *planewright.Run) error {
		v, err := token.Get(run)
		if err != nil {
			return err
		}
		return w.put(ctx, "demo/credential", v)
	}
	stack := planewright.NewStack("demo").WithSteps(account, credential)

	plan, err := planewright.Plan(t.Context(), stack)
	require.NoError(t, err)
	step, _ := plan.Step("demo/credential")
	assert.Equal(t, planewright.Change{Action: planewright.ActionUnknown, Reason: "token of step demo/account is not known before it has run"}, step.Change)

	report, err := planewright.Apply(t.Context(), plan)
	require.NoError(t, err)
	content, _ := w.get("demo/credential")
	assert.Equal(t, "t0k3n", content)
	value, err := token.From(report)
	require.NoError(t, err)
	assert.Equal(t, "t0k3n", value)

	plan, err = planewright.Plan(t.Context(), stack)
	require.NoError(t, err)
	planewright.AssertNoChanges(t, plan)
}

func TestCancellingWaitsForTheWriterAndTellsWhatBecameOfEachStep(t *testing.T) {
	for name, tt := range map[string]struct {
		persists bool
		outcome  planewright.Outcome
		reason   string
	}{
		"the write got through":    {true, planewright.OutcomeDone, ""},
		"the write did not happen": {false, planewright.OutcomeNotTried, "stopped before it wrote anything"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, lock := newWorld(), &lockbox{name: "lock"}
				ctx, cancel := context.WithCancel(t.Context())
				hook := func(ctx context.Context, name string) error {
					if name != "demo/a" {
						return nil
					}
					cancel()
					time.Sleep(time.Minute) // A writer that does not listen.
					return ctx.Err()
				}
				if tt.persists {
					w.after = hook
				} else {
					w.before = hook
				}
				start := time.Now()
				report, err := planewright.Install(ctx, planewright.NewStack("demo").
					WithSteps(w.step("demo/a", "a"), w.step("demo/b", "b", "demo/a")).WithLocker(lock))
				require.ErrorIs(t, err, context.Canceled)
				assert.Equal(t, time.Minute, time.Since(start), "it waited for the writer")
				a, _ := report.Step("demo/a")
				assert.Equal(t, tt.outcome, a.Outcome)
				assert.Equal(t, tt.reason, a.Reason)
				b, _ := report.Step("demo/b")
				assert.Equal(t, planewright.OutcomeNotTried, b.Outcome)
				assert.Equal(t, "the run was stopped", b.Reason)
				assert.Equal(t, []string{"lock", "release"}, lock.log, "the lock is given back")
			})
		})
	}
}

func TestALostLockStopsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, lock := newWorld(), &lockbox{name: "lock"}
		w.after = func(ctx context.Context, name string) error {
			close(lock.lost)
			<-ctx.Done()
			return ctx.Err()
		}
		report, err := planewright.Install(t.Context(), planewright.NewStack("demo").
			WithSteps(w.step("demo/a", "a"), w.step("demo/b", "b", "demo/a")).WithLocker(lock))
		require.ErrorIs(t, err, planewright.ErrLockLost)
		b, _ := report.Step("demo/b")
		assert.Equal(t, planewright.OutcomeNotTried, b.Outcome)
	})
}

func TestALiveHolderIsNamedAndNothingIsWritten(t *testing.T) {
	w, lock := newWorld(), &lockbox{name: "lease flyte/ml", holder: "build-7/42"}
	_, err := planewright.Install(t.Context(), planewright.NewStack("demo").WithSteps(w.step("demo/a", "a")).WithLocker(lock))
	require.ErrorIs(t, err, planewright.ErrLocked)
	locked, ok := errors.AsType[*planewright.LockedError](err)
	require.True(t, ok)
	assert.Equal(t, "build-7/42", locked.Holder)
	assert.Empty(t, w.written())
}

func TestWhatTheLockStandsOnIsMadeBeforeItIsTaken(t *testing.T) {
	w, lock := newWorld(), &lockbox{name: "lock"}
	var order []string
	w.before = func(_ context.Context, name string) error {
		order = append(order, fmt.Sprint(name, " locked=", lock.holder != ""))
		return nil
	}
	namespace := w.step("demo/namespace", "n")
	namespace.Unlocked = true
	_, err := planewright.Install(t.Context(), planewright.NewStack("demo").
		WithSteps(namespace, w.step("demo/release", "r", "demo/namespace")).WithLocker(lock))
	require.NoError(t, err)
	assert.Equal(t, []string{"demo/namespace locked=false", "demo/release locked=true"}, order)
}

func TestWhatIsNoLongerWantedIsPruned(t *testing.T) {
	w, inv := newWorld(), &inventory{}
	base := planewright.NewStack("demo").WithInventory(inv, w.prune)
	both := base.WithSteps(w.step("demo/a", "a"), w.step("demo/b", "b"))
	_, err := planewright.Install(t.Context(), both)
	require.NoError(t, err)

	only := base.WithSteps(w.step("demo/a", "a"))
	plan, err := planewright.Plan(t.Context(), only)
	require.NoError(t, err)
	planewright.AssertTouchesOnly(t, plan, "demo/b/pruned")
	report, err := planewright.Install(t.Context(), only)
	require.NoError(t, err)
	assert.Equal(t, []string{"demo/b/pruned"}, report.Changed())
	_, ok := w.get("demo/b")
	assert.False(t, ok)
	assert.Equal(t, []planewright.InventoryEntry{{Step: "demo/a", Objects: []planewright.Object{thing("demo/a")}}}, inv.entries)

	plan, err = planewright.Plan(t.Context(), only)
	require.NoError(t, err)
	planewright.AssertNoChanges(t, plan)
}

func TestPruningWaitsUntilAllThatIsWantedIsThere(t *testing.T) {
	w, inv := newWorld(), &inventory{}
	base := planewright.NewStack("demo").WithInventory(inv, w.prune)
	_, err := planewright.Install(t.Context(), base.WithSteps(w.step("demo/old", "o")))
	require.NoError(t, err)
	w.before = func(_ context.Context, name string) error {
		if name == "demo/new" {
			return errBroken
		}
		return nil
	}
	_, err = planewright.Install(t.Context(), base.WithSteps(w.step("demo/new", "n")))
	require.ErrorIs(t, err, errBroken)
	_, ok := w.get("demo/old")
	assert.True(t, ok)
	assert.Len(t, inv.entries, 2, "both stay known")
}

func TestTargetsAreAppliedWithWhatTheyNeed(t *testing.T) {
	w, inv := newWorld(), &inventory{}
	stack := planewright.NewStack("demo").WithInventory(inv, w.prune).WithSteps(
		w.step("demo/namespace", "n"), w.step("demo/a", "a", "demo/namespace"), w.step("demo/b", "b", "demo/namespace"))
	report, err := planewright.Install(t.Context(), stack, planewright.WithTargets("demo/a"))
	require.NoError(t, err)
	assert.Equal(t, []string{"demo/namespace", "demo/a"}, report.Changed())

	_, err = planewright.Install(t.Context(), stack, planewright.WithTargets("demo/c"))
	require.ErrorIs(t, err, planewright.ErrInvalid)
	assert.Contains(t, err.Error(), `targets "demo/c"`)
}

func TestFindingsAndBlockedStepsRefuseAnInstallBeforeAnyWrite(t *testing.T) {
	w := newWorld()
	finding := planewright.Finding{Severity: planewright.SeverityError, Code: "no-nodes", Cause: "the cluster has no node", Fix: "add one"}
	blocked := w.step("demo/taken", "x")
	blocked.Check = func(context.Context, *planewright.Run) (planewright.Change, error) {
		return planewright.Change{Action: planewright.ActionBlocked, Reason: "it belongs to somebody else"}, nil
	}
	stack := planewright.NewStack("demo").WithSteps(w.step("demo/a", "a"), blocked).WithProbes(planewright.Probe{
		ID: "demo/nodes", Run: func(context.Context, *planewright.Run) ([]planewright.Finding, error) {
			return []planewright.Finding{finding}, nil
		}})

	report, err := planewright.Install(t.Context(), stack)
	assert.Nil(t, report)
	require.ErrorIs(t, err, planewright.ErrBlocked)
	refused, ok := errors.AsType[*planewright.BlockedError](err)
	require.True(t, ok)
	finding.Step = "demo/nodes"
	assert.Equal(t, &planewright.BlockedError{Findings: []planewright.Finding{finding}, Steps: []planewright.BlockedStep{{ID: "demo/taken", Reason: "it belongs to somebody else"}}}, refused)
	assert.Empty(t, w.written())
}

func TestEventsComeInOrderFromOneGoroutine(t *testing.T) {
	w := newWorld()
	var steps []planewright.Step
	for i := range 20 {
		steps = append(steps, w.step(fmt.Sprintf("demo/%d", i), "x"))
	}
	open := map[string]bool{}
	finished := 0
	// The handler touches its own state without a lock: the race detector would tell.
	_, err := planewright.Install(t.Context(), planewright.NewStack("demo").WithSteps(steps...), planewright.WithEvents(func(e planewright.Event) {
		switch e.Kind {
		case planewright.EventStarted:
			open[e.Step] = true
		case planewright.EventFinished:
			assert.True(t, open[e.Step], "%s finished before it started", e.Step)
			finished++
		}
	}))
	require.NoError(t, err)
	assert.Equal(t, 20, finished, "all events are handled before Install returns")
}

func TestAStepThatTakesTooLongSaysWhatItWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		step := w.step("demo/slow", "x")
		step.Timeout = 3 * time.Second
		step.Await = func(ctx context.Context, _ *planewright.Run) error {
			<-ctx.Done()
			return fmt.Errorf("pod web-0 is pending: %w", ctx.Err())
		}
		_, err := planewright.Install(t.Context(), planewright.NewStack("demo").WithSteps(step))
		require.ErrorIs(t, err, planewright.ErrTimeout)
		assert.Equal(t, "step demo/slow: wait: timed out after 3s: pod web-0 is pending: context deadline exceeded", err.Error())
	})
}

func TestWhatAnEarlierInstallHasNotWaitedForIsWaitedFor(t *testing.T) {
	w := newWorld()
	ready := make(chan struct{})
	step := w.step("demo/slow", "x")
	check := step.Check
	step.Check = func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
		change, err := check(ctx, run)
		select {
		case <-ready:
		default:
			change.Pending = "0 of 1 replicas are available"
		}
		return change, err
	}
	waiting := make(chan struct{}, 1)
	step.Await = func(ctx context.Context, _ *planewright.Run) error {
		waiting <- struct{}{}
		select {
		case <-ready:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	locks := &lockbox{name: "lock"}
	stack := planewright.NewStack("demo").WithSteps(step).WithLocker(locks)

	// The first install is cut off while it waits.
	first, cutOff := context.WithCancel(t.Context())
	go func() { <-waiting; cutOff() }()
	_, err := planewright.Install(first, stack)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []string{"demo/slow"}, w.written())
	taken := slices.Clone(locks.log)

	plan, err := planewright.Plan(t.Context(), stack)
	require.NoError(t, err)
	planewright.AssertNoChanges(t, plan)
	assert.Contains(t, plan.String(), "to be waited for: 0 of 1 replicas are available")

	// A wait that fails is a failure, though there was nothing to write.
	_, err = planewright.Install(t.Context(), stack, planewright.WithStepTimeout(time.Millisecond))
	require.ErrorIs(t, err, planewright.ErrTimeout)
	<-waiting

	go func() { <-waiting; close(ready) }()
	report, err := planewright.Install(t.Context(), stack)
	require.NoError(t, err)
	done, _ := report.Step("demo/slow")
	assert.Equal(t, planewright.OutcomeUnchanged, done.Outcome)
	assert.Equal(t, "waited for", done.Reason)
	assert.Equal(t, []string{"demo/slow"}, w.written(), "nothing was written again")
	assert.Equal(t, taken, locks.log, "and nothing needed the lock")
}

func TestSeveralStacksAreOneGraph(t *testing.T) {
	w := newWorld()
	report, err := planewright.Install(t.Context(),
		planewright.NewStack("one").WithSteps(w.step("one/a", "a", "two/b")),
		planewright.NewStack("two").WithSteps(w.step("two/b", "b")))
	require.NoError(t, err)
	assert.Equal(t, []string{"two/b", "one/a"}, w.written())
	assert.Equal(t, []string{"one/a", "two/b"}, report.Changed())
}

func TestAnInvalidStackIsRefusedWithEveryProblem(t *testing.T) {
	_, err := planewright.Install(t.Context(),
		planewright.NewStack("demo").WithSteps(planewright.Step{ID: "Demo/A"}, planewright.Step{ID: "demo/b", Needs: []string{"demo/x"}}))
	require.ErrorIs(t, err, planewright.ErrInvalid)
	for _, part := range []string{`steps[0].ID "Demo/A"`, `steps[0].Check`, `steps[1].Check`, `needs "demo/x", which is not there`} {
		assert.Contains(t, err.Error(), part)
	}
	assert.Equal(t, 5, strings.Count(err.Error(), "\n")+1, err)
}
