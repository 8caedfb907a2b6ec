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
	for _, sub := range r.all(olm, "Subscription") {
		if sub.GetDeletionTimestamp() == nil {
			r.subscription(sub)
		}
	}
}

func (r *round) subscription(sub *object) {
	name := textAt(sub.Object, "spec", "name")
	pkg, ok := r.offered(name)
	installed := textAt(sub.Object, "status", "installedCSV")
	if installed != "" && r.get(olm, "ClusterServiceVersion", sub.GetNamespace(), installed) == nil {
		current := textAt(sub.Object, "status", "currentCSV")
		if r.get(olm, "ClusterServiceVersion", sub.GetNamespace(), current) == nil {
			return // deleted by hand; OLM does not make it again
		}
		installed = current // it has replaced the other one
	}
	fail := func(kind, reason, message string) {
		r.setStatus(sub, map[string]any{"conditions": []any{condition(kind, true, reason, message)}})
	}
	switch fault := r.fault(name); {
	case fault == CatalogUnhealthy:
		fail("CatalogSourcesUnhealthy", "UnhealthyCatalogSourceFound", "targeted catalogsource "+platformNamespace+"/platform unhealthy")
		return
	case fault == ResolutionFailed && installed == "":
		fail("ResolutionFailed", "ConstraintsNotSatisfiable", "constraints not satisfiable: bundle "+name+" requires an operator with package: other")
		return
	case fault == BundleUnpackFailed && installed == "":
		fail("BundleUnpackFailed", "BundleUnpackFailed", "bundle unpacking failed. Reason: ImagePullBackOff, and Message: Back-off pulling image registry.acme.example/"+name+"-bundle:v1")
		return
	case fault == NoPlan:
		r.setStatus(sub, map[string]any{"conditions": []any{condition("CatalogSourcesUnhealthy", false, "AllCatalogSourcesHealthy", "")}})
		return
	}
	target := textAt(sub.Object, "spec", "startingCSV")
	if installed != "" {
		target = pkg.next(installed)
	} else if target == "" && ok {
		target = pkg.head().CSV
	}
	if _, known := pkg.version(target); !known && installed == "" {
		fail("ResolutionFailed", "ConstraintsNotSatisfiable", fmt.Sprintf("constraints not satisfiable: no operators found with name %s in channel %s of package %s in the catalog referenced by subscription %s",
			target, textAt(sub.Object, "spec", "channel"), name, sub.GetName()))
		return
	}
	status := map[string]any{"conditions": []any{condition("CatalogSourcesUnhealthy", false, "AllCatalogSourcesHealthy", "")}}
	if target == "" {
		status["currentCSV"], status["installedCSV"], status["state"] = installed, installed, "AtLatestKnown"
		if ref, ok := sub.Object["status"].(map[string]any)["installPlanRef"]; ok {
			status["installPlanRef"] = ref
		}
		r.setStatus(sub, status)
		return
	}
	plan := r.installPlan(sub, target)
	if plan == nil || plan.GetUID() == "" {
		return
	}
	status["currentCSV"], status["state"] = target, "UpgradePending"
	if installed != "" {
		status["installedCSV"] = installed
	}
	status["installPlanRef"] = map[string]any{"name": plan.GetName(), "namespace": plan.GetNamespace(), "uid": string(plan.GetUID())}
	status["conditions"] = append(status["conditions"].([]any), condition("InstallPlanPending", true, "RequiresApproval", ""))
	if csv := r.get(olm, "ClusterServiceVersion", sub.GetNamespace(), target); csv != nil && textAt(plan.Object, "status", "phase") == "Complete" {
		status["installedCSV"], status["state"] = target, "AtLatestKnown"
		status["conditions"] = status["conditions"].([]any)[:1]
	}
	r.setStatus(sub, status)
}

// installPlan makes the plan that installs a version.
func (r *round) installPlan(sub *object, target string) *object {
	sum := sha256.Sum256([]byte(string(sub.GetUID()) + target))
	names := []any{target}
	if r.fault(textAt(sub.Object, "spec", "name")) == ForeignPlan {
		names = append(names, "other-operator.v9.9.9")
	}
	plan := newObject("operators.coreos.com/v1alpha1", "InstallPlan", sub.GetNamespace(), "install-"+hex.EncodeToString(sum[:])[:5], map[string]any{
		"spec": map[string]any{"approval": textAt(sub.Object, "spec", "installPlanApproval"), "generation": 1,
			"approved": textAt(sub.Object, "spec", "installPlanApproval") == "Automatic", "clusterServiceVersionNames": names}})
	return r.ensure(ownedBy(plan, sub))
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
