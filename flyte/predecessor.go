package flyte

import (
	"context"
	"errors"
	"fmt"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// WithPredecessor has a deployment in planes take the place of a single-cluster
// one ([NewSingleCluster]) of the same name, in the control plane's cluster and
// namespace, on the same database and bucket: projects, workflows and the
// executions so far are in the new one. It may be read by [Discover] from a Flyte
// that was installed by hand.
//
// All that can be made beside it is made first. Then it is stopped, because one
// flyteadmin at a time may use a database; the control plane starts, without
// its host; when its API answers, the predecessor is uninstalled, and last the
// control plane gets the host. From the stop to the end Flyte cannot be used.
// Nothing is stopped while executions run in the cluster.
//
// Until it is uninstalled, installing the predecessor's own deployment starts
// it again. Later the method can be left out.
func (d Deployment) WithPredecessor(single Deployment) Deployment {
	d.predecessor = &single
	return d
}

// validatePredecessor checks that the one can take the place of the other.
func (d Deployment) validatePredecessor(p *planewright.Problems) {
	if d.predecessor == nil {
		return
	}
	old := *d.predecessor
	if !d.inPlanes() || old.inPlanes() {
		p.Add("predecessor", old.name, "a deployment in planes takes the place of one on a single cluster", "make this one with NewDeployment, and that one with NewSingleCluster")
		return
	}
	for _, same := range []struct{ path, old, now, rule, fix string }{
		{"name", old.name, d.name, "both are one deployment, with one lock and one inventory", "give both the same name"},
		{"cluster", old.cluster, d.control.cluster, "the control plane comes where the predecessor is", "use the same cluster in NewControlPlane"},
		{"namespace", old.namespace, d.namespace, "the control plane comes where the predecessor is", "use the same namespace"},
		{"database", old.database.place(), d.database.place(), "the control plane goes on with the predecessor's database", "use the same server and database"},
		{"storage", old.storage.scheme() + "://" + old.storage.bucket, d.storage.scheme() + "://" + d.storage.bucket, "the control plane goes on with the predecessor's data", "use the same bucket"},
	} {
		if same.old != same.now {
			p.Add("predecessor."+same.path, same.old, same.rule+"; here it is "+same.now, same.fix)
		}
	}
	if old.release == d.control.release {
		p.Add("predecessor.release", old.release, "a release does not change its chart", "use ControlPlane.WithRelease with another name")
	}
}

// place is which database it is, whoever uses it.
func (d Database) place() string { return fmt.Sprintf("%s:%d/%s", d.host, d.port, d.name) }

// predecessor is the single-cluster release whose place a control plane takes.
type predecessor struct {
	// old is the predecessor's release, control the control plane's.
	old, control binding
	// host tells where the host is: with the predecessor as long as that is there.
	host planewright.Output[string]
	// end tells what became of the predecessor in this run.
	end planewright.Output[string]
}

// Where the host is.
const (
	hostElsewhere = "predecessor"
	hostHere      = "controlplane"
)

// What became of a predecessor.
const (
	predecessorAbsent  = "absent"
	predecessorRemoved = "removed"
)

// succession puts a predecessor before the control plane's release. Nil if there is none.
func (f *fleet) succession() *predecessor {
	if f.predecessor == nil {
		return nil
	}
	s := &predecessor{old: newBinding(*f.predecessor, f.env), control: f.control}
	s.host = planewright.NewOutput[string](s.step("stop"), "host")
	s.end = planewright.NewOutput[string](s.step("uninstall"), "end")
	return s
}

func (s *predecessor) step(name string) string { return s.control.id() + "/predecessor/" + name }

func (s *predecessor) release() planewright.Object { return releaseStep{s.old}.object() }

func (s *predecessor) workload() kube.Ref {
	return kube.Ref{APIVersion: "apps/v1", Kind: "Deployment", Namespace: s.old.namespace, Name: s.old.recipe.workload()}
}

// state reads the predecessor's release. Absent ones are nil.
func (s *predecessor) state(ctx context.Context) (*kube.ReleaseState, error) {
	state, err := s.old.cluster.Releases.State(ctx, s.old.namespace, s.old.release)
	if errors.Is(err, planewright.ErrNotFound) {
		return nil, nil //nolint:nilnil // nothing and no error is what it says
	}
	return &state, err
}

// stop is the step after which nobody uses the database. It comes when all
// else that the control plane needs is there.
func (s *predecessor) stop(needs []string) planewright.Step {
	ref := s.workload()
	return planewright.Step{
		ID:      s.step("stop"),
		Title:   fmt.Sprintf("the Flyte of release %s/%s stops", s.old.namespace, s.old.release),
		Cluster: s.old.cluster.Name,
		Needs:   needs,
		Check:   s.checkStop,
		Apply: func(ctx context.Context, _ *planewright.Run) error {
			if running, err := runningWorkflows(ctx, s.old.cluster); err == nil && running > 0 && !s.control.abandons {
				return &planewright.BlockedError{Steps: []planewright.BlockedStep{{ID: s.step("stop"),
					Reason: counted(running, "execution") + " began in the meantime"}}}
			}
			live, err := s.old.cluster.Objects.Get(ctx, ref)
			if err != nil {
				return err
			}
			if err := unstructured.SetNestedField(live.Object, int64(0), "spec", "replicas"); err != nil {
				return fmt.Errorf("%s: %w", ref, err)
			}
			_, err = s.old.cluster.Objects.Update(ctx, live)
			return err
		},
		Await: func(ctx context.Context, run *planewright.Run) error {
			return s.old.cluster.Objects.Wait(ctx, kube.WaitRequest{
				Refs:     []kube.Ref{ref},
				Until:    func(live *unstructured.Unstructured) (bool, string) { return stopped(live), "its pods still run" },
				Progress: func(message string) { run.Progress("%s", message) },
			})
		},
	}
}

// stopped reports whether no pod of a Deployment is left, nor will come.
func stopped(live *unstructured.Unstructured) bool {
	if live == nil {
		return true
	}
	observed, _, _ := unstructured.NestedInt64(live.Object, "status", "observedGeneration")
	running, _, _ := unstructured.NestedInt64(live.Object, "status", "replicas")
	return wantedReplicas(live) == 0 && running == 0 && observed >= live.GetGeneration()
}

// wantedReplicas is one where nothing is said, as Kubernetes has it.
func wantedReplicas(live *unstructured.Unstructured) int64 {
	n, found, _ := unstructured.NestedInt64(live.Object, "spec", "replicas")
	if !found {
		return 1
	}
	return n
}

func (s *predecessor) checkStop(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
	state, err := s.state(ctx)
	if err != nil {
		return planewright.Change{}, err
	}
	if state == nil {
		s.host.Set(run, hostHere)
		return planewright.Change{}, nil
	}
	s.host.Set(run, hostElsewhere)
	if state.Chart != binaryChart {
		return planewright.Change{Action: planewright.ActionBlocked, Fingerprint: state.Chart,
			Reason: fmt.Sprintf("release %s/%s is of %s %s, and not of %s", s.old.namespace, s.old.release, state.Chart, state.ChartVersion, binaryChart)}, nil
	}
	live, err := s.old.cluster.Objects.Get(ctx, s.workload())
	if errors.Is(err, planewright.ErrNotFound) {
		return planewright.Change{}, nil
	}
	if err != nil {
		return planewright.Change{}, err
	}
	if wanted := wantedReplicas(live); wanted > 0 {
		findings, err := s.control.drainFindings(ctx, withoutPropeller)
		if err != nil {
			return planewright.Change{}, err
		}
		object := s.release()
		if older(s.control.facts.Version, state.ChartVersion) {
			findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodeDowngrade, Object: &object,
				Cause: fmt.Sprintf("the predecessor is of version %s, newer than %s; Flyte does not migrate its database back", state.ChartVersion, s.control.facts.Version),
				Fix:   "use its version or a newer one"})
		}
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityWarning, Code: CodeOutage, Object: &object,
			Cause: "Flyte cannot be used from when it stops until the control plane has its host",
			Fix:   "choose the time, and save the database first"})
		return planewright.Change{
			Action:      planewright.ActionUpdate,
			Diff:        []planewright.FieldDiff{{Path: s.workload().String() + ": spec.replicas", Before: fmt.Sprint(wanted), After: "0"}},
			Findings:    findings,
			Fingerprint: fmt.Sprint(live.GetUID(), live.GetGeneration()),
		}, nil
	}
	if !stopped(live) {
		return planewright.Change{Pending: "its pods still run"}, nil
	}
	return planewright.Change{}, nil
}

// uninstall is the step that takes the predecessor away, once the control
// plane's API answers.
func (s *predecessor) uninstall(needs ...string) planewright.Step {
	return planewright.Step{
		ID:      s.step("uninstall"),
		Title:   fmt.Sprintf("Helm release %s/%s, whose place the control plane takes", s.old.namespace, s.old.release),
		Cluster: s.old.cluster.Name,
		Needs:   needs,
		Objects: []planewright.Object{s.release()},
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			state, err := s.state(ctx)
			if err != nil {
				return planewright.Change{}, err
			}
			if state == nil {
				s.end.Set(run, predecessorAbsent)
				return planewright.Change{}, nil
			}
			object := s.release()
			return planewright.Change{Action: planewright.ActionDelete, Fingerprint: fmt.Sprint(state.Revision, state.Status),
				Diff: []planewright.FieldDiff{{Path: object.String(), Before: "exists"}}}, nil
		},
		Apply: s.applyUninstall,
	}
}

func (s *predecessor) applyUninstall(ctx context.Context, run *planewright.Run) error {
	answers := adminStep{binding: s.control, dial: adminStep{binding: s.control}.forward, settled: s.control.settled}
	err := answers.connected(ctx, func(client *admin.Client) error { return client.Health(ctx) })
	switch {
	case errors.Is(err, planewright.ErrUnsupported):
		run.Progress("whether the control plane answers cannot be asked here: %v", err)
	case err != nil:
		return fmt.Errorf("the control plane does not answer, so the predecessor stays: %w", err)
	}
	// Without Flyte behind it, it refuses pods. Flyte made it, and does not delete it.
	hook := webhookRef(s.old.recipe.webhook())
	if err := s.old.cluster.Objects.Delete(ctx, hook, kube.DeleteOptions{}); err != nil && !errors.Is(err, planewright.ErrNotFound) {
		return err
	}
	kept, err := s.old.cluster.Releases.Uninstall(ctx, s.old.namespace, s.old.release)
	if err != nil && !errors.Is(err, planewright.ErrNotFound) {
		return err
	}
	for _, ref := range kept {
		run.Keep(ref.In(s.old.cluster.Name), "it holds data, or is marked to be kept")
	}
	s.end.Set(run, predecessorRemoved)
	return nil
}

// takeHost is the step that gives the control plane its host, which the
// predecessor had until now.
func (s *predecessor) takeHost(final binding, needs ...string) planewright.Step {
	step := releaseStep{final}.step(needs)
	step.ID = final.step("host")
	step.Title = fmt.Sprintf("Helm release %s/%s gets the predecessor's host", final.namespace, final.release)
	step.Verify, step.Undo, step.Render = nil, nil, nil
	check := step.Check
	step.Check = func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
		end, err := s.end.Get(run)
		if err != nil {
			return planewright.Change{}, err
		}
		if end == predecessorAbsent {
			// The release has its host already.
			return planewright.Change{}, nil
		}
		return check(ctx, run)
	}
	return step
}
