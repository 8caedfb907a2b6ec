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

// await waits until the pin is installed and works: its CSV has succeeded, its
// definitions are served, its Deployments are available.
func (s csvStep) await(ctx context.Context, run *planewright.Run) error {
	sub, err := s.subscribed(ctx)
	if err != nil {
		return err
	}
	if sub == nil {
		return fmt.Errorf("%s: %w", s.subscriptionRef(s.namespace), planewright.ErrNotFound)
	}
	ref := kube.RefOf(sub)
	if s.installedCSV(sub) != s.CSV {
		plan, err := s.plan(ctx, sub)
		if err != nil {
			return err
		}
		if plan != nil {
			if err := s.awaitPlanDone(ctx, run, kube.RefOf(plan)); err != nil {
				return err
			}
		}
		if _, err := s.awaitSubscription(ctx, run, ref, func(sub *unstructured.Unstructured) bool { return s.installedCSV(sub) == s.CSV }); err != nil {
			return err
		}
	}
	csv, err := s.awaitCSV(ctx, run, s.csvRef(ref.Namespace, s.CSV))
	if err != nil {
		return err
	}
	var refs []kube.Ref
	for _, kind := range customsOf(mapAt(csv.Object, "spec", "customresourcedefinitions"), nil) {
		refs = append(refs, definitionRef(kind.crd))
	}
	refs = append(refs, deploymentsOf(csv)...)
	if err := s.workload.Objects.Wait(ctx, kube.WaitRequest{Refs: refs, Progress: progress(run)}); err != nil {
		return err
	}
	s.setKinds(run, csv)
	return nil
}

func (s csvStep) awaitCSV(ctx context.Context, run *planewright.Run, ref kube.Ref) (*unstructured.Unstructured, error) {
	var seen *unstructured.Unstructured
	err := s.workload.Objects.Wait(ctx, kube.WaitRequest{Refs: []kube.Ref{ref}, Progress: progress(run),
		Until: func(obj *unstructured.Unstructured) (bool, string) {
			seen = obj
			if obj == nil {
				return false, "does not exist yet"
			}
			reason := textAt(obj.Object, "status", "reason")
			terminal := slices.Contains([]string{"UnsupportedOperatorGroup", "TooManyOperatorGroups"}, reason)
			return works(obj) || terminal, fmt.Sprintf("is in phase %s: %s", textAt(obj.Object, "status", "phase"), reason)
		}})
	if seen != nil && works(seen) {
		return seen, nil
	}
	if seen != nil && (err == nil || errors.Is(err, planewright.ErrTimeout)) {
		if failed := s.csvError(seen, err); failed != nil {
			if failed.Sign == SignInstalling {
				failed.Cause += s.whyNotAvailable(ctx, seen)
			}
			return nil, failed
		}
	}
	return nil, err
}

// diagnosis is how long it may take to find out why a wait has run out.
const diagnosis = 2 * time.Second

// whyNotAvailable says what the operator's Deployments wait for: pods that
// cannot be scheduled, or cannot pull.
func (s csvStep) whyNotAvailable(ctx context.Context, csv *unstructured.Unstructured) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), diagnosis)
	defer cancel()
	if err := s.workload.Objects.Wait(ctx, kube.WaitRequest{Refs: deploymentsOf(csv)}); err != nil {
		return "; " + err.Error()
	}
	return ""
}

// deploymentsOf are the Deployments that a CSV consists of.
func deploymentsOf(csv *unstructured.Unstructured) []kube.Ref {
	var refs []kube.Ref
	for _, d := range mapsAt(csv.Object, "spec", "install", "spec", "deployments") {
		refs = append(refs, kube.Ref{APIVersion: "apps/v1", Kind: "Deployment", Namespace: csv.GetNamespace(), Name: textAt(d, "name")})
	}
	return refs
}

func works(csv *unstructured.Unstructured) bool {
	return textAt(csv.Object, "status", "phase") == "Succeeded" && textAt(csv.Object, "status", "reason") != "Copied"
}

// csvError is what a CSV that does not work shows, nil if it works.
func (o operatorBinding) csvError(csv *unstructured.Unstructured, waited error) *OperatorError {
	if works(csv) {
		return nil
	}
	phase, reason, message := textAt(csv.Object, "status", "phase"), textAt(csv.Object, "status", "reason"), textAt(csv.Object, "status", "message")
	e := &OperatorError{Object: kube.RefOf(csv).In(o.workload.Name), Err: waited, Cause: fmt.Sprintf("phase %s, reason %s: %s", phase, reason, message)}
	switch {
	case strings.Contains(reason, "OperatorGroup") && reason != "InterOperatorGroupOwnerConflict":
		e.Sign = SignOperatorGroup
		e.Fix = "have exactly one OperatorGroup in namespace " + csv.GetNamespace() + ", for all namespaces: one with an empty spec"
	case phase == "Failed":
		e.Sign = SignFailed
		e.Fix = "look at the operator's Deployment and events in namespace " + csv.GetNamespace() +
			"; one that has failed is not upgraded either: if it does not recover, delete the Subscription and the CSV, and install again"
	case phase == "Pending" || phase == "":
		e.Sign = SignRequirements
		e.Cause += requirements(csv)
		e.Fix = "provide what is missing; if it is the operator's own, delete the Subscription and the CSV, and install again"
	default:
		e.Sign = SignInstalling
		e.Fix = "look at why the operator's pods do not become ready in namespace " + csv.GetNamespace()
	}
	return e
}

// requirements lists what a CSV waits for.
func requirements(csv *unstructured.Unstructured) string {
	var missing []string
	for _, r := range mapsAt(csv.Object, "status", "requirementStatus") {
		if status := textAt(r, "status"); status != "Present" && status != "Satisfied" {
			missing = append(missing, fmt.Sprintf("%s %s: %s", textAt(r, "kind"), textAt(r, "name"), status))
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return "; " + strings.Join(missing, ", ")
}

// subscriptionError is what a Subscription shows that gets no further, nil if it shows nothing.
func (o operatorBinding) subscriptionError(sub *unstructured.Unstructured) *OperatorError {
	object := kube.RefOf(sub).In(o.workload.Name)
	if status, _, message := condition(sub, "BundleUnpackFailed"); status == "True" {
		return &OperatorError{Sign: SignBundleUnpackFailed, Object: object, Cause: message,
			Fix: "see whether the bundle's image is in the registry, for the nodes' architecture, and upload it again if not: " + strings.Join(o.violets(o.bundles(nil)), "; ")}
	}
	if status, _, message := condition(sub, "ResolutionFailed"); status == "True" {
		return &OperatorError{Sign: SignResolutionFailed, Object: object, Cause: message, Fix: o.resolutionFix(message)}
	}
	return nil
}

// resolutionFix reads what OLM says, which names the catalog or the versions in the way.
func (o operatorBinding) resolutionFix(message string) string {
	switch {
	case strings.Contains(message, "no operators found"):
		return fmt.Sprintf("the catalog %s/%s has no %s in this channel; change the pin or the channel", o.catalog.namespace, o.catalog.source, o.CSV)
	case strings.Contains(message, "@existing"):
		return fmt.Sprintf("an operator without a Subscription is in the way: kubectl get csv -n %s, and delete it", o.namespace)
	case strings.Contains(message, "failed to populate resolver cache"), strings.Contains(message, "error using catalog"):
		return "a catalog does not answer, perhaps another one than " + o.catalog.source + ": mend or delete the one that is named"
	}
	return "see which versions are in the way: kubectl get subscription,csv,operatorgroup -n " + o.namespace
}

// stalled is the error of a Subscription with which nothing happens.
func (o operatorBinding) stalled(ref kube.Ref, sub *unstructured.Unstructured, err error) error {
	if sub == nil || !errors.Is(err, planewright.ErrTimeout) {
		return err
	}
	if status, _, message := condition(sub, "CatalogSourcesUnhealthy"); status == "True" {
		return &OperatorError{Sign: SignCatalogUnhealthy, Object: ref.In(o.workload.Name), Cause: message,
			Fix: "look at the catalog's pod: kubectl get pods -n " + o.catalog.namespace + " -l olm.catalogSource=" + o.catalog.source, Err: err}
	}
	cause := "no install plan leads to " + o.CSV
	if installed := o.installedCSV(sub); installed != "" {
		cause += " from " + installed
	}
	return &OperatorError{Sign: SignStalled, Object: ref.In(o.workload.Name), Cause: cause + ": " + subscriptionText(sub),
		Fix: "delete the Subscription (the operator stays) and install again; an older plan that was never approved keeps newer ones away", Err: err}
}

// subscriptionText says what a Subscription is at.
func subscriptionText(sub *unstructured.Unstructured) string {
	text := "is in state " + textAt(sub.Object, "status", "state")
	if textAt(sub.Object, "status", "state") == "" {
		text = "has no state yet"
	}
	for _, kind := range []string{"CatalogSourcesUnhealthy", "ResolutionFailed", "BundleUnpackFailed", "BundleUnpacking", "InstallPlanFailed", "InstallPlanMissing"} {
		if status, reason, message := condition(sub, kind); status == "True" {
			text += fmt.Sprintf(", %s (%s): %s", kind, reason, message)
		}
	}
	return text
}

// planError is the error of a plan that has failed.
func (o operatorBinding) planError(plan *unstructured.Unstructured) *OperatorError {
	_, reason, message := condition(plan, "Installed")
	if message == "" {
		message = textAt(plan.Object, "status", "message")
	}
	e := &OperatorError{Sign: SignPlanFailed, Object: kube.RefOf(plan).In(o.workload.Name), Cause: reason + ": " + message,
		Fix: "mend the cause, delete the Subscription (an operator that is there stays), and install again: a failed plan is not tried again"}
	if strings.Contains(message, "couldn't find unpacked step") {
		e.Fix = "the plan refers to roles that are gone: delete the Subscription, and install again"
	}
	return e
}
