package flyte

import (
	"context"
	"fmt"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte/admin"
)

// projectsStep keeps projects as the deployment describes them. Projects that
// it does not name are left alone: flyteadmin never deletes one.
type projectsStep struct{ adminStep }

func (s projectsStep) step(needs []string) planewright.Step {
	return planewright.Step{
		ID:      s.id() + "/projects",
		Title:   counted(len(s.projects), "project") + " in flyteadmin",
		Cluster: s.cluster.Name,
		Needs:   needs,
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			var change planewright.Change
			err := s.with(ctx, run, func(client *admin.Client) error {
				work, err := s.work(ctx, client)
				change = work.change
				return err
			})
			return change, err
		},
		Apply: s.apply,
	}
}

// projectWork is what is to be done about projects.
type projectWork struct {
	register, update []admin.Project
	change           planewright.Change
}

func (s projectsStep) work(ctx context.Context, client *admin.Client) (projectWork, error) {
	var w projectWork
	list, err := client.Projects(ctx)
	if err != nil {
		return w, err
	}
	live := map[string]admin.Project{}
	for _, p := range list {
		live[p.ID] = p
	}
	for _, p := range s.projects {
		want := p.registered()
		had, ok := live[p.name]
		if !ok {
			w.register = append(w.register, want)
			w.change.Diff = append(w.change.Diff, planewright.FieldDiff{Path: p.name, After: string(want.State)})
			w.change.Fingerprint += p.name + ":absent;"
			continue
		}
		w.change.Fingerprint += fmt.Sprintf("%s:%q,%q,%s;", p.name, had.Name, had.Description, had.State)
		diff := projectDiff(p.name, had, want)
		if len(diff) > 0 {
			want.Labels = nil
			w.update = append(w.update, want)
			w.change.Diff = append(w.change.Diff, diff...)
		}
	}
	switch {
	case len(w.register) == len(s.projects):
		w.change.Action = planewright.ActionCreate
	case len(w.register)+len(w.update) > 0:
		w.change.Action = planewright.ActionUpdate
	}
	return w, nil
}

func projectDiff(name string, had, want admin.Project) []planewright.FieldDiff {
	var diff []planewright.FieldDiff
	for _, field := range []struct{ name, before, after string }{
		{"name", had.Name, want.Name},
		{"description", had.Description, want.Description},
		{"state", string(had.State), string(want.State)},
	} {
		// flyteadmin keeps a name and a description rather than emptying them.
		if field.before != field.after && field.after != "" {
			diff = append(diff, planewright.FieldDiff{Path: name + "." + field.name, Before: field.before, After: field.after})
		}
	}
	return diff
}

// registered is the project as flyteadmin knows it.
func (p Project) registered() admin.Project {
	description := p.description
	if description == "" {
		description = p.name + " project"
	}
	title := p.title
	if title == "" {
		title = p.name
	}
	state := admin.ProjectActive
	if p.archived {
		state = admin.ProjectArchived
	}
	return admin.Project{ID: p.name, Name: title, Description: description, State: state}
}

func (s projectsStep) apply(ctx context.Context, run *planewright.Run) error {
	return s.with(ctx, run, func(client *admin.Client) error {
		work, err := s.work(ctx, client)
		if err != nil {
			return err
		}
		for _, p := range work.register {
			state := p.State
			p.State = admin.ProjectActive
			if err := client.RegisterProject(ctx, p); err != nil {
				return err
			}
			if p.State = state; state != admin.ProjectActive {
				work.update = append(work.update, p)
			}
		}
		for _, p := range work.update {
			if err := client.UpdateProject(ctx, p); err != nil {
				return err
			}
		}
		return nil
	})
}
