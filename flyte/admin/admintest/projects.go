package admintest

import (
	"slices"
	"strings"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (s *suite) projects(t *testing.T) {
	s.test(t, "a project is registered once", func(s *scene) {
		want := admin.Project{
			ID: s.project, Name: "The contract's", Description: "made by a test",
			Labels: map[string]string{"team": "ml", "acme.example/cost-centre": "42"}, State: admin.ProjectActive,
		}
		require.NoError(s, s.client.RegisterProject(s.Context(), want))
		s.Cleanup(func() { s.archive(s.T) })
		got, err := s.client.Project(s.Context(), s.project)
		require.NoError(s, err)
		assert.Equal(s, want, got)

		err = s.client.RegisterProject(s.Context(), admin.Project{ID: s.project, Name: "Another"})
		s.fails(err, planewright.ErrAlreadyExists, 409, admin.CodeAlreadyExists)
		got, err = s.client.Project(s.Context(), s.project)
		require.NoError(s, err)
		assert.Equal(s, want, got, "it is left as it is")
	})
	s.test(t, "an unknown project is not found", func(s *scene) {
		_, err := s.client.Project(s.Context(), s.project)
		s.fails(err, planewright.ErrNotFound, 404, admin.CodeNotFound)
		err = s.client.UpdateProject(s.Context(), admin.Project{ID: s.project, Name: "x"})
		s.fails(err, planewright.ErrNotFound, 404, admin.CodeNotFound)
	})
	s.test(t, "an update leaves what is empty", func(s *scene) {
		s.register()
		first := admin.Project{ID: s.project, Name: "One", Description: "two", Labels: map[string]string{"a": "b"}}
		require.NoError(s, s.client.UpdateProject(s.Context(), first))
		require.NoError(s, s.client.UpdateProject(s.Context(), admin.Project{ID: s.project}))
		got, err := s.client.Project(s.Context(), s.project)
		require.NoError(s, err)
		first.State = admin.ProjectActive
		assert.Equal(s, first, got)

		require.NoError(s, s.client.UpdateProject(s.Context(), admin.Project{ID: s.project, Labels: map[string]string{}}))
		got, err = s.client.Project(s.Context(), s.project)
		require.NoError(s, err)
		assert.Nil(s, got.Labels, "labels that are not nil are written, though there are none")
	})
	s.test(t, "an archived project is listed, takes no attributes, and can come back", func(s *scene) {
		s.register()
		s.archive(s.T)
		s.listedAs(admin.ProjectArchived)
		err := s.client.PutAttributes(s.Context(), admin.ProjectDomainScope(s.project, s.domain), admin.ExecutionClusterLabel("gpu"))
		s.fails(err, planewright.ErrInvalid, 400, admin.CodeInvalidArgument)
		err = s.client.PutAttributes(s.Context(), admin.ProjectScope(s.project), admin.ExecutionClusterLabel("gpu"))
		s.fails(err, planewright.ErrInvalid, 400, admin.CodeInvalidArgument)

		require.NoError(s, s.client.UpdateProject(s.Context(), admin.Project{ID: s.project}))
		s.listedAs(admin.ProjectActive)
		require.NoError(s, s.client.PutAttributes(s.Context(), admin.ProjectScope(s.project), admin.ExecutionClusterLabel("gpu")))
		require.NoError(s, s.client.DeleteAttributes(s.Context(), admin.ProjectScope(s.project), admin.KindExecutionClusterLabel))
	})
	s.test(t, "what breaks a rule is not sent", func(s *scene) {
		for _, p := range []admin.Project{
			{ID: "", Name: "x"}, {ID: "Upper", Name: "x"}, {ID: "-x", Name: "x"}, {ID: strings.Repeat("x", 64), Name: "x"}, {ID: s.project},
			{ID: s.project, Name: strings.Repeat("x", 65)}, {ID: s.project, Name: "x", Description: strings.Repeat("x", 301)},
			{ID: s.project, Name: "x", Labels: map[string]string{"-": ""}},
		} {
			var problems *planewright.ValidationError
			require.ErrorAs(s, s.client.RegisterProject(s.Context(), p), &problems, "%+v", p)
		}
	})
	s.test(t, "what is at the limit of a rule is taken", func(s *scene) {
		s.project += strings.Repeat("x", 63-len(s.project))
		require.NoError(s, s.client.RegisterProject(s.Context(), admin.Project{
			ID: s.project, Name: strings.Repeat("n", 64), Description: strings.Repeat("d", 300),
			Labels: map[string]string{strings.Repeat("k", 63): strings.Repeat("v", 63)},
		}))
		s.archive(s.T)
	})
}

// listedAs asserts that the scene's project is listed, with a state.
func (s *scene) listedAs(state admin.ProjectState) {
	s.Helper()
	projects, err := s.client.Projects(s.Context())
	require.NoError(s, err)
	i := slices.IndexFunc(projects, func(p admin.Project) bool { return p.ID == s.project })
	require.GreaterOrEqual(s, i, 0)
	assert.Equal(s, state, projects[i].State)
	assert.True(s, slices.IsSortedFunc(projects, func(a, b admin.Project) int { return strings.Compare(a.ID, b.ID) }))
}
