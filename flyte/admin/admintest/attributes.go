package admintest

import (
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (s *suite) attributes(t *testing.T) {
	for _, value := range []admin.MatchingAttributes{
		admin.ExecutionClusterLabel("gpu"),
		admin.TaskResourceAttributes{Defaults: admin.TaskResourceSpec{CPU: "1", Memory: "2Gi"}, Limits: admin.TaskResourceSpec{CPU: "8", GPU: "1", Memory: "16Gi", Storage: "1Ti", EphemeralStorage: "4Gi"}},
		admin.ClusterResourceAttributes{"projectQuotaCpu": "10", "snake_case": "kept"},
		admin.PluginOverrides{{TaskType: "python-task", PluginIDs: []string{"container", "k8s-array"}, UseDefault: true}, {TaskType: "spark", PluginIDs: []string{"spark"}}},
	} {
		s.test(t, string(value.Kind())+" is written, read, listed and deleted at every scope", func(s *scene) { s.everyScope(value) })
	}
	s.test(t, "a read returns the most specific row that applies", (*scene).mostSpecific)
	s.test(t, "a deletion leaves the narrower scopes", (*scene).deletion)
	s.test(t, "plugin overrides are merged by task type", (*scene).merging)
	s.test(t, "a label that no cluster has is taken", func(s *scene) {
		s.register()
		require.NoError(s, s.client.PutAttributes(s.Context(), admin.ProjectScope(s.project), admin.ExecutionClusterLabel("no-such-label")))
		require.NoError(s, s.client.DeleteAttributes(s.Context(), admin.ProjectScope(s.project), admin.KindExecutionClusterLabel))
	})
	s.test(t, "unknown projects and domains are invalid", func(s *scene) {
		s.register()
		for _, scope := range []admin.Scope{
			admin.ProjectScope(s.project + "-not"), admin.ProjectDomainScope(s.project+"-not", s.domain),
			admin.ProjectDomainScope(s.project, "no-such-domain"), admin.WorkflowScope(s.project, "no-such-domain", "wf"),
		} {
			_, err := s.client.GetAttributes(s.Context(), scope, admin.KindExecutionClusterLabel)
			s.fails(err, planewright.ErrInvalid, 400, admin.CodeInvalidArgument)
			err = s.client.PutAttributes(s.Context(), scope, admin.ExecutionClusterLabel("gpu"))
			s.fails(err, planewright.ErrInvalid, 400, admin.CodeInvalidArgument)
		}
	})
}

// everyScope writes, reads, lists and deletes one value.
func (s *scene) everyScope(value admin.MatchingAttributes) {
	s.register()
	scopes := []admin.Scope{admin.ProjectScope(s.project), admin.ProjectDomainScope(s.project, s.domain), admin.WorkflowScope(s.project, s.domain, "train.main")}
	if value.Kind() == admin.KindPluginOverride {
		var problems *planewright.ValidationError
		require.ErrorAs(s, s.client.PutAttributes(s.Context(), scopes[0], value), &problems, "flyteadmin fails to merge them")
		scopes = scopes[1:]
	}
	for _, scope := range scopes {
		_, err := s.client.GetAttributes(s.Context(), scope, value.Kind())
		s.fails(err, planewright.ErrNotFound, 404, admin.CodeNotFound)
		require.NoError(s, s.client.PutAttributes(s.Context(), scope, value))
		row := admin.MatchableAttributes{Scope: scope, Attributes: value}
		got, err := s.client.GetAttributes(s.Context(), scope, value.Kind())
		require.NoError(s, err)
		assert.Equal(s, row, got)
		assert.Equal(s, []admin.MatchableAttributes{row}, s.listed(value.Kind()))
		require.NoError(s, s.client.PutAttributes(s.Context(), scope, value), "again")
		assert.Len(s, s.listed(value.Kind()), 1)
		require.NoError(s, s.client.DeleteAttributes(s.Context(), scope, value.Kind()))
		require.NoError(s, s.client.DeleteAttributes(s.Context(), scope, value.Kind()), "what is not there is deleted")
		assert.Empty(s, s.listed(value.Kind()))
	}
}

// listed lists the scene's rows of a kind.
func (s *scene) listed(kind admin.Kind) []admin.MatchableAttributes {
	s.Helper()
	rows, err := s.client.Attributes(s.Context(), kind)
	require.NoError(s, err)
	var ours []admin.MatchableAttributes
	for _, r := range rows {
		if r.Scope.Project == s.project {
			ours = append(ours, r)
		}
	}
	return ours
}

// labels writes a label at every scope, and returns the rows.
func (s *scene) labels() []admin.MatchableAttributes {
	s.Helper()
	s.register()
	rows := []admin.MatchableAttributes{
		{Scope: admin.ProjectScope(s.project), Attributes: admin.ExecutionClusterLabel("wide")},
		{Scope: admin.ProjectDomainScope(s.project, s.domain), Attributes: admin.ExecutionClusterLabel("narrow")},
		{Scope: admin.WorkflowScope(s.project, s.domain, "train.main"), Attributes: admin.ExecutionClusterLabel("narrowest")},
	}
	for _, r := range rows {
		require.NoError(s, s.client.PutAttributes(s.Context(), r.Scope, r.Attributes))
	}
	return rows
}

func (s *scene) mostSpecific() {
	rows := s.labels()
	read := func(scope admin.Scope) admin.MatchableAttributes {
		row, err := s.client.GetAttributes(s.Context(), scope, admin.KindExecutionClusterLabel)
		require.NoError(s, err)
		return row
	}
	assert.Equal(s, rows[2], read(rows[2].Scope))
	assert.Equal(s, rows[1], read(admin.WorkflowScope(s.project, s.domain, "another")))
	require.NoError(s, s.client.DeleteAttributes(s.Context(), rows[1].Scope, admin.KindExecutionClusterLabel))
	assert.Equal(s, rows[0], read(rows[1].Scope), "the row is the project's, and says so")
	require.NoError(s, s.client.DeleteAttributes(s.Context(), rows[0].Scope, admin.KindExecutionClusterLabel))
	_, err := s.client.GetAttributes(s.Context(), rows[0].Scope, admin.KindExecutionClusterLabel)
	s.fails(err, planewright.ErrNotFound, 404, admin.CodeNotFound)
}

func (s *scene) deletion() {
	rows := s.labels()
	require.NoError(s, s.client.DeleteAttributes(s.Context(), rows[0].Scope, admin.KindExecutionClusterLabel))
	assert.Equal(s, rows[1:], s.listed(admin.KindExecutionClusterLabel))
	require.NoError(s, s.client.DeleteAttributes(s.Context(), rows[0].Scope, admin.KindExecutionClusterLabel), "there is none any more")
	assert.Equal(s, rows[1:], s.listed(admin.KindExecutionClusterLabel))
	require.NoError(s, s.client.DeleteAttributes(s.Context(), rows[1].Scope, admin.KindExecutionClusterLabel))
	assert.Equal(s, rows[2:], s.listed(admin.KindExecutionClusterLabel))
}

func (s *scene) merging() {
	s.register()
	scope := admin.ProjectDomainScope(s.project, s.domain)
	spark := admin.PluginOverride{TaskType: "spark", PluginIDs: []string{"spark"}}
	container := admin.PluginOverride{TaskType: "python-task", PluginIDs: []string{"container"}}
	require.NoError(s, s.client.PutAttributes(s.Context(), scope, admin.PluginOverrides{spark}))
	require.NoError(s, s.client.PutAttributes(s.Context(), scope, admin.PluginOverrides{container}))
	assert.Equal(s, []admin.MatchableAttributes{{Scope: scope, Attributes: admin.PluginOverrides{container, spark}}}, s.listed(admin.KindPluginOverride))

	spark.UseDefault = true
	require.NoError(s, s.client.PutAttributes(s.Context(), scope, admin.PluginOverrides{spark}))
	assert.Equal(s, []admin.MatchableAttributes{{Scope: scope, Attributes: admin.PluginOverrides{container, spark}}}, s.listed(admin.KindPluginOverride))

	workflow := admin.WorkflowScope(s.project, s.domain, "train.main")
	require.NoError(s, s.client.PutAttributes(s.Context(), workflow, admin.PluginOverrides{container}))
	err := s.client.PutAttributes(s.Context(), scope, admin.PluginOverrides{spark})
	require.ErrorIs(s, err, planewright.ErrUnsupported, "they might go into the workflow's row")
	require.NoError(s, s.client.DeleteAttributes(s.Context(), scope, admin.KindPluginOverride))
	assert.Equal(s, []admin.MatchableAttributes{{Scope: workflow, Attributes: admin.PluginOverrides{container}}}, s.listed(admin.KindPluginOverride))
	require.NoError(s, s.client.DeleteAttributes(s.Context(), workflow, admin.KindPluginOverride))
}
