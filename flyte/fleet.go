package flyte

import (
	"context"
	"slices"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/kube"
)

// fleet is a valid deployment in planes on its Env.
type fleet struct {
	Deployment
	env        Env
	control    binding
	planes     []binding
	identities provisions
}

// onPlanes is On for a deployment in planes. Both are valid.
func (d Deployment) onPlanes(stack planewright.Stack, env Env) planewright.Stack {
	f := fleet{Deployment: d, env: env}
	var err error
	d.control.catalog.provider = d.cloudOf(env)
	if f.Deployment, f.identities, err = d.provisionPlanes(env); err != nil {
		return stack.WithError(err)
	}
	var p planewright.Problems
	if f.validateSameIdentities(&p); p.Err(d.spec()) != nil {
		return stack.WithError(p.Err(d.spec()))
	}
	f.bind()
	locker, inventory := env.locker, env.inventory
	if locker == nil {
		locker = kube.NewLeaseLocker(f.control.cluster, d.namespace, "planewright-flyte-"+d.name)
	}
	if inventory == nil {
		inventory = kube.NewInventory(f.control.cluster, d.namespace, "planewright-flyte-"+d.name)
	}
	return stack.
		WithSteps(env.afterClusters(f.steps())...).
		WithProbes(f.probes()...).
		WithLocker(locker).
		WithInventory(inventory, f.prune)
}

// cloudOf is the cloud of the control plane's cluster, or else of the storage.
func (d Deployment) cloudOf(env Env) cloud.Provider {
	if where, ok := env.clouds[d.control.cluster]; ok {
		return where.Account.Provider
	}
	switch {
	case d.storage.on(cloud.AWS):
		return cloud.AWS
	case d.storage.on(cloud.GCP):
		return cloud.GCP
	}
	return ""
}

// bind puts each release on its cluster.
func (f *fleet) bind() {
	for i, view := range f.views() {
		b := bind(view.Deployment, f.env, f.id()+"/"+view.id, view.recipe, secretKeys{corePasswordKey, coreStorageKey})
		if i == 0 {
			f.control = b
			continue
		}
		b.holdsLock, b.elsewhere = false, f.control.cluster.Releases
		f.planes = append(f.planes, b)
	}
	if f.Deployment.control.catalog.balanced && len(f.planes) > 0 {
		address := planewright.NewOutput[string](f.control.step("catalog"), "address")
		for i := range f.planes {
			f.planes[i].catalogAddress = address
		}
	}
	if len(f.planes) == 0 {
		return
	}
	f.control.credentialsRevision = planewright.NewOutput[string](f.control.step("credentials"), "revision")
	f.control.endpoints = map[string]planewright.Output[string]{}
	for i, plane := range f.dataplanes {
		f.control.endpoints[plane.name] = planewright.NewOutput[string](f.planes[i].step("access"), "endpoint")
	}
}

// access is the step that gives flyteadmin access to the i-th data plane.
func (f fleet) access(i int) accessStep {
	id := f.planes[i].step("access")
	return accessStep{
		binding: f.planes[i], plane: f.dataplanes[i], where: f.env.clouds[f.dataplanes[i].cluster], dialer: f.env.dialer,
		endpoint:    f.control.endpoints[f.dataplanes[i].name],
		credentials: planewright.NewOutput[clusterCredentials](id, "credentials"),
	}
}

// steps are, for a deployment called ml:
//
//	identities, the control plane's namespace and the catalog's load balancer;
//	then for each data plane its namespace, Secrets, release and token;
//	then the credentials, the control plane's Secrets and its release;
//	then projects and labels.
func (f fleet) steps() []planewright.Step {
	steps := slices.Clone(f.identities.steps)
	namespace := namespaceStep{f.control}.step()
	steps = append(steps, namespace)
	var catalog []string
	if address := f.catalogAddress(); address.Step() != "" {
		step := catalogStep{f.control, address}.step()
		steps, catalog = append(steps, step), []string{step.ID}
	}
	credentials := credentialsStep{binding: f.control, revision: f.control.credentialsRevision}
	needs := []string{namespace.ID}
	for i := range f.planes {
		planeSteps, access := f.planeSteps(i, slices.Concat(catalog, f.waveBefore(i)))
		steps = append(steps, planeSteps...)
		needs = append(needs, planeSteps[len(planeSteps)-1].ID)
		credentials.planes = append(credentials.planes, access)
	}
	control := f.control
	before := f.succession()
	if before != nil {
		control.host = before.host
	}
	release := f.releaseSteps(control, namespace.ID, f.identities.needs[""])
	f.verifyAlso(&release[len(release)-1])
	if len(f.planes) > 0 {
		step := credentials.step(needs)
		steps = append(steps, step)
		last := &release[len(release)-1]
		last.Needs = append(slices.Clip(last.Needs), step.ID)
	}
	if before != nil {
		return f.succeed(*before, steps, release)
	}
	last := release[len(release)-1].ID
	steps = control.withIngress(append(steps, release...), last)
	return append(steps, f.adminSteps(last)...)
}

// succeed puts the steps in between by which the control plane's release takes
// a predecessor's place.
func (f fleet) succeed(before predecessor, steps, release []planewright.Step) []planewright.Step {
	last := &release[len(release)-1]
	stop := before.stop(slices.Clone(last.Needs))
	for _, plane := range f.planes {
		stop.Needs = append(stop.Needs, plane.step("access"))
	}
	last.Needs = append(slices.Clip(last.Needs), stop.ID)
	uninstall := before.uninstall(last.ID)
	host := before.takeHost(f.control, uninstall.ID)
	steps = append(append(steps, release[:len(release)-1]...), stop, *last, uninstall, host)
	steps = f.control.withIngress(steps, host.ID)
	return append(steps, f.adminSteps(host.ID)...)
}

// verifyAlso has the verification of the control plane's release look at what
// it does in the other clusters.
func (f fleet) verifyAlso(release *planewright.Step) {
	verify := release.Verify
	release.Verify = func(ctx context.Context, run *planewright.Run) ([]planewright.Finding, error) {
		findings, err := verify(ctx, run)
		if err != nil {
			return nil, err
		}
		namespaces, err := f.verifyNamespaces(ctx)
		return append(findings, namespaces...), err
	}
}

func (f fleet) catalogAddress() planewright.Output[string] {
	if len(f.planes) == 0 {
		return planewright.Output[string]{}
	}
	return f.planes[0].catalogAddress
}

// waveBefore are the releases of the wave before that of the i-th data plane.
func (f fleet) waveBefore(i int) []string {
	if len(f.waves) == 0 {
		return nil
	}
	var before []string
	start, wave := 0, 0
	for {
		end := start + f.waves[min(wave, len(f.waves)-1)]
		if i < end {
			return before
		}
		before = nil
		for j := start; j < min(end, len(f.planes)); j++ {
			before = append(before, f.planes[j].step("release"))
		}
		start, wave = end, wave+1
	}
}

// planeSteps are the steps of the i-th data plane. Its release waits for the
// steps before. The last one gives flyteadmin access.
func (f fleet) planeSteps(i int, before []string) ([]planewright.Step, accessStep) {
	b := f.planes[i]
	namespace := namespaceStep{b}.step()
	steps := []planewright.Step{namespace}
	needs := append(slices.Clone(before), f.identities.needs[f.dataplanes[i].name]...)
	steps = append(steps, f.releaseSteps(b, namespace.ID, needs)...)
	access := f.access(i)
	// The release makes the ServiceAccount that the token is of.
	return append(steps, access.step([]string{steps[len(steps)-1].ID})), access
}

// releaseSteps are a release, which comes last, and its Secrets.
func (f fleet) releaseSteps(b binding, namespace string, needs []string) []planewright.Step {
	needs = append([]string{namespace}, needs...)
	var steps []planewright.Step
	for _, secret := range b.secrets() {
		step := secret.step()
		steps = append(steps, step)
		needs = append(needs, step.ID)
	}
	return append(steps, releaseStep{b}.step(needs))
}

// probes ask every cluster and every cloud.
func (f fleet) probes() []planewright.Probe {
	probes := f.control.probes()
	for _, b := range f.planes {
		probes = append(probes, b.probes()...)
	}
	probes = append(probes, f.identities.probes...)
	probes = append(probes, f.presupposedProbes()...)
	if f.Deployment.control.catalog.isZero() && len(f.planes) > 0 {
		probes = append(probes, planewright.Probe{ID: f.control.step("preflight/catalog"), Run: func(context.Context, *planewright.Run) ([]planewright.Finding, error) {
			return []planewright.Finding{{Severity: planewright.SeverityWarning, Code: CodeNoCatalog,
				Cause: "data planes do not reach the catalog of cached results, so their tasks run without a cache",
				Fix:   "use ControlPlane.WithCatalog"}}, nil
		}})
	}
	return probes
}

// prune makes the step that takes away what an inventory entry names.
func (f fleet) prune(entry planewright.InventoryEntry) (planewright.Step, bool) {
	if len(entry.Objects) > 0 && entry.Objects[0].APIVersion == labelAPIVersion {
		if f.env.noAdmin {
			return planewright.Step{}, false
		}
		return adminStep{f.control, f.env.admin, f.control.settled}.pruneLabels(entry), true
	}
	return f.control.prune(f.env)(entry)
}

// presupposedProbes ask for what the deployment needs and does not make.
func (f fleet) presupposedProbes() []planewright.Probe {
	probes := f.control.presupposed(f.env)
	for _, b := range f.planes {
		if where, ok := f.env.clouds[b.Deployment.cluster]; ok && where.Account.Clusters != nil {
			probes = append(probes, cloud.ProbeCluster(b.step("preflight/cloud-cluster"), where))
		}
	}
	return probes
}
