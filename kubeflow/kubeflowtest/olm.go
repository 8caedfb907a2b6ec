package kubeflowtest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
)

const olm = "operators.coreos.com"

// catalog shows what is offered.
func (r *round) catalog() {
	if !r.serves("packagemanifests.packages." + olm) {
		return
	}
	for _, p := range r.packages {
		wanted := newObject("packages.operators.coreos.com/v1", "PackageManifest", platformNamespace, p.Name, map[string]any{"status": p.manifestStatus()})
		have := r.ensure(wanted)
		if have != nil && !reflect.DeepEqual(have.Object["status"], wanted.Object["status"]) {
			have.Object["status"] = wanted.Object["status"]
			r.update(have)
		}
	}
}

// offered finds a package of the catalog.
func (r *round) offered(name string) (Package, bool) {
	i := slices.IndexFunc(r.packages, func(p Package) bool { return p.Name == name })
	if i < 0 {
		return Package{}, false
	}
	return r.packages[i], true
}

// subscriptions resolves what is subscribed to, and makes install plans.
func (r *round) subscriptions() {
	pending := map[string][]resolved{}
	for _, sub := range r.all(olm, "Subscription") {
		if sub.GetDeletionTimestamp() != nil {
			continue
		}
		if s, ok := r.resolve(sub); ok {
			pending[sub.GetNamespace()] = append(pending[sub.GetNamespace()], s)
		}
	}
	for _, ns := range sorted(pending) {
		r.plan(ns, pending[ns])
	}
}

// resolved is a Subscription that is to get a version.
type resolved struct {
	sub               *object
	installed, target string
}

// resolve finds the version that a Subscription is to get. There is none if the
// Subscription fails, or has what there is; its status then says so.
func (r *round) resolve(sub *object) (resolved, bool) {
	name := textAt(sub.Object, "spec", "name")
	pkg, ok := r.offered(name)
	installed := textAt(sub.Object, "status", "installedCSV")
	if installed != "" && r.get(olm, "ClusterServiceVersion", sub.GetNamespace(), installed) == nil {
		current := textAt(sub.Object, "status", "currentCSV")
		if r.get(olm, "ClusterServiceVersion", sub.GetNamespace(), current) == nil {
			return resolved{}, false // deleted by hand; OLM does not make it again
		}
		installed = current // it has replaced the other one
	}
	if r.failed(sub, installed) {
		return resolved{}, false
	}
	target := textAt(sub.Object, "spec", "startingCSV")
	switch {
	case r.fault(name) == OldPlan && installed == "":
		target = name + ".v0.0.1"
	case installed != "":
		target = pkg.next(installed)
	case target == "" && ok:
		target = pkg.head().CSV
	}
	if _, known := pkg.version(target); !known && installed == "" && r.fault(name) != OldPlan {
		r.setStatus(sub, failure("ResolutionFailed", "ConstraintsNotSatisfiable", fmt.Sprintf("constraints not satisfiable: no operators found with name %s in channel %s of package %s in the catalog referenced by subscription %s",
			target, textAt(sub.Object, "spec", "channel"), name, sub.GetName())))
		return resolved{}, false
	}
	if target == "" {
		status := subscriptionStatus(installed, installed, "AtLatestKnown")
		if ref, ok := sub.Object["status"].(map[string]any)["installPlanRef"]; ok {
			status["installPlanRef"] = ref
		}
		r.setStatus(sub, status)
		return resolved{}, false
	}
	return resolved{sub, installed, target}, true
}

// failed says what stands in the way of a Subscription.
func (r *round) failed(sub *object, installed string) bool {
	name := textAt(sub.Object, "spec", "name")
	var status map[string]any
	switch fault := r.fault(name); {
	case fault == CatalogUnhealthy:
		status = failure("CatalogSourcesUnhealthy", "UnhealthyCatalogSourceFound", "targeted catalogsource "+platformNamespace+"/platform unhealthy")
	case fault == ResolutionFailed && installed == "":
		status = failure("ResolutionFailed", "ConstraintsNotSatisfiable", "constraints not satisfiable: bundle "+name+" requires an operator with package: other")
	case fault == OtherCatalogFailed && installed == "":
		status = failure("ResolutionFailed", "ErrorPreventedResolution", `failed to populate resolver cache from source partners/other-namespace: failed to list bundles: rpc error: code = Unavailable`)
	case fault == BundleUnpackFailed && installed == "":
		status = failure("BundleUnpackFailed", "BundleUnpackFailed", "bundle unpacking failed. Reason: ImagePullBackOff, and Message: Back-off pulling image registry.acme.example/"+name+"-bundle:v1")
	case fault == NoPlan:
		status = map[string]any{"conditions": []any{healthyCatalogs()}}
	default:
		return false
	}
	r.setStatus(sub, status)
	return true
}

func healthyCatalogs() map[string]any {
	return condition("CatalogSourcesUnhealthy", false, "AllCatalogSourcesHealthy", "")
}

// failure is the status of a Subscription with a condition that says why it gets no further.
func failure(kind, reason, message string) map[string]any {
	return map[string]any{"conditions": []any{condition(kind, true, reason, message)}}
}

func subscriptionStatus(installed, current, state string) map[string]any {
	status := map[string]any{"currentCSV": current, "state": state, "conditions": []any{healthyCatalogs()}}
	if installed != "" {
		status["installedCSV"] = installed
	}
	return status
}

// plan makes one install plan for all Subscriptions of a namespace that are to
// get a version: whoever approves it approves it for all of them.
func (r *round) plan(namespace string, pending []resolved) {
	plan := r.installPlan(namespace, pending)
	if plan == nil || plan.GetUID() == "" {
		return
	}
	for _, s := range pending {
		status := subscriptionStatus(s.installed, s.target, "UpgradePending")
		status["installPlanRef"] = map[string]any{"name": plan.GetName(), "namespace": plan.GetNamespace(), "uid": string(plan.GetUID())}
		if csv := r.get(olm, "ClusterServiceVersion", namespace, s.target); csv != nil && textAt(plan.Object, "status", "phase") == "Complete" {
			status["installedCSV"], status["state"] = s.target, "AtLatestKnown"
		} else {
			status["conditions"] = append(status["conditions"].([]any), condition("InstallPlanPending", true, "RequiresApproval", ""))
		}
		r.setStatus(s.sub, status)
	}
}

// installPlan makes the plan that installs versions. It is Manual if one of the
// Subscriptions is. An earlier plan stays as it is.
func (r *round) installPlan(namespace string, pending []resolved) *object {
	var seed string
	var names []any
	approval := "Automatic"
	for _, s := range pending {
		seed += string(s.sub.GetUID()) + s.target
		names = append(names, s.target)
		name := textAt(s.sub.Object, "spec", "name")
		if r.fault(name) == ForeignPlan {
			names = append(names, "other-operator.v9.9.9")
		}
		if textAt(s.sub.Object, "spec", "installPlanApproval") == "Manual" {
			approval = "Manual"
		}
	}
	sum := sha256.Sum256([]byte(seed))
	plan := newObject("operators.coreos.com/v1alpha1", "InstallPlan", namespace, "install-"+hex.EncodeToString(sum[:])[:5], map[string]any{
		"spec": map[string]any{"approval": approval, "generation": 1, "approved": approval == "Automatic", "clusterServiceVersionNames": names}})
	for _, s := range pending {
		plan = ownedBy(plan, s.sub)
	}
	return r.ensure(plan)
}

// installPlans carries out the plans that are approved.
func (r *round) installPlans() {
	for _, plan := range r.all(olm, "InstallPlan") {
		phase := textAt(plan.Object, "status", "phase")
		approved, _ := plan.Object["spec"].(map[string]any)["approved"].(bool)
		switch {
		case phase == "":
			r.setStatus(plan, map[string]any{"phase": "RequiresApproval"})
		case phase == "RequiresApproval" && approved:
			r.setStatus(plan, map[string]any{"phase": "Installing"})
		case phase == "Installing":
			r.install(plan)
		}
	}
}

func (r *round) install(plan *object) {
	for _, name := range textsAt(plan.Object, "spec", "clusterServiceVersionNames") {
		for _, p := range r.packages {
			v, ok := p.version(name)
			if !ok {
				continue
			}
			if r.fault(p.Name) == PlanFailed {
				r.setStatus(plan, map[string]any{"phase": "Failed", "conditions": []any{condition("Installed", false, "InstallComponentFailed", "couldn't find unpacked step")}})
				return
			}
			for _, k := range v.Kinds {
				r.ensure(definition(OperatorGroup, OperatorVersion, k.Kind, k.plural(), true, true))
			}
			csv := newObject("operators.coreos.com/v1alpha1", "ClusterServiceVersion", plan.GetNamespace(), v.CSV, map[string]any{"spec": map[string]any{
				"version": v.number(), "customresourcedefinitions": v.definitions(),
				"install": map[string]any{"strategy": "deployment", "spec": map[string]any{"deployments": []any{map[string]any{"name": p.Name}}}},
			}})
			csv.SetAnnotations(map[string]string{"alm-examples": v.examples()})
			csv.SetLabels(map[string]string{"operators.coreos.com/" + p.Name + "." + plan.GetNamespace(): "", "operatorframework.io/arch.amd64": "supported"})
			if r.ensure(csv) == nil {
				return
			}
			for _, other := range p.Versions {
				if old := r.get(olm, "ClusterServiceVersion", plan.GetNamespace(), other.CSV); old != nil && other.CSV != v.CSV {
					r.remove(old)
				}
			}
		}
	}
	r.setStatus(plan, map[string]any{"phase": "Complete", "conditions": []any{condition("Installed", true, "InstallSucceeded", "")}})
}

// operators brings CSVs up.
func (r *round) operators() {
	for _, csv := range r.all(olm, "ClusterServiceVersion") {
		if csv.GetDeletionTimestamp() == nil {
			r.operator(csv)
		}
	}
}

func (r *round) operator(csv *object) {
	pkg, ok := r.packageOf(csv.GetName())
	if !ok {
		return
	}
	set := func(phase, reason, message string, more map[string]any) {
		status := map[string]any{"phase": phase, "reason": reason, "message": message}
		for key, value := range more {
			status[key] = value
		}
		r.setStatus(csv, status)
	}
	groups := slices.DeleteFunc(r.all(olm, "OperatorGroup"), func(g *object) bool { return g.GetNamespace() != csv.GetNamespace() })
	switch fault := r.fault(pkg.Name); {
	case len(groups) == 0:
		set("Failed", "NoOperatorGroup", "csv in namespace with no operatorgroups", nil)
		return
	case len(groups) > 1:
		set("Failed", "TooManyOperatorGroups", "csv created in namespace with multiple operatorgroups, can't pick one automatically", nil)
		return
	case fault == RequirementsNotMet:
		set("Pending", "RequirementsNotMet", "one or more requirements couldn't be found", map[string]any{"requirementStatus": []any{
			map[string]any{"kind": "ServiceAccount", "name": "controller-manager", "status": "NotPresent"}}})
		return
	case fault == CSVFailed:
		set("Failed", "InstallCheckFailed", "install timeout", nil)
		return
	}
	image := "registry.acme.example/" + pkg.Name + ":v1"
	if csv.GetUID() == "" {
		return
	}
	d := r.ensure(ownedBy(deployment(csv.GetNamespace(), pkg.Name, image), csv))
	if d != nil && d.GetUID() != "" && !isOwnedBy(d, csv) {
		d = d.DeepCopy() // it was the version's before, and would go with it
		d.SetOwnerReferences(nil)
		r.update(ownedBy(d, csv))
		return
	}
	if !available(d) || r.fault(pkg.Name) == NeverAvailable {
		set("Installing", "InstallWaiting", "installing: waiting for deployment "+pkg.Name+" to become ready: deployment not available", nil)
		r.waiting = r.fault(pkg.Name) != NeverAvailable
		return
	}
	set("Succeeded", "InstallSucceeded", "install strategy completed with no errors", nil)
}

// packageOf finds the package of a CSV.
func (r *round) packageOf(csv string) (Package, bool) {
	i := slices.IndexFunc(r.packages, func(p Package) bool { _, ok := p.version(csv); return ok })
	if i < 0 {
		return Package{}, false
	}
	return r.packages[i], true
}
