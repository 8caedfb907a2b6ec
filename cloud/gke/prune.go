package gke

import (
	"context"
	"strings"

	"github.com/planewright/planewright"
)

// prune makes a step that deletes a service account that no spec names any
// more, if its description says whose it was.
func (p *project) prune(entry planewright.InventoryEntry) (planewright.Step, bool) {
	if len(entry.Objects) != 1 || entry.Objects[0].APIVersion != "iam.googleapis.com" || entry.Objects[0].Kind != "ServiceAccount" {
		return planewright.Step{}, false
	}
	email := entry.Objects[0].Name[strings.LastIndex(entry.Objects[0].Name, "/")+1:]
	name, _, _ := strings.Cut(email, "@")
	if entry.Objects[0].Name != p.accountName(name) {
		return planewright.Step{}, false
	}
	parts := strings.SplitN(entry.Step, "/", 3)
	account := accountStep{project: p, name: name, owner: strings.Join(parts[:min(2, len(parts))], ".")}
	return planewright.Step{
		ID: entry.Step + "/pruned", Title: "no longer wanted: " + entry.Objects[0].String(), Objects: entry.Objects,
		Check: func(ctx context.Context, _ *planewright.Run) (planewright.Change, error) {
			live, err := account.live(ctx)
			if err != nil || live == nil {
				return planewright.Change{}, err
			}
			if ours, _ := owned(live, account.owner); !ours {
				return planewright.Change{}, nil
			}
			return planewright.Change{Action: planewright.ActionDelete, Fingerprint: live.GetUniqueId(), Diff: []planewright.FieldDiff{{Path: email, Before: "exists"}}}, nil
		},
		Apply: account.undo,
	}, true
}
