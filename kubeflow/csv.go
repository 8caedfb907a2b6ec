package kubeflow

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// csvStep brings the operator to its pin: it approves exactly the install plans
// that lead there, and waits until the operator works.
type csvStep struct{ operatorBinding }

func (s csvStep) step(needs ...string) planewright.Step {
	return planewright.Step{
		ID:      s.operatorBinding.step("operator"),
		Title:   "operator " + s.CSV,
		Cluster: s.workload.Name,
		Needs:   needs,
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			change, err := s.check(ctx, run)
			return s.checked(ctx, run, change, err)
		},
		Apply:  s.apply,
		Await:  s.await,
		Verify: s.verify,
	}
}

func (s csvStep) check(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
	sub, err := s.subscribed(ctx)
	if err != nil {
		return planewright.Change{}, err
	}
	if sub == nil {
		if _, err := s.offered.Get(run); err != nil {
			return planewright.Change{}, err
		}
		findings, err := s.orphans(ctx)
		change := s.change("")
		change.Findings = findings
		return change, err
	}
	installed := s.installedCSV(sub)
	if installed == s.CSV {
		return s.checkInstalled(ctx, run, sub)
	}
	if newerThan(version(installed), version(s.CSV)) {
		return planewright.Change{Action: planewright.ActionBlocked, Fingerprint: installed,
			Reason: fmt.Sprintf("%s is installed and newer than the pin %s; an operator cannot go back, so move the pin, or uninstall it first", installed, s.CSV)}, nil
	}
	plan, err := s.plan(ctx, sub)
	if err != nil {
		return planewright.Change{}, err
	}
	// A Subscription from another version is made anew, and its plan goes with it.
	anew := installed == "" && s.owns(sub.GetLabels()) && textAt(sub.Object, "spec", "startingCSV") != s.CSV
	if plan != nil && !anew && textAt(plan.Object, "status", "phase") == "RequiresApproval" {
		if foreign := s.foreignPlan(plan); foreign != nil {
			return blockedBy(foreign, installed), nil
		}
	}
	if plan != nil && isApproved(plan) && contains(plan, s.CSV) {
		return planewright.Change{Fingerprint: installed, Pending: fmt.Sprintf("%s is approved and its phase is %s", kube.RefOf(plan), textAt(plan.Object, "status", "phase"))}, nil
	}
	offered, err := s.offered.Get(run)
	if err != nil {
		return planewright.Change{}, err
	}
	change := s.change(installed)
	if installed != "" {
		err = s.tellKinds(ctx, &change, s.csvRef(sub.GetNamespace(), installed), offered)
	}
	return change, err
}

// change is what approving will bring.
func (s csvStep) change(installed string) planewright.Change {
	change := planewright.Change{Action: planewright.ActionCreate, Fingerprint: "installed: " + installed,
		Reason: "approves the install plan of " + s.CSV + ", and no other",
		Diff:   []planewright.FieldDiff{{Path: "installedCSV", Before: installed, After: s.CSV}}}
	if installed != "" {
		change.Action = planewright.ActionUpdate
		if len(s.Through) > 0 {
			change.Reason = "approves the install plans of " + strings.Join(s.allowed(), ", ") + ", and no other"
		}
	}
	return change
}

// checkInstalled looks at the CSV that is at its pin.
func (s csvStep) checkInstalled(ctx context.Context, run *planewright.Run, sub *unstructured.Unstructured) (planewright.Change, error) {
	csv, err := s.workload.Objects.Get(ctx, s.csvRef(sub.GetNamespace(), s.CSV))
	if err := ignoreMissing(err); err != nil {
		return planewright.Change{}, err
	}
	if csv == nil {
		return planewright.Change{Action: planewright.ActionBlocked, Fingerprint: "csv is gone",
			Reason: fmt.Sprintf("%s says that %s is installed, but it was deleted; delete the Subscription, too, and install again", kube.RefOf(sub), s.CSV)}, nil
	}
	change := planewright.Change{Fingerprint: identity(csv)}
	if phase := textAt(csv.Object, "status", "phase"); phase != "Succeeded" {
		change.Pending = fmt.Sprintf("%s is in phase %s", kube.RefOf(csv), phase)
		return change, nil
	}
	s.setKinds(run, csv)
	return change, nil
}

func (s csvStep) setKinds(run *planewright.Run, csv *unstructured.Unstructured) {
	s.kinds.Set(run, customsOf(mapAt(csv.Object, "spec", "customresourcedefinitions"), mapAt(csv.Object, "metadata", "annotations")))
}

// orphans finds operators of the package that nobody subscribes to: OLM then
// finds no solution, and says so in words that lead nowhere.
func (s csvStep) orphans(ctx context.Context) ([]planewright.Finding, error) {
	list, err := s.workload.Objects.List(ctx, kube.ListRequest{APIVersion: operatorsV1alpha1, Kind: "ClusterServiceVersion", Namespace: s.namespace})
	if err != nil && !errors.Is(err, planewright.ErrNotFound) {
		return nil, err
	}
	var findings []planewright.Finding
	for _, csv := range list {
		if !strings.HasPrefix(csv.GetName(), s.Package+".v") || csv.GetLabels()["olm.copiedFrom"] != "" {
			continue
		}
		object := kube.RefOf(csv).In(s.workload.Name)
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodeOrphanCSV, Object: &object,
			Cause: "no Subscription stands for this operator, and none can be made while it is there",
			Fix:   fmt.Sprintf("kubectl delete csv -n %s %s", csv.GetNamespace(), csv.GetName())})
	}
	return findings, nil
}

// verify tells whether the operator is at its pin and working.
func (s csvStep) verify(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	sub, err := s.subscribed(ctx)
	if err != nil || sub == nil {
		return nil, err
	}
	ref := s.csvRef(sub.GetNamespace(), s.CSV)
	object := ref.In(s.workload.Name)
	csv, err := s.workload.Objects.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	if failed := s.csvError(csv, nil); failed != nil {
		return []planewright.Finding{{Severity: planewright.SeverityError, Code: CodeOperator, Object: &object, Cause: failed.Cause, Fix: failed.Fix}}, nil //nolint:nilerr // what does not work is a finding
	}
	return s.newer(textAt(sub.Object, "status", "currentCSV")), nil
}
