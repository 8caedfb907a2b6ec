package admin_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bubble runs a test in virtual time, on a fake with the project team1.
func bubble(t *testing.T, test func(t *testing.T, fake *adminfake.Fake, client *admin.Client), options ...adminfake.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		fake := adminfake.New(append([]adminfake.Option{adminfake.WithProjects("team1")}, options...)...)
		test(t, fake, clientOf(t, fake))
	})
}

var scope = admin.ProjectDomainScope("team1", "production")

func TestWhatMayBeDoneTwiceIsRetried(t *testing.T) {
	for name, call := range map[string]func(context.Context, *admin.Client) error{
		"a read": func(ctx context.Context, c *admin.Client) error { _, err := c.Project(ctx, "team1"); return err },
		"a list": func(ctx context.Context, c *admin.Client) error { _, err := c.Projects(ctx); return err },
		"a write": func(ctx context.Context, c *admin.Client) error {
			return c.PutAttributes(ctx, scope, admin.ExecutionClusterLabel("gpu"))
		},
		"a deletion": func(ctx context.Context, c *admin.Client) error {
			return c.DeleteAttributes(ctx, admin.WorkflowScope("team1", "production", "w"), admin.KindExecutionClusterLabel)
		},
	} {
		for _, fault := range []adminfake.Fault{
			adminfake.Throttled, adminfake.Unavailable, adminfake.ServerError, adminfake.Timeout, adminfake.BadGateway, adminfake.Reset, adminfake.Unreachable, adminfake.Block,
		} {
			for _, when := range [][]adminfake.FaultOption{{}, {adminfake.AfterEffect()}} {
				t.Run(name+" "+string(fault), func(t *testing.T) {
					bubble(t, func(t *testing.T, fake *adminfake.Fake, client *admin.Client) {
						rule := fake.Fail(adminfake.Operation(""), fault, append(when, adminfake.Times(admin.DefaultRetries))...)
						require.NoError(t, call(t.Context(), client))
						assert.Equal(t, admin.DefaultRetries, rule.Hits())
						assert.Len(t, fake.Calls(), admin.DefaultRetries+1)
					})
				})
			}
		}
	}
}

func TestRetriesEnd(t *testing.T) {
	bubble(t, func(t *testing.T, fake *adminfake.Fake, client *admin.Client) {
		fake.Fail(adminfake.Operation(""), adminfake.Unavailable)
		start := time.Now()
		_, err := client.Project(t.Context(), "team1")
		require.ErrorIs(t, err, planewright.ErrUnavailable)
		assert.Len(t, fake.Calls(), admin.DefaultRetries+1)
		// The mean pauses are 250 ms, 500 ms, 1 s and 2 s; each is half of it to one and a half.
		assert.InDelta(t, 3750*time.Millisecond, time.Since(start), float64(1875*time.Millisecond))
	})
}

func TestWhatCannotGetBetterIsNotRetried(t *testing.T) {
	for _, fault := range []adminfake.Fault{adminfake.Denied, adminfake.Unauthenticated, adminfake.LoginPage, adminfake.NotFlyte} {
		bubble(t, func(t *testing.T, fake *adminfake.Fake, client *admin.Client) {
			rule := fake.Fail(adminfake.Operation(""), fault)
			_, err := client.Project(t.Context(), "team1")
			require.Error(t, err)
			assert.Equal(t, 1, rule.Hits(), "%s", fault)
		})
	}
}

func TestAnAttemptIsBoundedByATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := adminfake.New()
		fake.Fail(adminfake.Operation(""), adminfake.Block)
		client := clientOf(t, fake, admin.WithRetries(0), admin.WithTimeout(7*time.Second))
		start := time.Now()
		err := client.Health(t.Context())
		require.EqualError(t, err, "flyteadmin: Health /healthcheck: timed out: no answer within 7s")
		require.ErrorIs(t, err, planewright.ErrTimeout)
		require.NotErrorIs(t, err, context.DeadlineExceeded, "the caller's context has not ended")
		assert.Equal(t, 7*time.Second, time.Since(start))
	})
}

func TestAThrottledClientWaitsAsLongAsItIsAsked(t *testing.T) {
	bubble(t, func(t *testing.T, fake *adminfake.Fake, client *admin.Client) {
		fake.Fail(adminfake.Operation(""), adminfake.Throttled, adminfake.Times(1)) // with Retry-After: 1
		start := time.Now()
		require.NoError(t, client.Health(t.Context()))
		assert.Equal(t, time.Second, time.Since(start))
	})
}

func TestAContextEndsTheWaitForARetry(t *testing.T) {
	bubble(t, func(t *testing.T, fake *adminfake.Fake, client *admin.Client) {
		fake.Fail(adminfake.Operation(""), adminfake.Throttled)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		start := time.Now()
		err := client.Health(ctx)
		require.EqualError(t, err, "flyteadmin: Health /healthcheck: 429 RESOURCE_EXHAUSTED: context deadline exceeded: too many requests")
		require.ErrorIs(t, err, planewright.ErrTimeout)
		assert.Equal(t, 100*time.Millisecond, time.Since(start))
	})
}

var team2 = admin.Project{ID: "team2", Name: "Team 2"}

func TestAProjectIsRegisteredOnceThoughTheAnswerIsLost(t *testing.T) {
	for _, fault := range []adminfake.Fault{adminfake.Reset, adminfake.Block, adminfake.ServerError, adminfake.BadGateway, adminfake.Timeout, adminfake.Unavailable} {
		t.Run(string(fault)+" after the effect", func(t *testing.T) {
			bubble(t, func(t *testing.T, fake *adminfake.Fake, client *admin.Client) {
				fake.Fail(adminfake.Operation("RegisterProject"), fault, adminfake.AfterEffect(), adminfake.Times(1))
				require.NoError(t, client.RegisterProject(t.Context(), team2))
				assert.Len(t, fake.Calls(adminfake.Operation("RegisterProject")), 1, "it looked, and it was there")
				assert.Equal(t, 1, fake.Writes())
			})
		})
		t.Run(string(fault)+" before the effect", func(t *testing.T) {
			bubble(t, func(t *testing.T, fake *adminfake.Fake, client *admin.Client) {
				fake.Fail(adminfake.Operation("RegisterProject"), fault, adminfake.Times(2))
				require.NoError(t, client.RegisterProject(t.Context(), team2))
				assert.Len(t, fake.Calls(adminfake.Operation("RegisterProject")), 3)
				assert.Equal(t, 1, fake.Writes())
			})
		})
	}
}

func TestALostAnswerIsNotTakenForSomebodyElsesProject(t *testing.T) {
	bubble(t, func(t *testing.T, fake *adminfake.Fake, client *admin.Client) {
		fake.Fail(adminfake.Operation("RegisterProject"), adminfake.Reset, adminfake.Times(1), adminfake.Do(func(adminfake.Call) {
			fake.AddProjects(admin.Project{ID: "team2", Name: "Another team's"})
		}))
		err := client.RegisterProject(t.Context(), team2)
		require.ErrorIs(t, err, planewright.ErrAlreadyExists)
		require.EqualError(t, err, "flyteadmin: RegisterProject /api/v1/projects: already exists: it exists and is not what was to be created")
	})
}

func TestAPostThatKeepsFailingSaysThatItMayHaveHadItsEffect(t *testing.T) {
	bubble(t, func(t *testing.T, fake *adminfake.Fake, client *admin.Client) {
		fake.Fail(adminfake.Operation("RegisterProject"), adminfake.Reset)
		err := client.RegisterProject(t.Context(), team2)
		var failure *admin.Error
		require.ErrorAs(t, err, &failure)
		assert.True(t, failure.Uncertain)
		assert.Len(t, fake.Calls(adminfake.Operation("RegisterProject")), admin.DefaultRetries+1)

		fake.Heal()
		fake.Fail(adminfake.Operation(""), adminfake.Reset) // it cannot even look
		fake.ForgetCalls()
		require.ErrorIs(t, client.RegisterProject(t.Context(), team2), planewright.ErrUnavailable)
		assert.Len(t, fake.Calls(adminfake.Operation("RegisterProject")), 1)
	})
}

func TestAPostThatCertainlyDidNothingIsRetriedAtOnce(t *testing.T) {
	for _, fault := range []adminfake.Fault{adminfake.Throttled, adminfake.Unreachable} {
		bubble(t, func(t *testing.T, fake *adminfake.Fake, client *admin.Client) {
			fake.Fail(adminfake.Operation("RegisterProject"), fault, adminfake.Times(3))
			require.NoError(t, client.RegisterProject(t.Context(), team2))
			assert.Empty(t, fake.Calls(adminfake.Operation("GetProject")), "there was nothing to look for")
		})
	}
}
