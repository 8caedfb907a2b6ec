package flyte

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
)

// prune returns the pruner of the deployment's stack: it deletes what an
// earlier version of the deployment made and this one no longer names, if
// labels and records say that the deployment made it. Namespaces stay.
func (b binding) prune(env Env) planewright.Pruner {
	return func(entry planewright.InventoryEntry) (planewright.Step, bool) {
		if len(entry.Objects) == 0 {
			return planewright.Step{}, false
		}
		if entry.Objects[0].Cluster == "" {
			return env.pruneInCloud(entry)
		}
		cluster, ok := env.cluster(entry.Objects[0].Cluster)
		if !ok {
			return env.pruneOutOfReach(entry), true
		}
		for _, o := range entry.Objects {
			if o.Cluster != cluster.Name || o.APIVersion == "" {
				return planewright.Step{}, false
			}
		}
		on := b
		on.cluster = cluster
		p := pruneStep{on, entry}
		return planewright.Step{
			ID:      entry.Step + "/pruned",
			Title:   "no longer wanted: " + entry.Step,
			Cluster: cluster.Name,
			Objects: entry.Objects,
			Check:   p.check,
			Apply:   p.apply,
		}, true
	}
}

// pruneOutOfReach is the step for what is in a cluster that the Env does not
// have: it is forgotten if the cluster is lost, and otherwise nothing is done
// before somebody says what is so.
func (e Env) pruneOutOfReach(entry planewright.InventoryEntry) planewright.Step {
	cluster := entry.Objects[0].Cluster
	return planewright.Step{
		Title:   "no longer wanted: " + entry.Step,
		Cluster: cluster,
		Objects: entry.Objects,
		Check: func(context.Context, *planewright.Run) (planewright.Change, error) {
			if slices.Contains(e.lost, cluster) {
				return planewright.Change{}, nil
			}
			return planewright.Change{Action: planewright.ActionBlocked, Fingerprint: cluster,
				Reason: fmt.Sprintf("it is in cluster %s, which the Env does not have; add the cluster by WithClusters until it is gone from there, or say by WithLostClusters that there is no such cluster any more", cluster)}, nil
		},
	}
}

// pruneInCloud asks each cloud of the Env whether the entry is of its making.
func (e Env) pruneInCloud(entry planewright.InventoryEntry) (planewright.Step, bool) {
	for _, name := range slices.Sorted(maps.Keys(e.clouds)) {
		if prune := e.clouds[name].Account.Prune; prune != nil {
			if step, ok := prune(entry); ok {
				return step, true
			}
		}
	}
	return planewright.Step{}, false
}

// pruneStep deletes what one step of an earlier version has made.
type pruneStep struct {
	binding
	entry planewright.InventoryEntry
}

// fate is what becomes of an object.
type fate struct {
	exists, delete bool
	// reason says why it stays, version what was seen of it.
	reason, version string
}

func (p pruneStep) check(ctx context.Context, _ *planewright.Run) (planewright.Change, error) {
	var change planewright.Change
	for _, o := range p.entry.Objects {
		f, err := p.fate(ctx, o)
		if err != nil {
			return planewright.Change{}, err
		}
		if f.delete && o.APIVersion == planewright.ReleaseAPIVersion {
			running, err := p.drainFindings(ctx, withoutPropeller)
			if err != nil {
				return planewright.Change{}, err
			}
			change.Findings = append(change.Findings, running...)
		}
		if f.delete {
			change.Action = planewright.ActionDelete
			change.Diff = append(change.Diff, planewright.FieldDiff{Path: o.String(), Before: "exists"})
		} else if f.exists {
			change.Findings = append(change.Findings, planewright.Finding{Severity: planewright.SeverityInfo, Code: CodeKept, Object: &o,
				Cause: "it is no longer wanted and stays: " + f.reason, Fix: "delete it by hand if nobody needs it"})
		}
		change.Fingerprint += f.version + ";"
	}
	return change, nil
}

func (p pruneStep) fate(ctx context.Context, o planewright.Object) (fate, error) {
	if o.APIVersion == planewright.ReleaseAPIVersion {
		state, err := p.cluster.Releases.State(ctx, o.Namespace, o.Name)
		switch {
		case errors.Is(err, planewright.ErrNotFound):
			return fate{}, nil
		case err != nil:
			return fate{}, err
		case state.Owner != p.owner():
			return fate{exists: true, reason: "its record does not say that this deployment made it"}, nil
		}
		return fate{exists: true, delete: true, version: fmt.Sprintf("%d %s", state.Revision, state.Status)}, nil
	}
	live, err := p.cluster.Objects.Get(ctx, refOf(o))
	switch {
	case errors.Is(err, planewright.ErrNotFound):
		return fate{}, nil
	case err != nil:
		return fate{}, err
	case o.Kind == "Namespace":
		return fate{exists: true, reason: "it may hold other objects"}, nil
	case !p.owns(live.GetLabels()):
		return fate{exists: true, reason: "its labels do not say that this deployment made it"}, nil
	}
	return fate{exists: true, delete: true, version: string(live.GetUID())}, nil
}

func (p pruneStep) apply(ctx context.Context, run *planewright.Run) error {
	for _, o := range p.entry.Objects {
		f, err := p.fate(ctx, o)
		switch {
		case err != nil:
			return err
		case !f.delete:
		case o.APIVersion == planewright.ReleaseAPIVersion:
			kept, err := p.cluster.Releases.Uninstall(ctx, o.Namespace, o.Name)
			if err != nil && !errors.Is(err, planewright.ErrNotFound) {
				return err
			}
			for _, ref := range kept {
				run.Keep(ref.In(o.Cluster), "it holds data, or is marked to be kept")
			}
		default:
			if err := p.deleteOwn(ctx, run, refOf(o)); err != nil {
				return err
			}
		}
	}
	return nil
}

func refOf(o planewright.Object) kube.Ref {
	return kube.Ref{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}
