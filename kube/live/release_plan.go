package live

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// defaultPendingAge is how old a pending release of somebody else's must be
// before it may be recovered.
const defaultPendingAge = 15 * time.Minute

// wholeObject stands for an object that appears or goes as a whole.
const wholeObject = "(object)"

// Plan implements [kube.Releases].
func (r *releases) Plan(ctx context.Context, rel kube.Release) (kube.ReleasePlan, error) {
	ctx = r.c.quiet(ctx)
	l, err := r.lookAt(ctx, rel)
	if err == nil {
		err = tooBig(l)
	}
	if err != nil {
		return kube.ReleasePlan{}, r.fail(ctx, "plan", rel.Namespace, rel.Name, err)
	}
	return l.plan(ctx)
}

// plan tells what Apply would do.
func (l *look) plan(ctx context.Context) (kube.ReleasePlan, error) {
	p := kube.ReleasePlan{Action: planewright.ActionNone, Objects: l.desired, Drift: len(l.drift) > 0, Fingerprint: l.fingerprint()}
	if l.rec != nil {
		s := l.rec.head()
		for _, obj := range l.recorded {
			s.Objects = append(s.Objects, kube.RefOf(obj))
		}
		p.State = &s
	}
	var reasons []string
	switch {
	case l.rec == nil:
		p.Action = planewright.ActionCreate
	case l.fresh():
		p.Action = planewright.ActionCreate
		reasons = append(reasons, "it was uninstalled with its history kept")
	default:
		hooks, err := l.hookDiff(ctx)
		if err != nil {
			return p, err
		}
		manifest := slices.Concat(l.manifestDiff(&p), hooks)
		if len(manifest) == 0 {
			// Only where they change nothing else are they worth telling.
			manifest = l.valuesDiff()
		}
		p.Diff = slices.Concat(l.chartDiff(), manifest, l.drift)
		if len(p.Diff) > 0 {
			p.Action = planewright.ActionUpdate
		}
		if l.rec.Info.Status != statusDeployed {
			p.Action = planewright.ActionUpdate
			reasons = append(reasons, l.statusReason())
		}
	}
	if p.Action == planewright.ActionCreate {
		for _, obj := range l.desired {
			p.Diff = append(p.Diff, planewright.FieldDiff{Path: kube.RefOf(obj).String(), After: wholeObject})
		}
	}
	if len(l.foreign) > 0 || l.otherOwner() {
		p.Action = planewright.ActionAdopt
		reasons = append(reasons, l.adoptReason())
	}
	p.Reason = strings.Join(reasons, "; ")
	return p, nil
}

func (l *look) statusReason() string {
	if l.rec.pending() {
		return fmt.Sprintf("recovering revision %d, which was left %s", l.rec.Revision, l.rec.Info.Status)
	}
	return fmt.Sprintf("revision %d is %s", l.rec.Revision, l.rec.Info.Status)
}

func (l *look) otherOwner() bool {
	return !l.fresh() && l.rel.Owner != "" && l.rec.labels[ownerLabel] != ownerValue(l.rel.Owner)
}

func (l *look) adoptReason() string {
	var whose []string
	if l.otherOwner() {
		whose = append(whose, "the release itself")
	}
	for _, o := range l.foreign {
		whose = append(whose, o.Ref.String()+" of "+o.Owner)
	}
	return "adopting " + strings.Join(whose, ", ")
}

func (l *look) chartDiff() []planewright.FieldDiff {
	was := l.rec.Chart.Metadata
	if was.Name == l.rel.Chart.Name() && was.Version == l.rel.Chart.Version() {
		return nil
	}
	return []planewright.FieldDiff{{
		Path: "chart", Before: was.Name + " " + was.Version, After: l.rel.Chart.Name() + " " + l.rel.Chart.Version(),
	}}
}

// valuesDiff tells which values differ, and not in what: values may hold secrets,
// and what they change shows in the objects.
func (l *look) valuesDiff() []planewright.FieldDiff {
	if l.made == nil {
		return nil // the record's digest covers them
	}
	d := differ{secret: func(string) bool { return true }}
	d.compare("values", asJSON(l.rec.Config), asJSON(l.rel.Values.Merge(nil)))
	slices.SortFunc(d.found, func(a, b planewright.FieldDiff) int { return strings.Compare(a.Path, b.Path) })
	return d.found
}

// asJSON brings values into the form in which a record holds them.
func asJSON(values map[string]any) any {
	data, err := json.Marshal(values)
	if err != nil {
		return values
	}
	var plain map[string]any
	if json.Unmarshal(data, &plain) != nil || len(plain) == 0 {
		return nil
	}
	return plain
}

// manifestDiff compares the rendered objects with the recorded ones, and notes
// in the plan which would be deleted.
func (l *look) manifestDiff(p *kube.ReleasePlan) []planewright.FieldDiff {
	if l.made == nil || l.made.manifest == l.rec.Manifest {
		return nil
	}
	diffs, dropped := objectDiffs(l.recorded, l.desired, "")
	for _, obj := range dropped {
		if !isKept(obj) {
			p.Deletes = append(p.Deletes, kube.RefOf(obj))
		}
	}
	return diffs
}

func (l *look) hookDiff(ctx context.Context) ([]planewright.FieldDiff, error) {
	if l.made == nil {
		return nil, nil
	}
	var recorded strings.Builder
	for _, h := range l.rec.Hooks {
		recorded.WriteString("\n---\n" + h.Manifest)
	}
	was, err := parseManifest(recorded.String())
	if err != nil {
		return nil, fmt.Errorf("hooks of revision %d: %w", l.rec.Revision, err)
	}
	is, err := parseManifest(hookManifest(l.made.hooks))
	if err != nil {
		return nil, chartError(l.rel.Chart, err)
	}
	for _, obj := range slices.Concat(was, is) {
		if err := l.scopes.place(ctx, obj, l.rel.Namespace); err != nil {
			return nil, err
		}
	}
	diffs, _ := objectDiffs(was, is, " (hook)")
	return diffs, nil
}

func hookManifest(hooks []*release.Hook) string {
	var all strings.Builder
	for _, h := range hooks {
		all.WriteString("\n---\n" + h.Manifest)
	}
	return all.String()
}

// objectDiffs compares objects by name, in the order of the new ones. It returns
// also those that are only among the old ones.
func objectDiffs(was, is []*unstructured.Unstructured, mark string) (diffs []planewright.FieldDiff, dropped []*unstructured.Unstructured) {
	old := make(map[kube.Ref]*unstructured.Unstructured, len(was))
	for _, obj := range was {
		old[kube.RefOf(obj)] = obj
	}
	stays := make(map[kube.Ref]bool, len(is))
	for _, obj := range is {
		ref := kube.RefOf(obj)
		stays[ref] = true
		before := old[ref]
		if before == nil {
			diffs = append(diffs, planewright.FieldDiff{Path: ref.String() + mark, After: wholeObject})
			continue
		}
		for _, d := range fieldDiffs(before.Object, obj.Object, ref) {
			d.Path = ref.String() + mark + ": " + d.Path
			diffs = append(diffs, d)
		}
	}
	for _, obj := range was {
		if ref := kube.RefOf(obj); !stays[ref] {
			dropped = append(dropped, obj)
			diffs = append(diffs, planewright.FieldDiff{Path: ref.String() + mark, Before: wholeObject})
		}
	}
	return diffs, dropped
}

// fingerprint stands for the record and the live objects that were seen.
func (l *look) fingerprint() string {
	sum := sha256.New()
	if l.rec != nil {
		fmt.Fprintf(sum, "%s %s %d %s\n", l.rec.uid, l.rec.version, l.rec.Revision, l.rec.Info.Status)
	}
	slices.Sort(l.seen)
	for _, s := range l.seen {
		fmt.Fprintln(sum, s)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
