package kubeflow

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
)

// prune makes the step that deletes what an earlier version of the stack made
// and this one no longer names, if labels say that the stack made it. Namespaces,
// profiles and definitions stay.
func (b binding) prune(entry planewright.InventoryEntry) (planewright.Step, bool) {
	if len(entry.Objects) == 0 {
		return planewright.Step{}, false
	}
	cluster, ok := b.env.cluster(entry.Objects[0].Cluster)
	if !ok {
		return planewright.Step{}, false
	}
	for _, o := range entry.Objects {
		if o.Cluster != cluster.Name {
			return planewright.Step{}, false
		}
	}
	p := pruneStep{b, cluster, entry}
	return planewright.Step{
		ID:      entry.Step + "/pruned",
		Title:   "no longer wanted: " + entry.Step,
		Cluster: cluster.Name,
		Objects: entry.Objects,
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			return p.check(ctx)
		},
		Apply: p.apply,
	}, true
}

// pruneStep deletes what one step of an earlier version has made.
type pruneStep struct {
	binding
	cluster kube.Cluster
	entry   planewright.InventoryEntry
}

// component is the component that the entry's step is of, false if it is of none.
func (p pruneStep) component() (Component, bool) {
	rest, _ := strings.CutPrefix(p.entry.Step, p.id()+"/")
	first, _, _ := strings.Cut(rest, "/")
	component := Component(first)
	return component, slices.Contains(Components(), component)
}

// fate is what becomes of an object.
type fate struct {
	ref            kube.Ref
	exists, delete bool
	// reason says why it stays, version what was seen of it.
	reason, version string
}

func (p pruneStep) fate(ctx context.Context, o planewright.Object) (fate, error) {
	ref := kube.Ref{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
	if ref.APIVersion == "" {
		// A custom resource, whose group only its operator tells.
		component, ok := p.component()
		if !ok {
			return fate{}, nil
		}
		s := instanceStep{operatorBinding: p.operator(component), instance: instance{namespace: o.Namespace, name: o.Name}}
		found, err := s.liveRef(ctx)
		if err != nil || found == (kube.Ref{}) {
			return fate{}, err
		}
		ref = found
	}
	live, err := p.cluster.Objects.Get(ctx, ref)
	switch {
	case errors.Is(err, planewright.ErrNotFound):
		return fate{}, nil
	case err != nil:
		return fate{}, err
	case ref.Kind == "Namespace":
		return fate{exists: true, reason: "it may hold other objects"}, nil
	case ref.Kind == "Profile":
		return fate{exists: true, reason: "deleting a profile deletes its namespace and all data in it"}, nil
	case !p.owns(live.GetLabels()):
		return fate{exists: true, reason: "its labels do not say that this stack made it"}, nil
	}
	return fate{ref: ref, exists: true, delete: true, version: identity(live)}, nil
}

func (p pruneStep) check(ctx context.Context) (planewright.Change, error) {
	var change planewright.Change
	for _, o := range p.entry.Objects {
		f, err := p.fate(ctx, o)
		if err != nil {
			return planewright.Change{}, err
		}
		if f.delete && f.ref.Kind == "Subscription" {
			if component, ok := p.component(); ok {
				found, err := subscriptionStep{p.operator(component)}.mayUndo(ctx, nil)
				if err != nil {
					return planewright.Change{}, err
				}
				if len(found) > 0 {
					return planewright.Change{Action: planewright.ActionBlocked, Fingerprint: f.version,
						Reason: found[0].Cause + "; " + found[0].Fix + ", or keep the component"}, nil
				}
			}
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

func (p pruneStep) apply(ctx context.Context, run *planewright.Run) error {
	for _, o := range p.entry.Objects {
		f, err := p.fate(ctx, o)
		if err != nil || !f.delete {
			if err != nil {
				return err
			}
			continue
		}
		component, ok := p.component()
		if ok && (f.ref.Kind == "Subscription" || f.ref.Kind == "OperatorGroup") {
			operator := p.operator(component)
			if err := operator.awaitUnused(ctx, run); err != nil {
				return err
			}
			if f.ref.Kind == "Subscription" {
				if err := (subscriptionStep{operator}).undo(ctx, run); err != nil {
					return err
				}
				continue
			}
		}
		if err := p.deleteOwn(ctx, run, p.cluster, f.ref); err != nil {
			return err
		}
	}
	return nil
}

// awaitUnused waits until the custom resources of an operator that is to go are
// gone: they are being deleted at the same time, and need it for that.
func (o operatorBinding) awaitUnused(ctx context.Context, run *planewright.Run) error {
	sub, err := o.subscribed(ctx)
	if err != nil {
		return err
	}
	csv, err := o.csvOf(ctx, sub)
	if err != nil || csv == nil {
		return err
	}
	var refs []kube.Ref
	for _, kind := range customsOf(mapAt(csv.Object, "spec", "customresourcedefinitions"), nil) {
		list, err := o.workload.Objects.List(ctx, kube.ListRequest{APIVersion: kind.apiVersion, Kind: kind.kind})
		if ignoreMissing(err) != nil {
			return err
		}
		for _, obj := range list {
			if o.owns(obj.GetLabels()) {
				refs = append(refs, kube.RefOf(obj))
			}
		}
	}
	if len(refs) == 0 {
		return nil
	}
	return o.workload.Objects.Wait(ctx, kube.WaitRequest{Refs: refs, Until: kube.Gone, Progress: progress(run)})
}
