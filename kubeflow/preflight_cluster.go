package kubeflow

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// architecturesOfNodes are the architectures of the nodes of the workload cluster that take pods, sorted.
func (b binding) architecturesOfNodes(ctx context.Context) ([]string, error) {
	nodes, err := b.workload.Facts.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	var have []string
	for _, n := range nodes {
		if n.Ready && n.Schedulable && !slices.Contains(have, n.Architecture) {
			have = append(have, n.Architecture)
		}
	}
	slices.Sort(have)
	return have, nil
}

// probeNodes compares the nodes' architectures with what the operators support.
func (b binding) probeNodes(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	have, err := b.architecturesOfNodes(ctx)
	if err != nil {
		return nil, err
	}
	var findings []planewright.Finding
	for _, c := range b.Components() {
		o := b.operator(c)
		if f := o.architectures(have); f != nil {
			findings = append(findings, *f)
		}
	}
	return findings, nil
}

// architectures says what is wrong with the nodes' architectures, nil if nothing is.
func (o operatorBinding) architectures(have []string) *planewright.Finding {
	var supported, conditional []string
	var hint string
	for _, s := range o.Supports {
		if s.CSV != o.CSV {
			continue
		}
		if value, set := o.operand.raw().Get(s.Setting); s.Setting == "" || set && value == s.Value {
			supported = append(supported, s.Architectures...)
			continue
		}
		conditional = append(conditional, s.Architectures...)
		hint = fmt.Sprintf("set %s to %v by WithValues", s.Setting, s.Value)
	}
	if len(supported) == 0 || len(have) == 0 {
		return nil
	}
	var missing []string
	for _, a := range have {
		if !slices.Contains(supported, a) {
			missing = append(missing, a)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	f := &planewright.Finding{Severity: planewright.SeverityError, Code: CodeArchitecture,
		Cause: fmt.Sprintf("%s runs on %s, and the nodes are %s", o.CSV, joinOr(supported), joinOr(have)), Fix: "add nodes that fit, or leave the component out"}
	if len(missing) < len(have) {
		f.Severity = planewright.SeverityWarning
		f.Fix = fmt.Sprintf("keep the operator on %s by WithNodeLabel(%q, %q), and the component's pods by its values", joinOr(supported), "kubernetes.io/arch", supported[0])
	}
	if hint != "" && !slices.ContainsFunc(missing, func(a string) bool { return !slices.Contains(conditional, a) }) {
		f.Fix = hint
	}
	return f
}

// istioRange is which versions of Kubernetes 1.x a version of Istio supports.
type istioRange struct {
	istio       string
	first, last int
}

func istioRanges() []istioRange { return []istioRange{{"1.28", 30, 34}, {"1.30", 32, 36}} }

func (b binding) probeVersion(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	version, err := b.workload.Facts.Version(ctx)
	if err != nil {
		return nil, err
	}
	var findings []planewright.Finding
	have := strings.TrimPrefix(version.Git, "v")
	for _, c := range b.Components() {
		o, _ := b.release.Operator(c)
		if o.Kubernetes != "" && newerThan(o.Kubernetes, have) {
			findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodeServerVersion,
				Cause: fmt.Sprintf("the API server is %s, and %s needs %s", version.Git, o.CSV, o.Kubernetes), Fix: "upgrade the cluster, or leave the component out"})
		}
	}
	if b.mesh.v1 {
		return findings, nil
	}
	istio, err := b.workload.Objects.Get(ctx, meshStep{b}.ref())
	if err != nil {
		return findings, ignoreMissing(err)
	}
	for _, r := range istioRanges() {
		if strings.HasPrefix(textAt(istio.Object, "spec", "version"), "v"+r.istio+".") && (version.Minor < r.first || version.Minor > r.last) {
			object := kube.RefOf(istio).In(b.workload.Name)
			findings = append(findings, planewright.Finding{Severity: planewright.SeverityWarning, Code: CodeServerVersion, Object: &object,
				Cause: fmt.Sprintf("Istio %s supports Kubernetes 1.%d to 1.%d, and the API server is %s", r.istio, r.first, r.last, version.Git), Fix: "upgrade the one that is behind"})
		}
	}
	return findings, nil
}

// probeStorage looks for the storage class that databases will ask for.
func (b binding) probeStorage(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	classes, err := b.workload.Facts.StorageClasses(ctx)
	if err != nil {
		return nil, err
	}
	var names, defaults []string
	for _, c := range classes {
		names = append(names, c.Name)
		if c.Default {
			defaults = append(defaults, c.Name)
		}
	}
	var findings []planewright.Finding
	switch {
	case len(defaults) == 0 && !namesStorageClass(b.base.raw()):
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodeStorageClass,
			Cause: "cluster " + b.workload.Name + " has no default storage class, and the base's values name none; its database would wait for a volume for ever",
			Fix:   "make one the default, or set the base's key for it (pgStorageClass) by WithValues" + choice(names)})
	case len(defaults) > 1:
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityWarning, Code: CodeStorageClass,
			Cause: "several storage classes are the default: " + strings.Join(defaults, ", "), Fix: "keep one"})
	}
	for _, r := range b.registries {
		var cause string
		switch {
		case r.class == "" && len(defaults) == 0:
			cause = "names no storage class, and the cluster has no default"
		case r.class != "" && !slices.Contains(names, r.class):
			cause = "asks for the storage class " + r.class + ", which does not exist"
		default:
			continue
		}
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodeStorageClass,
			Cause: fmt.Sprintf("model registry %s %s", r.path(), cause), Fix: "use WithStorage with one that does" + choice(names)})
	}
	return findings, nil
}

func choice(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; there are " + strings.Join(names, ", ")
}

// namesStorageClass reports whether any key of the values is about a storage class.
func namesStorageClass(values map[string]any) bool {
	for key, value := range values {
		if strings.HasSuffix(strings.ToLower(key), "storageclass") {
			return true
		}
		if m, ok := value.(map[string]any); ok && namesStorageClass(m) {
			return true
		}
	}
	return false
}

func (b binding) probeMesh(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	v2, err := b.workload.Objects.List(ctx, kube.ListRequest{APIVersion: "sailoperator.io/v1", Kind: "Istio"})
	if ignoreMissing(err) != nil {
		return nil, err
	}
	v1, err := b.global.Objects.List(ctx, kube.ListRequest{APIVersion: "asm.alauda.io/v1alpha1", Kind: "ServiceMesh", Namespace: DefaultCatalogNamespace})
	if ignoreMissing(err) != nil {
		return nil, err
	}
	hasV1 := slices.ContainsFunc(v1, func(m *unstructured.Unstructured) bool {
		return textAt(m.Object, "spec", "cluster") == b.workload.Name || m.GetName() == b.workload.Name
	})
	var findings []planewright.Finding
	if hasV1 && len(v2) > 0 {
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodeMesh,
			Cause: "cluster " + b.workload.Name + " has a service mesh of version 1 and one of version 2; they exclude each other", Fix: "uninstall version 1"})
	}
	if b.mesh.v1 {
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityWarning, Code: CodeMeshDeprecated,
			Cause: "service mesh version 1 is deprecated", Fix: "move to version 2, and use ServiceMeshV2"})
		return findings, nil
	}
	webhooks, err := b.legacyWebhooks(ctx)
	if err != nil || b.mesh.deleteWebhooks {
		return findings, err
	}
	for _, w := range webhooks {
		object := kube.RefOf(w.obj).In(b.workload.Name)
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityWarning, Code: CodeMeshWebhook, Object: &object,
			Cause: "it leads to istiod-" + w.revision + " of service mesh version 1, and can keep people from logging in",
			Fix:   fmt.Sprintf("kubectl delete %s %s, or have it done by WithLegacyWebhooksDeleted", strings.ToLower(w.obj.GetKind()), w.obj.GetName())})
	}
	return findings, nil
}
