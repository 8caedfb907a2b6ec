package admintest

import (
	"fmt"
	"testing"
	"time"

	"github.com/planewright/planewright/flyte/admin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Option says what can be tested.
type Option func(*suite)

// WithLaunchPlan names a launch plan that takes no inputs, for the tests of
// executions; without it they are left out. Executions are created in its
// project's domain.
func WithLaunchPlan(id admin.LaunchPlanID) Option { return func(s *suite) { s.launchPlan = id } }

// Run tests the client that newClient returns. It is called once a test, and
// may return the same client every time. Its flyteadmin must let it register
// projects, and have a domain.
func Run(t *testing.T, newClient func(t *testing.T) *admin.Client, options ...Option) {
	s := &suite{newClient: newClient}
	for _, option := range options {
		option(s)
	}
	t.Run("Serving", s.serving)
	t.Run("Projects", s.projects)
	t.Run("Attributes", s.attributes)
	t.Run("Executions", s.executions)
}

type suite struct {
	newClient  func(t *testing.T) *admin.Client
	launchPlan admin.LaunchPlanID
}

// scene is one test's client, and a project of its own.
type scene struct {
	*testing.T
	client          *admin.Client
	project, domain string
}

// test runs one test.
func (s *suite) test(t *testing.T, name string, f func(*scene)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		client := s.newClient(t)
		domains, err := client.Domains(t.Context())
		require.NoError(t, err)
		require.NotEmpty(t, domains)
		f(&scene{T: t, client: client, domain: domains[0].ID, project: fmt.Sprintf("contract-%x", time.Now().UnixNano())})
	})
}

// register registers the scene's project, and archives it in the end.
func (s *scene) register() {
	s.Helper()
	require.NoError(s, s.client.RegisterProject(s.Context(), admin.Project{ID: s.project, Name: s.project}))
	s.Cleanup(func() {
		s.archive(s.T)
	})
}

func (s *scene) archive(t *testing.T) {
	t.Helper()
	assert.NoError(t, s.client.UpdateProject(contextOf(t), admin.Project{ID: s.project, State: admin.ProjectArchived}))
}

func (s *suite) serving(t *testing.T) {
	s.test(t, "health and version are told", func(s *scene) {
		require.NoError(s, s.client.Health(s.Context()))
		version, err := s.client.Version(s.Context())
		require.NoError(s, err)
		assert.NotEmpty(s, version.Version)
	})
}
