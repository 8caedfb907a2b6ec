package flyte

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"golang.org/x/sync/semaphore"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// releaseStep installs the chart.
type releaseStep struct{ binding }

func (s releaseStep) object() planewright.Object {
	return planewright.Object{Cluster: s.cluster.Name, APIVersion: planewright.ReleaseAPIVersion, Kind: planewright.ReleaseKind, Namespace: s.namespace, Name: s.release}
}

func (s releaseStep) step(needs []string) planewright.Step {
	return planewright.Step{
		ID:      s.binding.step("release"),
		Title:   fmt.Sprintf("Helm release %s/%s of %s %s", s.namespace, s.release, s.facts.Name, s.facts.Version),
		Cluster: s.cluster.Name,
		Needs:   needs,
		Objects: []planewright.Object{s.object()},
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			change, err := s.check(ctx, run)
			return s.checked(ctx, run, change, err)
		},
		Apply:     s.apply,
		Await:     s.await,
		Verify:    s.verify,
		CheckUndo: s.checkUndo,
		Undo:      s.undo,
		Render:    s.render,
	}
}

// chart loads the chart and checks that it is the one that is meant.
func (s releaseStep) chart(ctx context.Context) (*kube.Chart, error) {
	chart, err := s.charts.Chart(ctx, s.facts.ref())
	if err != nil {
		return nil, fmt.Errorf("chart %s %s: %w", s.facts.Name, s.facts.Version, err)
	}
	switch {
	case chart.Name() != s.facts.Name:
		return nil, s.refuse("is called %s; give the Env a source that has %s", chart.Name(), s.facts.Name)
	case major(chart.Version()) != major(s.facts.Version):
		return nil, s.refuse("is %s, %s", chart.Version(), otherProduct(major(chart.Version()) == "2"))
	case chart.Version() != s.facts.Version:
		return nil, s.refuse("is %s; give the Env a source that has the version, or make a flyte.Version of it", chart.Version())
	case s.facts.Digest != "" && chart.Digest() != "" && chart.Digest() != s.facts.Digest:
		return nil, s.refuse("has the digest %s, and %s is expected; if it was packed again, use WithoutDigests of the version", chart.Digest(), s.facts.Digest)
	}
	return chart, nil
}

// otherProduct says what is wrong with a chart of the other Flyte.
func otherProduct(of2 bool) string {
	name := "Flyte 1"
	if of2 {
		name = "Flyte 2"
	}
	return "of " + name + ", which is another product under the same name; give the Env a source that has the version"
}

// refuse makes an error of what a chart is that is not the one that is meant.
func (s releaseStep) refuse(format string, args ...any) error {
	return fmt.Errorf("chart %s %s: the chart that was found %s: %w", s.facts.Name, s.facts.Version, fmt.Sprintf(format, args...), planewright.ErrInvalid)
}

// build makes the release, and says what its values are made of.
func (s releaseStep) build(ctx context.Context, in inputs) (kube.Release, layers, error) {
	chart, err := s.chart(ctx)
	if err != nil {
		return kube.Release{}, layers{}, err
	}
	l, err := s.layerInTurn(ctx, chart, in)
	if err != nil {
		return kube.Release{}, layers{}, err
	}
	if _, of2 := l.defaults.Get("configuration.database.postgres"); s.facts.Name == binaryChart && of2 != s.isFlyte2() {
		// Whatever its version says.
		return kube.Release{}, layers{}, s.refuse("is %s", otherProduct(of2))
	}
	return kube.Release{
		Name:           s.release,
		Namespace:      s.namespace,
		Chart:          chart,
		Values:         l.merged,
		Owner:          s.owner(),
		Adopt:          s.adopt,
		AdoptOrphans:   s.orphans(),
		RecoverPending: s.recoverPending,
	}, l, nil
}

// layerTurns is the key of what bounds how many releases of one chart have their
// values made at once.
type layerTurns struct{}

// layerInTurn makes the values, for as many releases at once as there are
// processors: of a thousand that are made beside each other none is ready
// sooner, and all that is half made lies in memory.
func (s releaseStep) layerInTurn(ctx context.Context, chart *kube.Chart, in inputs) (layers, error) {
	made, err := chart.Once(layerTurns{}, func() (any, error) {
		return semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0))), nil
	})
	if err != nil {
		return layers{}, err
	}
	turns, _ := made.(*semaphore.Weighted)
	if turns.Acquire(ctx, 1) != nil {
		return layers{}, context.Cause(ctx)
	}
	defer turns.Release(1)
	return s.layer(s.recipe, chart, s.facts, in)
}

// orphans are what a predecessor has made itself, and belongs to the release now.
func (s releaseStep) orphans() []kube.Ref {
	if s.predecessor == nil {
		return nil
	}
	return []kube.Ref{{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: crd}}
}

// current builds the release for this run, with what the steps before it have found.
func (s releaseStep) current(ctx context.Context, run *planewright.Run) (kube.Release, layers, error) {
	in, err := s.inputs(run)
	if err != nil {
		return kube.Release{}, layers{}, err
	}
	return s.build(ctx, in)
}

func (s releaseStep) check(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
	release, l, err := s.current(ctx, run)
	if err != nil {
		return planewright.Change{}, err
	}
	plan, err := s.cluster.Releases.Plan(ctx, release)
	if _, taken := errors.AsType[*kube.OwnershipError](err); taken {
		// Most often they belong to this very Flyte, under another name.
		if other, listErr := s.otherReleases(ctx); listErr == nil && len(other) > 0 {
			return planewright.Change{Action: planewright.ActionBlocked, Reason: other[0].Cause, Findings: other, Fingerprint: "other release"}, nil
		}
	}
	if err != nil {
		return planewright.Change{}, withOptIn(err)
	}
	findings := s.chartFindings(release.Chart)
	findings = append(findings, s.rawFindings(s.facts)...)
	findings = append(findings, s.rawWeightFindings()...)
	findings = append(findings, s.flyte2Findings(l)...)
	findings = append(findings, s.templateFindings(s.recipe, l.merged)...)
	findings = append(findings, placeholderFindings(s.cluster.Name, plan.Objects, l.merged, l.defaults)...)
	history, err := s.historyFindings(ctx, plan)
	if err != nil {
		return planewright.Change{}, err
	}
	rollout, err := s.rolloutFindings(ctx, plan)
	if err != nil {
		return planewright.Change{}, err
	}
	history = append(history, rollout...)
	var pending string
	if plan.Action == planewright.ActionNone && plan.State != nil {
		if pending, err = s.pending(ctx, plan.State.Objects); err != nil {
			return planewright.Change{}, err
		}
	}
	if plan.Action == planewright.ActionNone && pending == "" && plan.State != nil {
		s.settled.Set(run, true)
		if _, err := s.tellRecord(ctx, run, *plan.State); err != nil {
			return planewright.Change{}, err
		}
	}
	return planewright.Change{
		Pending:     pending,
		Action:      plan.Action,
		Reason:      plan.Reason,
		Diff:        plan.Diff,
		Findings:    append(findings, history...),
		Fingerprint: plan.Fingerprint,
	}, nil
}

// pending names workloads that do not run although nothing is to be changed:
// of an install that was cut off while it waited, or of one that failed.
func (s releaseStep) pending(ctx context.Context, refs []kube.Ref) (string, error) {
	var pending []string
	for _, ref := range refs {
		if ref.Kind != "Deployment" {
			continue
		}
		live, err := s.cluster.Objects.Get(ctx, ref)
		if errors.Is(err, planewright.ErrNotFound) {
			continue
		}
		if err != nil {
			return "", err
		}
		replicas, _, _ := unstructured.NestedInt64(live.Object, "spec", "replicas")
		available, _, _ := unstructured.NestedInt64(live.Object, "status", "availableReplicas")
		if available < replicas {
			pending = append(pending, fmt.Sprintf("%d of the %d replicas of Deployment %s are available", available, replicas, ref.Name))
		}
	}
	return strings.Join(pending, ", "), nil
}

func (s releaseStep) apply(ctx context.Context, run *planewright.Run) error {
	release, _, err := s.current(ctx, run)
	if err != nil {
		return err
	}
	_, err = s.cluster.Releases.Apply(ctx, release)
	return withOptIn(err)
}

// noRelease is whose an object is that belongs to no release.
const noRelease = "no release"

// withOptIn names the method that allows what a release was refused.
func withOptIn(err error) error {
	if errors.Is(err, kube.ErrReleasePending) {
		return fmt.Errorf("%w (see Deployment.WithPendingRecovery)", err)
	}
	if taken, ok := errors.AsType[*kube.OwnershipError](err); ok {
		if slices.ContainsFunc(taken.Objects, func(o kube.OwnedObject) bool { return o.Ref.Name == crd && o.Owner != noRelease }) {
			return fmt.Errorf("%w; a cluster runs workflows for one Flyte only, so use another cluster: deleting the definition would delete every execution of the other Flyte", err)
		}
		return fmt.Errorf("%w (see Deployment.WithAdoption)", err)
	}
	return err
}

// await waits for what takes time to become so; other kinds are there at once.
func (s releaseStep) await(ctx context.Context, run *planewright.Run) error {
	state, err := s.cluster.Releases.State(ctx, s.namespace, s.release)
	if err != nil {
		return err
	}
	if err := s.cluster.Objects.Wait(ctx, kube.WaitRequest{
		Refs:     slices.DeleteFunc(slices.Clone(state.Objects), func(r kube.Ref) bool { return !takesTime(r) }),
		Progress: func(message string) { run.Progress("%s", message) },
	}); err != nil {
		return err
	}
	s.settled.Set(run, true)
	s.advise(ctx, run, state)
	return s.awaitAddress(ctx, run, state)
}

// advise says how to reach what was installed.
func (s releaseStep) advise(ctx context.Context, run *planewright.Run, state kube.ReleaseState) {
	services, _, err := s.services(ctx, state)
	if err != nil {
		// What was installed is installed, whether or not it can be told how to reach it.
		run.Logger().WarnContext(ctx, "the services of the release cannot be read", "error", err)
		return
	}
	if http, ok := services[doorHTTP]; ok && s.isFlyte2() {
		run.Advise("reach the API at http://localhost:8090 (insecure): kubectl -n %s port-forward service/%s 8090:%d", s.namespace, http.service, http.port)
		run.Advise("the console %s-console has to be served by the host of the API, at /v2, behind a proxy that logs people in", s.fullname())
		return
	}
	if http, ok := services[doorHTTP]; ok {
		run.Advise("reach the console at http://localhost:8088/console: kubectl -n %s port-forward service/%s 8088:%d", s.namespace, http.service, http.port)
	}
	if grpc, ok := services[doorGRPC]; ok {
		run.Advise("reach the API at dns:///localhost:8089 (insecure): kubectl -n %s port-forward service/%s 8089:%d", s.namespace, grpc.service, grpc.port)
	}
}

// takesTime reports whether an object is ready only some time after it was made.
func takesTime(ref kube.Ref) bool {
	switch ref.Kind {
	case "Deployment", "StatefulSet", "DaemonSet", "Job", "CustomResourceDefinition":
		return true
	}
	return false
}

// crd is the CustomResourceDefinition of workflow executions. Flyte makes it
// itself when it starts, unless the chart is told to.
const crd = "flyteworkflows.flyte.lyft.com"

func (s releaseStep) render(ctx context.Context, _ *planewright.Run) ([]planewright.File, error) {
	release, l, err := s.build(ctx, s.renderInputs())
	if err != nil {
		return nil, err
	}
	objects, err := s.cluster.Releases.Render(ctx, release)
	if errors.Is(err, planewright.ErrUnknown) && s.elsewhere != nil {
		// The cluster is not there yet, and files need none.
		objects, err = s.elsewhere.Render(ctx, release)
	}
	if err != nil {
		return nil, err
	}
	values, err := yaml.Marshal(redactValues(l.merged, s.facts))
	if err != nil {
		return nil, fmt.Errorf("values cannot be written as YAML: %w", err)
	}
	files, err := renderObjects(s.folder("release/manifests"), objects)
	if err != nil {
		return nil, err
	}
	return append([]planewright.File{{Name: s.folder("release/values.yaml"), Data: values}}, files...), nil
}
