package flyte

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
)

// minimumMinor is the oldest Kubernetes 1.x whose server-side apply is stable.
const minimumMinor = 22

// probes are the questions that are asked before anything is planned.
func (b binding) probes() []planewright.Probe {
	probe := func(name string, run func(context.Context, *planewright.Run) ([]planewright.Finding, error)) planewright.Probe {
		return planewright.Probe{ID: b.step("preflight/" + name), Cluster: b.cluster.Name, Run: run}
	}
	probes := []planewright.Probe{
		probe("server", b.probeServer),
		probe("nodes", b.probeNodes),
		probe("permissions", b.probePermissions),
		probe("other-flyte", b.probeOtherFlyte),
	}
	if len(b.secretRefs()) > 0 {
		probes = append(probes, probe("secrets", b.probeSecrets))
	}
	if _, ingress := b.recipe.entrance(); !ingress.isZero() {
		probes = append(probes, probe("ingress", b.probeIngress))
	}
	if b.monitoring.set {
		probes = append(probes, probe("monitoring", b.probeMonitoring))
	}
	if len(b.pluginsHere()) > 0 && b.recipe.executes() {
		probes = append(probes, probe("plugins", b.probePlugins))
	}
	if !b.auth.IsZero() && b.asksPeople() {
		probes = append(probes, probe("auth", b.probeAuth))
	}
	return append(probes, b.identities.Probes...)
}

func (b binding) probeServer(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	version, err := b.cluster.Facts.Version(ctx)
	if err != nil {
		return nil, err
	}
	if version.Major > 1 || version.Major == 1 && version.Minor >= minimumMinor {
		return nil, nil
	}
	return []planewright.Finding{{
		Severity: planewright.SeverityError, Code: CodeServerVersion,
		Cause: fmt.Sprintf("the API server of cluster %s is %s; objects are written by server-side apply, which is stable from 1.%d on", b.cluster.Name, version.Git, minimumMinor),
		Fix:   "upgrade the cluster",
	}}, nil
}

// probeNodes looks for a node that Flyte can run on. Taints and what is free
// are the scheduler's business.
func (b binding) probeNodes(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	nodes, err := b.cluster.Facts.Nodes(ctx)
	if errors.Is(err, planewright.ErrDenied) {
		return []planewright.Finding{{
			Severity: planewright.SeverityUnprobed, Code: CodeNodes,
			Cause: "the nodes may not be listed: " + err.Error(),
		}}, nil
	}
	if err != nil {
		return nil, err
	}
	reasons := map[string][]string{}
	var order []string
	for _, n := range nodes {
		reason := b.unusable(n)
		if reason == "" {
			return nil, nil
		}
		if reasons[reason] == nil {
			order = append(order, reason)
		}
		reasons[reason] = append(reasons[reason], n.Name)
	}
	causes := []string{fmt.Sprintf("cluster %s has no nodes", b.cluster.Name)}
	if len(nodes) > 0 {
		causes = causes[:0]
		for _, reason := range order {
			causes = append(causes, fmt.Sprintf("%s: %s", joinAnd(reasons[reason]), reason))
		}
	}
	return []planewright.Finding{{
		Severity: planewright.SeverityError, Code: CodeNodes,
		Cause: "no node can run Flyte: " + strings.Join(causes, "; "),
		Fix:   "add a node, or make one of these usable",
	}}, nil
}

// unusable says why Flyte cannot run on a node, empty if it can.
func (b binding) unusable(n kube.Node) string {
	switch {
	case n.OS != "" && n.OS != "linux":
		return "its system is " + n.OS
	case len(b.facts.Architectures) > 0 && !slices.Contains(b.facts.Architectures, n.Architecture):
		return fmt.Sprintf("its architecture is %s; the images are published for %s", n.Architecture, joinAnd(b.facts.Architectures))
	case !n.Ready:
		return "it is not ready"
	case !n.Schedulable:
		return "it is cordoned"
	}
	for key, value := range b.placement.nodeSelector {
		if n.Labels[key] != value {
			return fmt.Sprintf("it lacks the label %s=%s that the placement asks for", key, value)
		}
	}
	return ""
}

// accesses are the permissions that installing takes.
func (b binding) accesses() []kube.Access {
	var accesses []kube.Access
	add := func(namespace, group, resource string, verbs ...string) {
		for _, verb := range verbs {
			accesses = append(accesses, kube.Access{Verb: verb, Group: group, Resource: resource, Namespace: namespace})
		}
	}
	all := []string{"get", "list", "create", "update", "patch", "delete"}
	add("", "", "namespaces", "get", "create")
	add(b.namespace, "", "secrets", all...)
	add(b.namespace, "", "configmaps", all...)
	add(b.namespace, "", "serviceaccounts", all...)
	add(b.namespace, "", "services", all...)
	add(b.namespace, "", "pods", "list")
	add(b.namespace, "apps", "deployments", append([]string{"watch"}, all...)...)
	add(b.namespace, "coordination.k8s.io", "leases", "get", "create", "update", "delete")
	if _, ingress := b.recipe.entrance(); !ingress.isZero() {
		add(b.namespace, "networking.k8s.io", "ingresses", append([]string{"watch"}, all...)...)
	}
	add("", "rbac.authorization.k8s.io", "clusterroles", all...)
	add("", "rbac.authorization.k8s.io", "clusterrolebindings", all...)
	return accesses
}

// probePermissions asks one question first: who may do everything needs no
// more. Everybody else is told all that is missing at once.
func (b binding) probePermissions(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	denied, err := b.cluster.Facts.Denied(ctx, kube.Access{Verb: "*", Group: "*", Resource: "*"})
	if err != nil || len(denied) == 0 {
		return nil, err
	}
	denied, err = b.cluster.Facts.Denied(ctx, b.accesses()...)
	if err != nil {
		return nil, err
	}
	type target struct{ group, resource, namespace string }
	var order []target
	verbs := map[target][]string{}
	for _, a := range denied {
		t := target{a.Group, a.Resource, a.Namespace}
		if verbs[t] == nil {
			order = append(order, t)
		}
		verbs[t] = append(verbs[t], a.Verb)
	}
	var findings []planewright.Finding
	for _, t := range order {
		access := kube.Access{Verb: joinAnd(verbs[t]), Group: t.group, Resource: t.resource, Namespace: t.namespace}
		findings = append(findings, planewright.Finding{
			Severity: planewright.SeverityError, Code: CodeDenied,
			Cause: fmt.Sprintf("the credentials for cluster %s may not %s", b.cluster.Name, access),
			Fix:   "grant it by a Role or ClusterRole, or use other credentials",
		})
	}
	return findings, nil
}

// checked is what a step's check found. Where the answer was that a
// permission is missing, and the preflight says so too, the step is blocked, and the
// preflight's findings tell all that is missing at once.
func (b binding) checked(ctx context.Context, run *planewright.Run, change planewright.Change, err error) (planewright.Change, error) {
	if !errors.Is(err, planewright.ErrDenied) {
		return change, err
	}
	if missing, probeErr := b.probePermissions(ctx, run); probeErr != nil || len(missing) == 0 {
		return change, err
	}
	return planewright.Change{Action: planewright.ActionBlocked, Reason: err.Error(), Fingerprint: "denied"}, nil
}

// probeOtherFlyte looks for a Flyte in another namespace: each one runs the
// workflows of all namespaces.
func (b binding) probeOtherFlyte(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	list, err := b.cluster.Objects.List(ctx, kube.ListRequest{APIVersion: "apps/v1", Kind: "Deployment",
		Labels: "app.kubernetes.io/name in (flyte-binary, flytepropeller)"})
	if errors.Is(err, planewright.ErrDenied) {
		return []planewright.Finding{{
			Severity: planewright.SeverityUnprobed, Code: CodeOtherFlyte,
			Cause: "whether another namespace has a Flyte may not be asked: " + err.Error(),
		}}, nil
	}
	if err != nil {
		return nil, err
	}
	var findings []planewright.Finding
	for _, obj := range list {
		if obj.GetNamespace() == b.namespace {
			continue
		}
		object := kube.RefOf(obj).In(b.cluster.Name)
		findings = append(findings, planewright.Finding{
			Severity: planewright.SeverityWarning, Code: CodeOtherFlyte, Object: &object,
			Cause: "another Flyte runs in this cluster, and each takes up the workflows of all namespaces",
			Fix:   "keep one Flyte in a cluster, or limit each to namespaces of its own (configuration.inline.propeller.limit-namespace)",
		})
	}
	return findings, nil
}

// secretRef is an existing Secret that the deployment refers to.
type secretRef struct {
	// key must be there; empty asks for the Secret alone.
	name, key, use string
}

func (b binding) secretRefs() []secretRef {
	var refs []secretRef
	if ref, ok := b.database.password.InCluster(); ok {
		refs = append(refs, secretRef{ref.SecretName, ref.Key, "the database's password"})
	}
	if b.storage.keysSecret != "" {
		refs = append(refs, secretRef{b.storage.keysSecret, "", "the storage's keys"})
	}
	for _, name := range b.pullSecrets {
		refs = append(refs, secretRef{name, "", "pulling images"})
	}
	return refs
}

func (b binding) probeSecrets(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	var findings []planewright.Finding
	for _, r := range b.secretRefs() {
		ref := kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: b.namespace, Name: r.name}
		object := ref.In(b.cluster.Name)
		missing := planewright.Finding{Severity: planewright.SeverityError, Code: CodeSecretMissing, Object: &object}
		live, err := b.cluster.Objects.Get(ctx, ref)
		switch {
		case errors.Is(err, planewright.ErrNotFound):
			missing.Cause = "the Secret for " + r.use + " does not exist"
			missing.Fix = "create it before the install"
			findings = append(findings, missing)
		case errors.Is(err, planewright.ErrDenied):
			missing.Severity = planewright.SeverityUnprobed
			missing.Cause = "the Secret for " + r.use + " may not be read: " + err.Error()
			findings = append(findings, missing)
		case err != nil:
			return nil, err
		case r.key != "":
			keys := keysOf(live.Object["data"])
			if !slices.Contains(keys, r.key) {
				missing.Cause = fmt.Sprintf("the Secret for %s has no key %s", r.use, r.key)
				missing.Fix = "add the key, or refer to one that is there"
				if len(keys) > 0 {
					missing.Fix += ": " + joinOr(keys)
				}
				findings = append(findings, missing)
			}
		}
	}
	return findings, nil
}

// keysOf returns the keys of a map, sorted.
func keysOf(value any) []string {
	m, _ := asMap(value)
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
