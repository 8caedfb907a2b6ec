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

// platformSteps are what is done outside the operators: the platform's access
// URL, its login's certificate, the service mesh.
func (b binding) platformSteps() []planewright.Step {
	url := platformURLStep{b}.step()
	certificate := certificateStep{b}.step(url.ID)
	mesh := meshStep{b}.step(certificate.ID)
	steps := []planewright.Step{url, certificate, mesh}
	if b.mesh.deleteWebhooks && !b.mesh.v1 {
		steps = append(steps, webhookStep{b}.step(b.step(string(ComponentBase), "namespace")))
	}
	return steps
}

// certificateSettle is how long the login's certificate must stay the same after
// the access URLs have changed: the platform may renew it.
const certificateSettle = 10 * time.Second

// platformURLStep sees to it that the login sends people back to Kubeflow's
// host: it must be one of the platform's access URLs.
type platformURLStep struct{ binding }

func productBase() kube.Ref {
	return kube.Ref{APIVersion: "product.alauda.io/v1alpha2", Kind: "ProductBase", Name: "base"}
}

func (s platformURLStep) url() string { return "https://" + s.host }

func (s platformURLStep) step() planewright.Step {
	return planewright.Step{
		ID:      s.binding.step("platform-url"),
		Title:   "access URL " + s.url() + " of the platform",
		Cluster: s.global.Name,
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			change, err := s.check(ctx)
			return s.checked(ctx, run, change, err)
		},
		Apply: s.apply,
		Await: s.await,
		Undo:  s.undo,
	}
}

// allows reports whether the platform's access URLs have the host.
func (s platformURLStep) allows(base *unstructured.Unstructured) bool {
	urls := append(textsAt(base.Object, "spec", "alternativeURLs"), textAt(base.Object, "spec", "platformURL"))
	return slices.ContainsFunc(urls, func(url string) bool { return sameURL(url, s.url()) })
}

// sameURL compares URLs of a host alone.
func sameURL(a, b string) bool {
	return strings.EqualFold(strings.TrimRight(a, "/"), strings.TrimRight(b, "/"))
}

func (s platformURLStep) check(ctx context.Context) (planewright.Change, error) {
	object := productBase().In(s.global.Name)
	base, err := s.global.Objects.Get(ctx, productBase())
	if errors.Is(err, planewright.ErrNotFound) {
		return planewright.Change{Fingerprint: "absent", Findings: []planewright.Finding{{Severity: planewright.SeverityError, Code: CodePlatform, Object: &object,
			Cause: "the platform itself does not run in this cluster",
			Fix:   "give NewKubeflowStack the platform's global cluster; a usual mistake is the workload cluster's kubeconfig"}}}, nil
	}
	if err != nil {
		return planewright.Change{}, err
	}
	change := planewright.Change{Fingerprint: fmt.Sprintf("%s %d", identity(base), base.GetGeneration())}
	switch {
	case s.allows(base):
	case s.manageURL:
		change.Action = planewright.ActionUpdate
		change.Reason = "concerns the whole platform, which may renew its certificate"
		change.Diff = []planewright.FieldDiff{{Path: "ProductBase base: spec.alternativeURLs", After: s.url()}}
	default:
		change.Findings = []planewright.Finding{{Severity: planewright.SeverityError, Code: CodePlatformURL, Object: &object,
			Cause: s.url() + " is not among the platform's access URLs, so the login will not send anybody back to it",
			Fix: fmt.Sprintf(`add it in the platform's settings, or: kubectl patch productbase base --type=json -p '[{"op":"add","path":"/spec/alternativeURLs/-","value":"%s"}]'; or have it done by WithManagedPlatformURL`,
				s.url())}}
	}
	return change, nil
}

func (s platformURLStep) apply(ctx context.Context, _ *planewright.Run) error {
	base, err := s.global.Objects.Get(ctx, productBase())
	if err != nil || s.allows(base) {
		return err
	}
	urls := append(textsAt(base.Object, "spec", "alternativeURLs"), s.url())
	if err := unstructured.SetNestedStringSlice(base.Object, urls, "spec", "alternativeURLs"); err != nil {
		return fmt.Errorf("%s cannot be read: %w: %w", productBase(), err, planewright.ErrInvalid)
	}
	s.note(base, s.url())
	_, err = s.global.Objects.Update(ctx, base)
	return err
}

// noteAnnotation is where an object that others share says what a stack has put there.
func (b binding) noteAnnotation() string { return "planewright.dev/" + b.owner() }

// note writes down what the stack has put into a shared object; empty takes the note away.
func (b binding) note(obj *unstructured.Unstructured, text string) {
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	if text == "" {
		delete(annotations, b.noteAnnotation())
	} else {
		annotations[b.noteAnnotation()] = text
	}
	obj.SetAnnotations(annotations)
}

// await gives the platform the time to renew its certificate.
func (s platformURLStep) await(ctx context.Context, run *planewright.Run) error {
	for {
		settled, err := s.unchangedFor(ctx, run, certificateSettle)
		if err != nil || settled {
			return err
		}
	}
}

// unchangedFor reports whether the login's certificate stays the same for so long.
func (s platformURLStep) unchangedFor(ctx context.Context, run *planewright.Run, d time.Duration) (bool, error) {
	watching, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	first := ""
	err := s.global.Objects.Wait(watching, kube.WaitRequest{Refs: []kube.Ref{loginSecret()}, Progress: progress(run),
		Until: func(obj *unstructured.Unstructured) (bool, string) {
			if obj == nil {
				return false, "is not there"
			}
			if first == "" {
				first = obj.GetResourceVersion()
			}
			return obj.GetResourceVersion() != first, "is watched for a change"
		}})
	if err == nil {
		return false, nil
	}
	if ctx.Err() == nil && watching.Err() != nil {
		return true, nil
	}
	return false, err
}

// undo takes the URL away if the stack has added it.
func (s platformURLStep) undo(ctx context.Context, run *planewright.Run) error {
	base, err := s.global.Objects.Get(ctx, productBase())
	if err != nil {
		return ignoreMissing(err)
	}
	if base.GetAnnotations()[s.noteAnnotation()] != s.url() {
		if s.allows(base) {
			run.Keep(productBase().In(s.global.Name), "the access URL "+s.url()+" was there before the stack")
		}
		return nil
	}
	urls := slices.DeleteFunc(textsAt(base.Object, "spec", "alternativeURLs"), func(url string) bool { return url == s.url() })
	if err := unstructured.SetNestedStringSlice(base.Object, urls, "spec", "alternativeURLs"); err != nil {
		return fmt.Errorf("%s cannot be read: %w: %w", productBase(), err, planewright.ErrInvalid)
	}
	s.note(base, "")
	_, err = s.global.Objects.Update(ctx, base)
	return err
}
