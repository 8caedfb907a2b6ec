package flyte

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte/admin"
)

// labelAPIVersion and labelKind stand for a label that is bound in flyteadmin,
// in inventories and plans. Such a row has no mark of who wrote it.
const (
	labelAPIVersion = "flyteadmin/v1"
	labelKind       = "ExecutionClusterLabel"
)

// labelsStep keeps the labels that projects, domains and workflows are bound to.
type labelsStep struct{ adminStep }

func (s labelsStep) object(b LabelBinding) planewright.Object {
	b.Label = ""
	return planewright.Object{Cluster: s.cluster.Name, APIVersion: labelAPIVersion, Kind: labelKind, Namespace: s.name, Name: b.String()}
}

func (s labelsStep) step(needs []string) planewright.Step {
	var objects []planewright.Object
	for _, b := range s.labels.bindings {
		objects = append(objects, s.object(b))
	}
	return planewright.Step{
		ID:      s.id() + "/labels",
		Title:   counted(len(objects), "execution cluster label") + " in flyteadmin",
		Cluster: s.cluster.Name,
		Needs:   needs,
		Objects: objects,
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			var change planewright.Change
			err := s.with(ctx, run, func(client *admin.Client) error {
				var err error
				change, _, err = s.work(ctx, client)
				return err
			})
			return change, err
		},
		Apply: func(ctx context.Context, run *planewright.Run) error {
			return s.with(ctx, run, func(client *admin.Client) error {
				_, put, err := s.work(ctx, client)
				for _, b := range put {
					if err = client.PutAttributes(ctx, b.scope(), admin.ExecutionClusterLabel(b.Label)); err != nil {
						break
					}
				}
				return err
			})
		},
		Undo: func(ctx context.Context, run *planewright.Run) error { return s.deleteLabels(ctx, s.labels.bindings) },
	}
}

// scope is what the binding applies to, as flyteadmin knows it.
func (b LabelBinding) scope() admin.Scope {
	return admin.Scope{Project: b.Project, Domain: b.Domain, Workflow: b.Workflow}
}

// work compares flyteadmin's labels with the deployment's, and returns those to write.
func (s labelsStep) work(ctx context.Context, client *admin.Client) (change planewright.Change, put []LabelBinding, err error) {
	rows, err := client.Attributes(ctx, admin.KindExecutionClusterLabel)
	if err != nil {
		return change, nil, err
	}
	live := map[admin.Scope]string{}
	for _, row := range rows {
		if label, ok := row.Attributes.(admin.ExecutionClusterLabel); ok {
			live[row.Scope] = string(label)
		}
	}
	missing := 0
	wanted := map[admin.Scope]bool{}
	for _, b := range s.labels.bindings {
		wanted[b.scope()] = true
		had, ok := live[b.scope()]
		change.Fingerprint += fmt.Sprintf("%s=%q;", b.scope(), had)
		if had == b.Label {
			continue
		}
		if !ok {
			missing++
		}
		put = append(put, b)
		change.Diff = append(change.Diff, planewright.FieldDiff{Path: b.scope().String(), Before: had, After: b.Label})
	}
	switch {
	case missing == len(s.labels.bindings):
		change.Action = planewright.ActionCreate
	case len(put) > 0:
		change.Action = planewright.ActionUpdate
	}
	change.Findings = s.otherLabels(live, wanted)
	return change, put, nil
}

// otherLabels tells of labels that others have bound.
func (s labelsStep) otherLabels(live map[admin.Scope]string, wanted map[admin.Scope]bool) []planewright.Finding {
	var findings []planewright.Finding
	for scope, name := range live {
		if wanted[scope] {
			continue
		}
		finding := planewright.Finding{Severity: planewright.SeverityInfo, Code: CodeOtherLabel,
			Cause: fmt.Sprintf("%s is bound to the label %s, which the deployment does not say", scope, name),
			Fix:   "add it to the label map, or delete it"}
		if _, ok := s.effectiveLabels().label(name); !ok {
			finding.Severity = planewright.SeverityWarning
			finding.Cause = fmt.Sprintf("%s is bound to the label %s, which stands for no cluster: its executions fall back to the default", scope, name)
		}
		findings = append(findings, finding)
	}
	slices.SortFunc(findings, func(a, b planewright.Finding) int { return strings.Compare(a.Cause, b.Cause) })
	return findings
}

// deleteLabels takes bindings away, of projects that exist.
func (s adminStep) deleteLabels(ctx context.Context, bindings []LabelBinding) error {
	_, err := s.cluster.Releases.State(ctx, s.namespace, s.release)
	if errors.Is(err, planewright.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.connected(ctx, func(client *admin.Client) error {
		for _, b := range bindings {
			if err := client.DeleteAttributes(ctx, b.scope(), admin.KindExecutionClusterLabel); err != nil && !errors.Is(err, planewright.ErrNotFound) {
				return err
			}
		}
		return nil
	})
}

// pruneLabels makes the step that takes away bindings which the label map no longer has.
func (s adminStep) pruneLabels(entry planewright.InventoryEntry) planewright.Step {
	var bindings []LabelBinding
	for _, o := range entry.Objects {
		parts := strings.SplitN(o.Name, "/", 3)
		parts = append(parts, "", "")
		bindings = append(bindings, LabelBinding{Project: parts[0], Domain: parts[1], Workflow: parts[2]})
	}
	return planewright.Step{
		ID:      entry.Step + "/pruned",
		Title:   "no longer wanted: " + entry.Step,
		Cluster: s.cluster.Name,
		Objects: entry.Objects,
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			var change planewright.Change
			err := s.with(ctx, run, func(client *admin.Client) error {
				rows, err := client.Attributes(ctx, admin.KindExecutionClusterLabel)
				for _, row := range rows {
					if slices.ContainsFunc(bindings, func(b LabelBinding) bool { return b.scope() == row.Scope }) {
						label, _ := row.Attributes.(admin.ExecutionClusterLabel)
						change.Action = planewright.ActionDelete
						change.Diff = append(change.Diff, planewright.FieldDiff{Path: row.Scope.String(), Before: string(label)})
						change.Fingerprint += fmt.Sprintf("%s=%q;", row.Scope, label)
					}
				}
				return err
			})
			return change, err
		},
		Apply: func(ctx context.Context, _ *planewright.Run) error { return s.deleteLabels(ctx, bindings) },
	}
}
