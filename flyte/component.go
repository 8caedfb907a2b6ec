package flyte

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
)

// Component is one of the processes that the chart flyte-core runs Flyte as.
type Component string

// The components. The first five belong to a control plane, the others to
// where workflows run: a data plane, or a control plane that runs workflows too.
const (
	FlyteAdmin     Component = "flyteadmin"
	DataCatalog    Component = "datacatalog"
	FlyteConsole   Component = "flyteconsole"
	FlyteScheduler Component = "flytescheduler"
	// SyncResources makes projects' namespaces on every cluster.
	SyncResources  Component = "syncresources"
	FlytePropeller Component = "flytepropeller"
	// PodWebhook gives tasks their secrets.
	PodWebhook Component = "flyte-pod-webhook"
)

// componentFacts is what the chart lets one component have.
type componentFacts struct {
	// key is the component's key among the chart's values.
	key string
	// replicas, tolerations, affinity and priority tell whether the chart has such a value.
	replicas, tolerations, affinity, priority bool
	executes                                  bool
}

func (c Component) facts() (componentFacts, bool) {
	facts := map[Component]componentFacts{
		FlyteAdmin:     {"flyteadmin", true, true, true, true, false},
		DataCatalog:    {"datacatalog", true, true, true, true, false},
		FlyteConsole:   {"flyteconsole", true, true, true, true, false},
		FlyteScheduler: {"flytescheduler", false, true, true, true, false},
		SyncResources:  {"cluster_resource_manager", false, false, false, false, false},
		FlytePropeller: {"flytepropeller", true, true, true, true, true},
		PodWebhook:     {"webhook", false, false, true, true, true},
	}
	f, ok := facts[c]
	return f, ok
}

// components returns all components, those of a control plane first.
func allComponents() []Component {
	return []Component{FlyteAdmin, DataCatalog, FlyteConsole, FlyteScheduler, SyncResources, FlytePropeller, PodWebhook}
}

// Pods is how the pods of a component run. What is not said is as in the
// chart, on its overlay for the cloud.
type Pods struct {
	replicas         int
	requests, limits Resources
	placement        Placement
}

// NewPods leaves everything as in the chart.
func NewPods() Pods { return Pods{} }

// WithReplicas sets how many pods there are. Zero leaves it to the chart: two
// on AWS, one on Google Cloud. Flyte's scheduler, syncresources and webhook have one always.
func (p Pods) WithReplicas(replicas int) Pods {
	p.replicas = replicas
	return p
}

// WithResources sets what each container needs and what it may use. An amount
// that is empty is as in the chart.
func (p Pods) WithResources(requests, limits Resources) Pods {
	p.requests, p.limits = requests, limits
	return p
}

// WithPlacement says on which nodes the pods may run. The chart's overlays
// keep pods of one component on nodes of their own; an affinity of the same
// kind takes the place of theirs.
func (p Pods) WithPlacement(placement Placement) Pods {
	p.placement = placement
	return p
}

// set writes the component's values.
func (p Pods) set(v *layer, component Component, overlay kube.Values) {
	facts, ok := component.facts()
	if !ok {
		return
	}
	if p.replicas > 0 {
		v.set(facts.key+".replicaCount", int64(p.replicas))
	}
	if !p.requests.IsZero() {
		v.set(facts.key+".resources.requests", p.requests.values())
	}
	if !p.limits.IsZero() {
		v.set(facts.key+".resources.limits", p.limits.values())
	}
	for field, value := range p.placement.podSpec() {
		if kinds, ok := asMap(value); ok && field == "affinity" {
			had, _ := overlay.Get(facts.key + ".affinity")
			value = replacing(kinds, had)
		}
		v.set(facts.key+"."+field, value)
	}
}

// replacing returns the affinity so that each kind in it takes the place of
// the overlay's, instead of being merged into it.
func replacing(affinity map[string]any, overlay any) map[string]any {
	out := maps.Clone(affinity)
	had, _ := asMap(overlay)
	for kind, value := range affinity {
		rules, ok := asMap(value)
		below, had := asMap(had[kind])
		if !ok || !had {
			continue
		}
		rules = maps.Clone(rules)
		for rule := range below {
			if _, set := rules[rule]; !set {
				rules[rule] = nil
			}
		}
		out[kind] = rules
	}
	return out
}

func (p Pods) validate(problems *planewright.Problems, path string, component Component) {
	facts, _ := component.facts()
	if p.replicas < 0 || p.replicas > 1 && !facts.replicas {
		rule := "there is a number of pods, which is not negative"
		if !facts.replicas {
			rule = fmt.Sprintf("the chart runs one pod of %s", component)
		}
		problems.Add(path+".replicas", fmt.Sprint(p.replicas), rule, "leave it out")
	}
	p.requests.validate(problems, path+".resources.requests")
	p.limits.validate(problems, path+".resources.limits")
	p.requests.validateWithin(problems, path+".resources", p.limits)
	p.placement.validate(problems, path+".placement")
	for _, has := range []struct {
		name     string
		set, may bool
	}{
		{"tolerations", len(p.placement.tolerations) > 0, facts.tolerations},
		{"affinity", len(p.placement.affinity) > 0, facts.affinity},
		{"priorityClass", p.placement.priorityClass != "", facts.priority},
	} {
		if has.set && !has.may {
			problems.Add(path+".placement."+has.name, "", fmt.Sprintf("the chart has no such value for %s", component), "leave it out; node labels work")
		}
	}
}

// pods are the settings of components.
type pods map[Component]Pods

// with returns the settings with one more.
func (p pods) with(component Component, settings Pods) pods {
	p = maps.Clone(p)
	if p == nil {
		p = pods{}
	}
	p[component] = settings
	return p
}

// sorted returns the components that have settings, in a stable order.
func (p pods) sorted() []Component {
	return slices.SortedFunc(maps.Keys(p), cmp.Compare[Component])
}

func (p pods) validate(problems *planewright.Problems, path string, may func(componentFacts) bool, here string) {
	for _, component := range p.sorted() {
		facts, ok := component.facts()
		at := path + ".pods." + string(component)
		if !ok || !may(facts) {
			problems.Add(at, string(component), here+" has no such component", "use one of "+joinOr(componentNames(may)))
			continue
		}
		p[component].validate(problems, at, component)
	}
}

func componentNames(may func(componentFacts) bool) []string {
	var names []string
	for _, c := range allComponents() {
		if facts, _ := c.facts(); may(facts) {
			names = append(names, string(c))
		}
	}
	return names
}
