package kubeflow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// resolutionGrace is how long a failed resolution may last: it fails while a
// catalog has just been made, and mends itself.
const resolutionGrace = time.Minute

// plan is the install plan that a Subscription points to, nil if there is none.
func (o operatorBinding) plan(ctx context.Context, sub *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	name := textAt(sub.Object, "status", "installPlanRef", "name")
	if name == "" {
		return nil, nil
	}
	plan, err := o.workload.Objects.Get(ctx, planRef(sub.GetNamespace(), name))
	if err != nil {
		return nil, ignoreMissing(err)
	}
	return plan, nil
}

func planRef(namespace, name string) kube.Ref {
	return kube.Ref{APIVersion: operatorsV1alpha1, Kind: "InstallPlan", Namespace: namespace, Name: name}
}

func isApproved(plan *unstructured.Unstructured) bool {
	approved, _, _ := unstructured.NestedBool(plan.Object, "spec", "approved")
	return approved
}

func contains(plan *unstructured.Unstructured, csv string) bool {
	return slices.Contains(textsAt(plan.Object, "spec", "clusterServiceVersionNames"), csv)
}

// foreignPlan is the error of a plan that would install anything but what leads
// to the pin. Such a plan is never approved.
func (o operatorBinding) foreignPlan(plan *unstructured.Unstructured) *OperatorError {
	names := textsAt(plan.Object, "spec", "clusterServiceVersionNames")
	foreign := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(o.allowed(), name) })
	if len(foreign) == 0 && len(names) > 0 {
		return nil
	}
	fix := "give the operator a namespace of its own: what is approved in a namespace is approved for all of it"
	if !slices.ContainsFunc(foreign, func(name string) bool { return !strings.HasPrefix(name, o.Package+".v") }) {
		fix = fmt.Sprintf("move the pin, or name versions on the way to it in Operator.Through; a plan that is left over from an older catalog keeps newer ones away: if it is one, kubectl delete -n %s subscription %s and installplan %s, and install again",
			plan.GetNamespace(), o.Package, plan.GetName())
	}
	return &OperatorError{Sign: SignForeignPlan, Object: kube.RefOf(plan).In(o.workload.Name), Fix: fix,
		Cause: fmt.Sprintf("it would install %s; only %s may be installed here, so it is not approved", strings.Join(names, ", "), joinOr(o.allowed()))}
}

// apply brings the operator to its pin. Operators that are there are upgraded one at a time.
func (s csvStep) apply(ctx context.Context, run *planewright.Run) error {
	sub, err := s.subscribed(ctx)
	if err != nil {
		return err
	}
	if sub == nil || s.installedCSV(sub) == "" {
		return s.approvePlans(ctx, run)
	}
	select {
	case s.upgrading <- struct{}{}:
	default:
		run.Progress("waits until another operator has been upgraded")
		select {
		case s.upgrading <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	defer func() { <-s.upgrading }()
	if err := s.approvePlans(ctx, run); err != nil {
		return err
	}
	return s.await(ctx, run)
}

// approvePlans approves the plans that lead to the pin, one after the other.
func (s csvStep) approvePlans(ctx context.Context, run *planewright.Run) error {
	done := ""
	for {
		sub, err := s.subscribed(ctx)
		if err != nil {
			return err
		}
		if sub == nil {
			return fmt.Errorf("%s: %w", s.subscriptionRef(s.namespace), planewright.ErrNotFound)
		}
		if s.installedCSV(sub) == s.CSV {
			return nil
		}
		plan, err := s.awaitPlan(ctx, run, kube.RefOf(sub), done)
		if err != nil || plan == nil {
			return err
		}
		if err := s.approve(ctx, run, kube.RefOf(plan)); err != nil {
			return err
		}
		if contains(plan, s.CSV) {
			return nil
		}
		done = plan.GetName()
		if err := s.awaitPlanDone(ctx, run, kube.RefOf(plan)); err != nil {
			return err
		}
	}
}

// awaitPlan waits for the plan that the Subscription is waiting with, other than the one that is done.
// It returns nil if the pin is installed.
func (s csvStep) awaitPlan(ctx context.Context, run *planewright.Run, sub kube.Ref, done string) (*unstructured.Unstructured, error) {
	for {
		live, err := s.awaitSubscription(ctx, run, sub, func(sub *unstructured.Unstructured) bool {
			name := textAt(sub.Object, "status", "installPlanRef", "name")
			return s.installedCSV(sub) == s.CSV || name != "" && name != done && textAt(sub.Object, "status", "state") == "UpgradePending"
		})
		if err != nil || s.installedCSV(live) == s.CSV {
			return nil, err
		}
		ref := planRef(live.GetNamespace(), textAt(live.Object, "status", "installPlanRef", "name"))
		var plan *unstructured.Unstructured
		err = s.workload.Objects.Wait(ctx, kube.WaitRequest{Refs: []kube.Ref{ref}, Progress: progress(run),
			Until: func(obj *unstructured.Unstructured) (bool, string) {
				plan = obj
				if obj == nil {
					return true, ""
				}
				phase := textAt(obj.Object, "status", "phase")
				return phase != "" && phase != "Planning", "is in phase " + phase
			}})
		if err != nil {
			return nil, err
		}
		if plan == nil {
			continue // it was replaced by another one
		}
		if textAt(plan.Object, "status", "phase") == "Complete" && !contains(plan, s.CSV) {
			done = plan.GetName()
			continue
		}
		return plan, nil
	}
}

// awaitSubscription waits until the Subscription is as wanted. What will not
// mend itself is an [*OperatorError].
func (s csvStep) awaitSubscription(ctx context.Context, run *planewright.Run, ref kube.Ref, wanted func(*unstructured.Unstructured) bool) (*unstructured.Unstructured, error) {
	// look waits for what is wanted, or for a sign of failure to come or to go.
	look := func(ctx context.Context, untilSign bool) (seen *unstructured.Unstructured, sign *OperatorError, err error) {
		err = s.workload.Objects.Wait(ctx, kube.WaitRequest{Refs: []kube.Ref{ref}, Progress: progress(run),
			Until: func(obj *unstructured.Unstructured) (bool, string) {
				seen, sign = obj, nil
				if obj == nil {
					return false, "does not exist"
				}
				sign = s.subscriptionError(obj)
				return wanted(obj) || (sign != nil) == untilSign, subscriptionText(obj)
			}})
		return seen, sign, err
	}
	for {
		seen, sign, err := look(ctx, true)
		switch {
		case err == nil && wanted(seen):
			return seen, nil
		case err == nil && sign != nil && sign.Sign == SignBundleUnpackFailed:
			return nil, sign
		case err == nil && sign == nil:
			continue
		case err != nil:
			return nil, s.stalled(ref, seen, err)
		}
		grace, cancel := context.WithTimeout(ctx, resolutionGrace)
		seen, still, err := look(grace, false)
		over := grace.Err() != nil
		cancel()
		switch {
		case err == nil && wanted(seen):
			return seen, nil
		case err == nil:
		case ctx.Err() != nil:
			return nil, err
		case over && still != nil:
			return nil, still
		case over:
			return nil, sign
		default:
			return nil, err
		}
	}
}

// awaitPlanDone waits until a plan is complete.
func (s csvStep) awaitPlanDone(ctx context.Context, run *planewright.Run, ref kube.Ref) error {
	var seen *unstructured.Unstructured
	err := s.workload.Objects.Wait(ctx, kube.WaitRequest{Refs: []kube.Ref{ref}, Progress: progress(run),
		Until: func(obj *unstructured.Unstructured) (bool, string) {
			seen = obj
			if obj == nil {
				return true, ""
			}
			phase := textAt(obj.Object, "status", "phase")
			return phase == "Complete" || phase == "Failed", "is in phase " + phase + ": " + textAt(obj.Object, "status", "message")
		}})
	if seen != nil && textAt(seen.Object, "status", "phase") == "Failed" {
		return s.planError(seen)
	}
	if err != nil && seen != nil && textAt(seen.Object, "status", "phase") == "Installing" {
		return &OperatorError{Sign: SignStalled, Object: ref.In(s.workload.Name), Cause: "the install plan does not get done: " + textAt(seen.Object, "status", "message"),
			Fix: "look at its status: kubectl get installplan -n " + ref.Namespace + " " + ref.Name + " -o yaml", Err: err}
	}
	return err
}

// approve approves one plan, by name, if it is still about nothing but what
// leads to the pin: the patch tests what was looked at, so that a plan that has
// changed since is not approved.
func (s csvStep) approve(ctx context.Context, run *planewright.Run, ref kube.Ref) error {
	const attempts = 5
	for attempt := 1; ; attempt++ {
		plan, err := s.workload.Objects.Get(ctx, ref)
		if err != nil {
			return err
		}
		if foreign := s.foreignPlan(plan); foreign != nil {
			return foreign
		}
		if textAt(plan.Object, "status", "phase") == "Failed" {
			return s.planError(plan)
		}
		if isApproved(plan) {
			return nil
		}
		run.Progress("approving %s, which installs %s", ref, strings.Join(textsAt(plan.Object, "spec", "clusterServiceVersionNames"), ", "))
		_, err = s.workload.Objects.Patch(ctx, ref, approval(plan))
		switch {
		case err == nil:
			return nil
		case errors.Is(err, planewright.ErrDenied):
			return &OperatorError{Sign: SignNotApproved, Object: ref.In(s.workload.Name), Cause: "the plan waits for its approval, and these credentials may not give it",
				Fix: "grant patch on installplans.operators.coreos.com in namespace " + ref.Namespace, Err: err}
		case !errors.Is(err, planewright.ErrConflict) || attempt == attempts:
			return err
		}
	}
}

// approval approves a plan as it was seen: the same object, of the same
// generation, with the same CSVs.
func approval(plan *unstructured.Unstructured) kube.Patch {
	patch := kube.Patch{}.
		WithTest("/metadata/uid", identity(plan)).
		WithTest("/spec/clusterServiceVersionNames", textsAt(plan.Object, "spec", "clusterServiceVersionNames"))
	if generation, ok, _ := unstructured.NestedInt64(plan.Object, "spec", "generation"); ok {
		patch = patch.WithTest("/spec/generation", generation)
	}
	return patch.WithReplaced("/spec/approved", true)
}
