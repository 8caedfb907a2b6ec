package kubeflow

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
)

const leaderWorkerSets = "leaderworkersets.leaderworkerset.x-k8s.io"

// probeLeaderWorkerSet looks whether the trainer's second scheduler of pods is there.
func (b binding) probeLeaderWorkerSet(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	missing := func(cause string) []planewright.Finding {
		return []planewright.Finding{{Severity: planewright.SeverityError, Code: CodeLeaderWorkerSet, Cause: cause,
			Fix: "switch it on in Alauda AI: spec.components.lws.managementState: Managed in AmlCluster default, and wait until it is there"}}
	}
	crd, err := b.workload.Objects.Get(ctx, definitionRef(leaderWorkerSets))
	if errors.Is(err, planewright.ErrNotFound) {
		return missing("the trainer needs LeaderWorkerSet, and its definition " + leaderWorkerSets + " is not in the cluster"), nil
	}
	if err != nil {
		return nil, err
	}
	if !isTrue(crd, "Established") {
		return missing("the definition " + leaderWorkerSets + " is not established"), nil
	}
	aml, err := b.platformCluster(ctx)
	if err != nil {
		return nil, err
	}
	if aml != nil {
		if state := textAt(aml.Object, "spec", "components", "lws", "managementState"); state != "" && state != "Managed" {
			return missing("Alauda AI does not manage LeaderWorkerSet: its managementState is " + state), nil
		}
	}
	down, err := b.leaderWorkerSetDown(ctx)
	if err != nil || down == "" {
		return nil, err
	}
	return missing(down), nil
}

// leaderWorkerSetDown says that LeaderWorkerSet's controller does not run, empty
// if it does. Where it runs is not published, so it is looked for by its name.
func (b binding) leaderWorkerSetDown(ctx context.Context) (string, error) {
	list, err := b.workload.Objects.List(ctx, kube.ListRequest{APIVersion: "apps/v1", Kind: "Deployment"})
	if err != nil {
		return "", err
	}
	for _, d := range list {
		if have, want := replicas(d); d.GetName() == "lws-controller-manager" && have < want {
			return fmt.Sprintf("the controller of LeaderWorkerSet does not run: %s has %d of %d replicas", kube.RefOf(d), have, want), nil
		}
	}
	return "", nil
}

// probeJobSet looks for a JobSet of another operator before the trainer brings its own.
func (b binding) probeJobSet(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	if b.trainer.jobSet != nil && !*b.trainer.jobSet {
		return nil, nil
	}
	sub, err := b.operator(ComponentTrainer).subscribed(ctx)
	if err != nil || sub != nil {
		return nil, err // what is there may be the trainer's
	}
	kinds, err := definitions(ctx, b.workload, "jobset")
	if err != nil || len(kinds) == 0 {
		return nil, err
	}
	return []planewright.Finding{{Severity: planewright.SeverityError, Code: CodeJobSet,
		Cause: "JobSet is in the cluster already (" + kinds[0].name + "), and the trainer would bring a second one; their webhooks fight",
		Fix:   "use WithJobSet(false), or uninstall the other one"}}, nil
}

// firstWithPatches is the first trainer whose jobs have the field that newer versions of Kueue set.
const firstWithPatches = "2.2.0"

func (b binding) probeKueue(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	o, _ := b.release.Operator(ComponentTrainer)
	if !newerThan(firstWithPatches, version(o.CSV)) {
		return nil, nil
	}
	kinds, err := definitions(ctx, b.workload, "clusterqueue")
	if err != nil || len(kinds) == 0 {
		return nil, err
	}
	return []planewright.Finding{{Severity: planewright.SeverityWarning, Code: CodeKueue,
		Cause: fmt.Sprintf("Kueue is in the cluster; newer versions of it expect trainer %s and leave jobs of %s suspended for ever", firstWithPatches, o.CSV),
		Fix:   "try a TrainJob in a queue; if it stays suspended, keep Kueue at the version that was tested with this trainer"}}, nil
}

// accesses are the permissions that installing takes in the workload cluster.
func (b binding) accesses() []kube.Access {
	var accesses []kube.Access
	add := func(namespace, group, resource string, verbs ...string) {
		for _, verb := range verbs {
			accesses = append(accesses, kube.Access{Verb: verb, Group: group, Resource: resource, Namespace: namespace})
		}
	}
	all := []string{"get", "list", "watch", "create", "update", "patch", "delete"}
	add("", "", "namespaces", "get", "list", "watch", "create")
	add("", "apiextensions.k8s.io", "customresourcedefinitions", "get", "list", "watch")
	add("", "apps", "deployments", "get", "list", "watch")
	add("", "apps", "statefulsets", "get", "list", "watch")
	add("", "packages.operators.coreos.com", "packagemanifests", "get", "list")
	add("", "operators.coreos.com", "subscriptions", "list")
	for _, c := range b.Components() {
		namespace := b.operatorNamespace(c)
		add(namespace, "operators.coreos.com", "operatorgroups", "get", "list", "create", "patch", "delete")
		add(namespace, "operators.coreos.com", "subscriptions", all...)
		add(namespace, "operators.coreos.com", "installplans", "get", "list", "watch", "patch")
		add(namespace, "operators.coreos.com", "clusterserviceversions", "get", "list", "watch", "delete")
	}
	namespace := b.operatorNamespace(ComponentBase)
	add(namespace, "", "configmaps", "get", "create", "patch", "delete")
	add(namespace, "coordination.k8s.io", "leases", "get", "create", "update", "delete")
	if !b.mesh.v1 {
		add("", "sailoperator.io", "istios", "get", "list", "watch", "update")
	}
	if len(b.profiles) > 0 {
		add("", "kubeflow.org", "profiles", "get", "list", "create", "patch")
	}
	for _, namespace := range b.tenantNamespaces() {
		add(namespace, rbacGroup, "rolebindings", all...)
		add(namespace, "security.istio.io", "authorizationpolicies", all...)
	}
	return accesses
}

func (b binding) tenantNamespaces() []string {
	var names []string
	for _, p := range b.profiles {
		if len(p.Bindings()) > 0 {
			names = append(names, p.name)
		}
	}
	for _, n := range b.bindings {
		names = append(names, n.namespace)
	}
	return names
}

// probePermissions asks one question first: who may do everything needs no
// more. Everybody else is told all that is missing at once.
func (b binding) probePermissions(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	findings, err := deniedOn(ctx, b.workload, b.accesses())
	if err != nil || b.global.Name == b.workload.Name {
		return findings, err
	}
	global := []kube.Access{
		{Verb: "get", Group: "product.alauda.io", Resource: "productbases"},
		{Verb: "get", Resource: "secrets", Namespace: DefaultCatalogNamespace},
	}
	if b.manageURL {
		global = append(global, kube.Access{Verb: "update", Group: "product.alauda.io", Resource: "productbases"},
			kube.Access{Verb: "watch", Resource: "secrets", Namespace: DefaultCatalogNamespace})
	}
	if b.mesh.v1 {
		for _, verb := range []string{"get", "list", "update"} {
			global = append(global, kube.Access{Verb: verb, Group: "asm.alauda.io", Resource: "servicemeshes", Namespace: DefaultCatalogNamespace})
		}
	}
	more, err := deniedOn(ctx, b.global, global)
	return append(findings, more...), err
}

// deniedOn are findings of the accesses that the credentials for a cluster do not have.
func deniedOn(ctx context.Context, cluster kube.Cluster, accesses []kube.Access) ([]planewright.Finding, error) {
	denied, err := cluster.Facts.Denied(ctx, kube.Access{Verb: "*", Group: "*", Resource: "*"})
	if err != nil || len(denied) == 0 {
		return nil, err
	}
	if denied, err = cluster.Facts.Denied(ctx, accesses...); err != nil {
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
		access := kube.Access{Verb: strings.Join(verbs[t], ", "), Group: t.group, Resource: t.resource, Namespace: t.namespace}
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodeDenied,
			Cause: fmt.Sprintf("the credentials for cluster %s may not %s", cluster.Name, access), Fix: "grant it by a Role or ClusterRole, or use other credentials"})
	}
	return findings, nil
}
