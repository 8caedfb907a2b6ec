package admin_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestProjectsAreListedPageByPage(t *testing.T) {
	for _, n := range []int{0, 99, 100, 101, 250} {
		fake := adminfake.New()
		var want []string
		for i := range n {
			id := fmt.Sprintf("team-%03d", i)
			state := []admin.ProjectState{admin.ProjectActive, admin.ProjectArchived, admin.ProjectSystemGenerated, admin.ProjectSystemArchived}[i%4]
			fake.AddProjects(admin.Project{ID: id, Name: id, State: state})
			want = append(want, id+" "+string(state))
		}
		projects, err := clientOf(t, fake).Projects(t.Context())
		require.NoError(t, err)
		var got []string
		for _, p := range projects {
			got = append(got, p.ID+" "+string(p.State))
		}
		assert.Equal(t, want, got)
		assert.Len(t, fake.Calls(), n/100+1)
	}
}

func TestAProjectThatMovesBetweenPagesIsListedOnce(t *testing.T) {
	fake := adminfake.New()
	for i := range 150 {
		fake.AddProjects(admin.Project{ID: fmt.Sprintf("team-%03d", i), Name: "x"})
	}
	fake.Fail(adminfake.Operation("ListProjects"), adminfake.None, adminfake.After(1), adminfake.Do(func(adminfake.Call) {
		fake.AddProjects(admin.Project{ID: "a", Name: "x"}) // which shifts all others by one
	}))
	projects, err := clientOf(t, fake).Projects(t.Context())
	require.NoError(t, err)
	assert.Len(t, projects, 150)
}

func TestArchivedProjectsAreAskedFor(t *testing.T) {
	fake := adminfake.New()
	_, err := clientOf(t, fake).Projects(t.Context())
	require.NoError(t, err)
	query, err := url.ParseQuery(fake.Calls()[0].Query)
	require.NoError(t, err)
	assert.Equal(t, url.Values{"filters": {"gte(state,0)"}, "limit": {"100"}, "sort_by.key": {"identifier"}, "sort_by.direction": {"ASCENDING"}}, query)
}

func TestAListThatRepeatsItselfEnds(t *testing.T) {
	projects, err := answering(t, http.StatusOK, `{"projects":[{"id":"team1","name":"x"}],"token":"1"}`).Projects(t.Context())
	require.NoError(t, err)
	assert.Len(t, projects, 1)
}

func TestProjectsAreReadInBothSpellings(t *testing.T) {
	want := admin.Project{ID: "team1", Name: "Team 1", Description: "d", Labels: map[string]string{"snake_case": "v", "camelCase": "w"}, State: admin.ProjectSystemGenerated}
	for _, body := range []string{
		`{"id":"team1","name":"Team 1","domains":[{"id":"d","name":"d"}],"description":"d","labels":{"values":{"snake_case":"v","camelCase":"w"}},"state":"SYSTEM_GENERATED","org":""}`,
		`{"id":"team1","name":"Team 1","description":"d","labels":{"values":{"snake_case":"v","camelCase":"w"}},"state":"SYSTEM_GENERATED","unknown":{"x":[]}}`,
	} {
		got, err := answering(t, http.StatusOK, body).Project(t.Context(), "team1")
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	least, err := answering(t, http.StatusOK, `{"id":"team1"}`).Project(t.Context(), "team1")
	require.NoError(t, err)
	assert.Equal(t, admin.Project{ID: "team1", State: admin.ProjectActive}, least)
}

func TestTheRulesOfProjects(t *testing.T) {
	labels := map[string]string{}
	for i := range 17 {
		labels[fmt.Sprintf("l%d", i)] = ""
	}
	for want, p := range map[string]admin.Project{
		"id: is required":            {Name: "x"},
		"name: is required":          {ID: "x"},
		"labels: must be 16 at most": {ID: "x", Name: "x", Labels: labels},
		"id: must be a DNS label: at most 63 of a-z, 0-9 and -, not at an end": {ID: "a_b", Name: "x"},
		"name: must not be longer than 64 bytes; it has 66":                    {ID: "x", Name: strings.Repeat("é", 33)},
		"description: must not be longer than 300 bytes; it has 301":           {ID: "x", Name: "x", Description: strings.Repeat("d", 301)},
		"labels[a/b/c]: must have a key as Kubernetes' labels have":            {ID: "x", Name: "x", Labels: map[string]string{"a/b/c": ""}},
		"labels[A.example/b]: must have a key as Kubernetes' labels have":      {ID: "x", Name: "x", Labels: map[string]string{"A.example/b": ""}},
		"labels[a]: must have a value as Kubernetes' labels have":              {ID: "x", Name: "x", Labels: map[string]string{"a": "b c"}},
		"state: must be a state of Flyte's":                                    {ID: "x", Name: "x", State: "active"},
	} {
		fake := adminfake.New()
		err := clientOf(t, fake).RegisterProject(t.Context(), p)
		var problems *planewright.ValidationError
		require.ErrorAs(t, err, &problems, want)
		require.Len(t, problems.Problems, 1)
		assert.Equal(t, want, problems.Problems[0].Path+": "+problems.Problems[0].Rule)
		assert.Empty(t, fake.Calls())
	}
}

// What the client lets pass, flyteadmin takes, and the other way round.
func FuzzTheClientsRulesAreTheServers(f *testing.F) {
	for _, seed := range []string{"team1", "Team", "-", "a-", "a_b", "", "ä", strings.Repeat("x", 63), strings.Repeat("x", 64), "a.b", "a/b"} {
		f.Add(seed, "name", "description", "key", "value")
		f.Add("team1", seed, seed, seed, seed)
	}
	f.Fuzz(func(t *testing.T, id, name, description, key, value string) {
		project := admin.Project{ID: id, Name: name, Description: description, Labels: map[string]string{key: value}}
		if slices.ContainsFunc([]string{id, name, description, key, value}, func(s string) bool { return strings.ToValidUTF8(s, "") != s }) {
			t.Skip("JSON has no other texts")
		}
		fake := adminfake.New()
		err := clientOf(t, fake, admin.WithRetries(0)).RegisterProject(t.Context(), project)
		var refused *admin.Error
		assert.NotErrorAs(t, err, &refused, "flyteadmin refuses what the client sent")
		if err == nil {
			got, err := clientOf(t, fake).Project(t.Context(), id)
			require.NoError(t, err)
			project.State = admin.ProjectActive
			assert.Equal(t, project, got)
		}
	})
}
