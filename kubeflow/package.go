package kubeflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// packageStep finds out whether and where the catalog offers the pin. It writes nothing.
type packageStep struct{ operatorBinding }

// offer is how the catalog offers a pin.
type offer struct {
	channel string
	// newest is the head of the channel.
	newest string
	// kinds are the custom resources of the pin, nil if the catalog only
	// describes another version.
	kinds []custom
}

// A catalog cannot be watched: it is looked at again after packagePoll, then
// after twice as long each time, up to maxPackagePoll.
const (
	packagePoll    = 500 * time.Millisecond
	maxPackagePoll = 15 * time.Second
)

func (s packageStep) step() planewright.Step {
	return planewright.Step{
		ID:      s.operatorBinding.step("package"),
		Title:   "package " + s.Package + " in catalog " + s.catalog.source,
		Cluster: s.workload.Name,
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			change, err := s.check(ctx, run)
			return s.checked(ctx, run, change, err)
		},
		Await:  s.await,
		Render: s.render,
	}
}

func (s packageStep) check(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
	manifests, err := s.manifests(ctx)
	if err != nil {
		return planewright.Change{}, err
	}
	found, missing := s.choose(ctx, manifests)
	if missing != nil {
		if s.awaitPackages && missing.Code == CodeNotOffered {
			return planewright.Change{Action: planewright.ActionCreate, Fingerprint: "not offered",
				Reason: missing.Cause + "; waits until it is: " + missing.Fix}, nil
		}
		return planewright.Change{Findings: []planewright.Finding{*missing}}, nil
	}
	s.offered.Set(run, *found)
	findings, err := s.catalogFindings(ctx)
	if err != nil {
		return planewright.Change{}, err
	}
	return planewright.Change{Findings: append(findings, s.newer(found.newest)...)}, nil
}

// newer is information: the pin stays.
func (s operatorBinding) newer(newest string) []planewright.Finding {
	if newest == "" || !newerThan(version(newest), version(s.CSV)) {
		return nil
	}
	return []planewright.Finding{{Severity: planewright.SeverityInfo, Code: CodeNewerOffered,
		Cause: fmt.Sprintf("the catalog offers %s; the pin is %s, and stays", newest, s.CSV),
		Fix:   "change the pin to upgrade"}}
}

// manifests are the PackageManifests of the package, of all catalogs. A cluster
// without OLM has none; the preflight says so.
func (s operatorBinding) manifests(ctx context.Context) ([]*unstructured.Unstructured, error) {
	list, err := s.workload.Objects.List(ctx, kube.ListRequest{APIVersion: packagesV1, Kind: "PackageManifest"})
	if errors.Is(err, planewright.ErrNotFound) {
		return nil, nil
	}
	return slices.DeleteFunc(list, func(m *unstructured.Unstructured) bool {
		name := textAt(m.Object, "status", "packageName")
		return m.GetName() != s.Package && name != s.Package
	}), err
}

// choose finds the pin in what the catalogs offer, or says why it is not there.
func (s packageStep) choose(ctx context.Context, manifests []*unstructured.Unstructured) (*offer, *planewright.Finding) {
	var elsewhere []string
	for _, m := range manifests {
		source := textAt(m.Object, "status", "catalogSource")
		if source != s.catalog.source || textAt(m.Object, "status", "catalogSourceNamespace") != s.catalog.namespace {
			elsewhere = append(elsewhere, source)
			continue
		}
		return s.chooseChannel(ctx, m)
	}
	cause := fmt.Sprintf("catalog %s/%s does not offer the package %s", s.catalog.namespace, s.catalog.source, s.Package)
	if len(elsewhere) > 0 {
		cause += "; " + joinOr(elsewhere) + " does: use WithCatalog if that is the one"
	}
	return nil, &planewright.Finding{Severity: planewright.SeverityError, Code: CodeNotOffered, Cause: cause, Fix: s.upload(ctx)}
}

func (s packageStep) chooseChannel(ctx context.Context, m *unstructured.Unstructured) (*offer, *planewright.Finding) {
	channels := mapsAt(m.Object, "status", "channels")
	fallback := textAt(m.Object, "status", "defaultChannel")
	slices.SortStableFunc(channels, func(a, b map[string]any) int {
		rank := func(c map[string]any) int {
			if textAt(c, "name") == fallback {
				return 0
			}
			return 1
		}
		return rank(a) - rank(b)
	})
	var offered []string
	for _, c := range channels {
		name := textAt(c, "name")
		var entries []string
		for _, e := range mapsAt(c, "entries") {
			entries = append(entries, textAt(e, "name"))
		}
		if current := textAt(c, "currentCSV"); !slices.Contains(entries, current) {
			entries = append(entries, current)
		}
		offered = append(offered, name+": "+strings.Join(entries, ", "))
		if (s.Channel == "" || s.Channel == name) && s.CSV != "" && slices.Contains(entries, s.CSV) {
			found := &offer{channel: name, newest: textAt(c, "currentCSV")}
			if found.newest == s.CSV {
				found.kinds = customsOf(mapAt(c, "currentCSVDesc", "customresourcedefinitions"), mapAt(c, "currentCSVDesc", "annotations"))
			}
			return found, nil
		}
	}
	object := kube.RefOf(m).In(s.workload.Name)
	if s.CSV == "" {
		return nil, &planewright.Finding{Severity: planewright.SeverityError, Code: CodePinMissing, Object: &object,
			Cause: fmt.Sprintf("release %s does not say which version of %s to install; the catalog offers %s", s.release, s.Package, strings.Join(offered, "; ")),
			Fix:   fmt.Sprintf("choose one with Release.WithPin(%q, …)", s.Component)}
	}
	in := "in any channel"
	if s.Channel != "" {
		in = "in channel " + s.Channel
	}
	return nil, &planewright.Finding{Severity: planewright.SeverityError, Code: CodeNotOffered, Object: &object,
		Cause: fmt.Sprintf("%s is not offered %s; the catalog offers %s", s.CSV, in, strings.Join(offered, "; ")), Fix: "change the pin, or " + s.upload(ctx)}
}

// catalogFindings tells of a catalog that does not answer.
func (s packageStep) catalogFindings(ctx context.Context) ([]planewright.Finding, error) {
	ref := kube.Ref{APIVersion: operatorsV1alpha1, Kind: "CatalogSource", Namespace: s.catalog.namespace, Name: s.catalog.source}
	object := ref.In(s.workload.Name)
	live, err := s.workload.Objects.Get(ctx, ref)
	if errors.Is(err, planewright.ErrNotFound) || errors.Is(err, planewright.ErrDenied) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if state := textAt(live.Object, "status", "connectionState", "lastObservedState"); state != "READY" {
		return []planewright.Finding{{Severity: planewright.SeverityWarning, Code: CodeCatalog, Object: &object,
			Cause: fmt.Sprintf("the catalog's state is %q and not READY; nothing can be installed from it meanwhile", state),
			Fix:   "look at its pod: kubectl get pods -n " + s.catalog.namespace + " -l olm.catalogSource=" + s.catalog.source}}, nil
	}
	return nil, nil
}

// await looks until the package is offered.
func (s packageStep) await(ctx context.Context, run *planewright.Run) error {
	told := ""
	for pause := packagePoll; ; pause = min(2*pause, maxPackagePoll) {
		manifests, err := s.manifests(ctx)
		if err != nil {
			return err
		}
		found, missing := s.choose(ctx, manifests)
		if found != nil {
			s.offered.Set(run, *found)
			return nil
		}
		if told != missing.Cause {
			told = missing.Cause
			run.Progress("%s", told)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%s; fix: %s: %w", missing.Cause, missing.Fix, context.Cause(ctx))
		}
	}
}

// customsOf reads the kinds of custom resources out of a CSV's description.
func customsOf(definitions, annotations map[string]any) []custom {
	examples := map[string]map[string]any{}
	var list []map[string]any
	if json.Unmarshal([]byte(textAt(annotations, "alm-examples")), &list) == nil {
		for _, example := range list {
			if spec, err := plain(mapAt(example, "spec")); err == nil {
				examples[textAt(example, "kind")] = spec
			}
		}
	}
	kinds := []custom{}
	for _, d := range mapsAt(definitions, "owned") {
		name := textAt(d, "name")
		_, group, _ := strings.Cut(name, ".")
		c := custom{apiVersion: group + "/" + textAt(d, "version"), kind: textAt(d, "kind"), crd: name, example: examples[textAt(d, "kind")]}
		for _, s := range mapsAt(d, "specDescriptors") {
			c.descriptors = append(c.descriptors, descriptor{textAt(s, "path"), textAt(s, "displayName"), textAt(s, "description")})
		}
		kinds = append(kinds, c)
	}
	return kinds
}
