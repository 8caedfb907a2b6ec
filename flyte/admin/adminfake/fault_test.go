package adminfake_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func client(t *testing.T, fake *adminfake.Fake) *admin.Client {
	t.Helper()
	c, err := fake.Client(admin.WithRetries(0))
	require.NoError(t, err)
	return c
}

func TestEveryFaultIsAnErrorOfTheClient(t *testing.T) {
	for _, fault := range adminfake.Faults() {
		t.Run(string(fault), func(t *testing.T) {
			fake := adminfake.New(adminfake.WithProjects("team1"))
			fake.Fail(adminfake.Operation("GetProject"), fault)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			_, err := client(t, fake).Project(ctx, "team1")
			var failure *admin.Error
			require.ErrorAs(t, err, &failure)
			if fault != adminfake.NotFlyte {
				require.Error(t, failure.Kind)
			}
			fake.Heal()
			fake.Revive()
			_, err = client(t, fake).Project(t.Context(), "team1")
			require.NoError(t, err)
		})
	}
}

func TestEveryFaultIsAnErrorOverHTTPToo(t *testing.T) {
	fake := adminfake.New(adminfake.WithProjects("team1"))
	server := httptest.NewServer(fake)
	defer server.Close()
	c, err := admin.New(server.URL, admin.WithRetries(0))
	require.NoError(t, err)
	for _, fault := range adminfake.Faults() {
		rule := fake.Fail(adminfake.Operation(""), fault)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := c.Project(ctx, "team1")
		cancel()
		require.Error(t, err, "%s", fault)
		rule.Remove()
		fake.Revive()
	}
	_, err = c.Project(t.Context(), "team1")
	require.NoError(t, err)
}

func TestWhenARuleStrikes(t *testing.T) {
	fake := adminfake.New(adminfake.WithProjects("team1"))
	c := client(t, fake)
	rule := fake.Fail(adminfake.Operation("GetProject"), adminfake.Unavailable, adminfake.After(1), adminfake.Times(2))
	var got []bool
	for range 5 {
		_, err := c.Project(t.Context(), "team1")
		got = append(got, err == nil)
	}
	assert.Equal(t, []bool{true, false, false, true, true}, got)
	assert.Equal(t, 2, rule.Hits())
}

func TestTheFirstRuleStrikes(t *testing.T) {
	fake := adminfake.New()
	fake.Fail(adminfake.Path("/api/v1/*"), adminfake.Denied, adminfake.Times(1))
	fake.Fail(adminfake.Operation("read"), adminfake.Unavailable)
	_, err := client(t, fake).Version(t.Context())
	require.ErrorIs(t, err, planewright.ErrDenied)
	_, err = client(t, fake).Version(t.Context())
	require.ErrorIs(t, err, planewright.ErrUnavailable)
}

func TestAnEffectMayComeBeforeTheFault(t *testing.T) {
	fake := adminfake.New()
	c := client(t, fake)
	fake.Fail(adminfake.Operation("RegisterProject"), adminfake.Denied, adminfake.AfterEffect())
	require.ErrorIs(t, c.RegisterProject(t.Context(), admin.Project{ID: "team1", Name: "x"}), planewright.ErrDenied)
	_, err := c.Project(t.Context(), "team1")
	require.NoError(t, err)
	assert.Equal(t, 1, fake.Writes())
}

func TestLatencyEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := adminfake.New(adminfake.WithLatency(time.Second))
		fake.Fail(adminfake.Operation("GetVersion"), adminfake.None, adminfake.Latency(time.Minute))
		c, err := fake.Client(admin.WithTimeout(time.Hour))
		require.NoError(t, err)
		start := time.Now()
		_, err = c.Domains(t.Context())
		require.NoError(t, err)
		assert.Equal(t, time.Second, time.Since(start))
		_, err = c.Version(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 62*time.Second, time.Since(start))

		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err = c.Version(ctx)
		require.ErrorIs(t, err, planewright.ErrTimeout)
		assert.Equal(t, 72*time.Second, time.Since(start))
	})
}

func TestADeadProcessGetsNoAnswerAnyMore(t *testing.T) {
	fake := adminfake.New()
	c := client(t, fake)
	fake.Fail(adminfake.Operation("RegisterProject"), adminfake.Killed, adminfake.AfterEffect(), adminfake.Times(1))
	require.ErrorIs(t, c.RegisterProject(t.Context(), admin.Project{ID: "team1", Name: "x"}), adminfake.ErrKilled)
	require.ErrorIs(t, c.Health(t.Context()), adminfake.ErrKilled)
	fake.Revive()
	_, err := c.Project(t.Context(), "team1")
	require.NoError(t, err)
	fake.Kill()
	require.ErrorIs(t, c.Health(t.Context()), adminfake.ErrKilled)
}

func TestTheCallLog(t *testing.T) {
	fake := adminfake.New()
	c := client(t, fake)
	ctx := t.Context()
	require.NoError(t, c.RegisterProject(ctx, admin.Project{ID: "team1", Name: "x"}))
	require.ErrorIs(t, c.RegisterProject(ctx, admin.Project{ID: "team1", Name: "x"}), planewright.ErrAlreadyExists)
	require.NoError(t, c.PutAttributes(ctx, admin.ProjectScope("team1"), admin.ExecutionClusterLabel("gpu")))
	_, err := c.Attributes(ctx, admin.KindExecutionClusterLabel)
	require.NoError(t, err)
	fake.Fail(adminfake.Operation("Health"), adminfake.Reset)
	require.Error(t, c.Health(ctx))

	var lines []string
	for _, call := range fake.Calls() {
		lines = append(lines, call.String())
	}
	assert.Equal(t, []string{
		"RegisterProject POST /api/v1/projects: 200, persisted",
		"RegisterProject POST /api/v1/projects: 409",
		"UpdateProjectAttributes PUT /api/v1/project_attributes/team1: 200, persisted",
		"ListMatchableAttributes GET /api/v1/matchable_attributes: 200",
		"Health GET /healthcheck: read tcp: connection reset by peer",
	}, lines)
	assert.Equal(t, "resource_type=EXECUTION_CLUSTER_LABEL", fake.Calls()[3].Query)
	assert.Equal(t, 2, fake.Writes())
	for want, matches := range map[int][]adminfake.Match{
		5: nil, 3: {adminfake.Operation("write")}, 2: {adminfake.Operation("read")},
		1: {adminfake.Operation("write"), adminfake.Path("/api/v1/*_attributes/team1")},
		0: {adminfake.Operation("RegisterProject").Method("PUT")},
	} {
		assert.Len(t, fake.Calls(matches...), want, "%v", matches)
	}
	assert.Len(t, fake.Calls(adminfake.Operation("").On("*a*1*")), 4)
	assert.Len(t, fake.Calls(adminfake.Path("*b*")), 2)
	assert.Empty(t, fake.Calls(adminfake.Path("/api/v1/*/x/*/y")))
	fake.ForgetCalls()
	assert.Empty(t, fake.Calls())
	assert.Equal(t, "any call GET /x", adminfake.Path("/x").Method("GET").String())
	assert.Equal(t, "Health", adminfake.Operation("Health").String())
}

func TestManyClientsAtOnce(t *testing.T) {
	fake := adminfake.New(adminfake.WithProjects("team1"), adminfake.WithAuth(adminfake.Auth{}))
	c, err := fake.Client(admin.WithClientCredentials(admin.ClientCredentials{ID: "flytepropeller", Secret: planewright.SecretValue("foobar")}))
	require.NoError(t, err)
	var group sync.WaitGroup
	exists := make(chan error, 20)
	for range 20 {
		group.Go(func() {
			exists <- c.RegisterProject(t.Context(), admin.Project{ID: "team2", Name: "x"})
			assert.NoError(t, c.PutAttributes(t.Context(), admin.ProjectScope("team1"), admin.ExecutionClusterLabel("gpu")))
		})
	}
	group.Wait()
	close(exists)
	refused := 0
	for err := range exists {
		if errors.Is(err, planewright.ErrAlreadyExists) {
			refused++
		} else {
			require.NoError(t, err)
		}
	}
	assert.Equal(t, 19, refused)
}
