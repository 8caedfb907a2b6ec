package flyte

import (
	"fmt"
	"maps"
	"slices"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Resources are amounts of what a container needs or may use, as Kubernetes
// writes them: "500m", "2Gi". What is empty is not set.
type Resources struct {
	CPU, Memory, EphemeralStorage string
}

// IsZero reports whether no amount is set.
func (r Resources) IsZero() bool { return r == Resources{} }

// values returns the amounts under Kubernetes' names.
func (r Resources) values() map[string]any {
	values := map[string]any{}
	for name, amount := range r.byName() {
		if amount != "" {
			values[name] = amount
		}
	}
	return values
}

func (r Resources) byName() map[string]string {
	return map[string]string{"cpu": r.CPU, "memory": r.Memory, "ephemeral-storage": r.EphemeralStorage}
}

func (r Resources) validate(p *planewright.Problems, path string) {
	amounts := r.byName()
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		if amounts[name] == "" {
			continue
		}
		if q, err := resource.ParseQuantity(amounts[name]); err != nil || q.Sign() < 0 {
			p.Add(path+"."+name, amounts[name], "an amount is a Kubernetes quantity that is not negative", `write it like "500m" or "2Gi"`)
		}
	}
}

// validateWithin checks that no request is above its limit.
func (r Resources) validateWithin(p *planewright.Problems, path string, limits Resources) {
	requests, most := r.byName(), limits.byName()
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		request, err1 := resource.ParseQuantity(requests[name])
		limit, err2 := resource.ParseQuantity(most[name])
		if err1 == nil && err2 == nil && request.Cmp(limit) > 0 {
			p.Add(path+".requests."+name, requests[name], "a request is not above its limit, which is "+most[name], "raise the limit or lower the request")
		}
	}
}

// Placement says on which nodes pods may run and how urgent they are. The
// zero value leaves it to the scheduler.
type Placement struct {
	nodeSelector  map[string]string
	tolerations   []Toleration
	priorityClass string
	affinity      kube.Values
}

// NewPlacement leaves everything to the scheduler.
func NewPlacement() Placement { return Placement{} }

// WithNodeLabel runs pods only on nodes that have the label. Several must all match.
func (p Placement) WithNodeLabel(key, value string) Placement {
	p.nodeSelector = maps.Clone(p.nodeSelector)
	if p.nodeSelector == nil {
		p.nodeSelector = map[string]string{}
	}
	p.nodeSelector[key] = value
	return p
}

// WithTolerations adds taints that the pods bear.
func (p Placement) WithTolerations(tolerations ...Toleration) Placement {
	p.tolerations = append(slices.Clip(p.tolerations), tolerations...)
	return p
}

// WithPriorityClass sets the pods' priority class.
func (p Placement) WithPriorityClass(name string) Placement {
	p.priorityClass = name
	return p
}

// WithAffinity sets the pods' affinity, written as in a pod's spec.affinity.
func (p Placement) WithAffinity(affinity kube.Values) Placement {
	p.affinity = kube.Values{}.Merge(affinity)
	return p
}

// Toleration lets pods run on nodes with a taint. The fields are those of a
// pod's spec.tolerations.
type Toleration struct {
	// Key is the taint's; empty stands for all taints.
	Key string
	// Operator is "Equal" (the default) or "Exists".
	Operator string
	// Value is the taint's, with Equal.
	Value string
	// Effect is "NoSchedule", "PreferNoSchedule" or "NoExecute"; empty stands for all.
	Effect string
}

func (t Toleration) values() map[string]any {
	values := map[string]any{}
	for name, value := range map[string]string{"key": t.Key, "operator": t.Operator, "value": t.Value, "effect": t.Effect} {
		if value != "" {
			values[name] = value
		}
	}
	return values
}

// podSpec returns the placement as fields of a pod's spec.
func (p Placement) podSpec() map[string]any {
	spec := map[string]any{}
	if len(p.nodeSelector) > 0 {
		selector := map[string]any{}
		for key, value := range p.nodeSelector {
			selector[key] = value
		}
		spec["nodeSelector"] = selector
	}
	if len(p.tolerations) > 0 {
		list := make([]any, len(p.tolerations))
		for i, t := range p.tolerations {
			list[i] = t.values()
		}
		spec["tolerations"] = list
	}
	if p.priorityClass != "" {
		spec["priorityClassName"] = p.priorityClass
	}
	if len(p.affinity) > 0 {
		spec["affinity"] = map[string]any(p.affinity)
	}
	return spec
}

func (p Placement) validate(problems *planewright.Problems, path string) {
	for _, key := range slices.Sorted(maps.Keys(p.nodeSelector)) {
		errs := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(p.nodeSelector[key])...)
		if len(errs) > 0 {
			problems.Add(path+".nodeLabels", key+"="+p.nodeSelector[key], "a label is a qualified name and a value of at most 63 letters, digits and any of - _ .", "use a label of your nodes")
		}
	}
	for i, t := range p.tolerations {
		at := fmt.Sprintf("%s.tolerations[%d]", path, i)
		switch {
		case t.Operator != "" && t.Operator != "Equal" && t.Operator != "Exists":
			problems.Add(at+".operator", t.Operator, "an operator is Equal or Exists", "leave it out for Equal")
		case t.Operator == "Exists" && t.Value != "":
			problems.Add(at+".value", t.Value, "Exists looks at the key alone", "leave the value out, or use Equal")
		case t.Key == "" && t.Operator != "Exists":
			problems.Add(at+".key", "", "a toleration without a key bears every taint, and only with Exists", "name the taint's key")
		}
		if t.Effect != "" && !slices.Contains([]string{"NoSchedule", "PreferNoSchedule", "NoExecute"}, t.Effect) {
			problems.Add(at+".effect", t.Effect, "an effect is NoSchedule, PreferNoSchedule or NoExecute", "leave it out for all of them")
		}
	}
	if p.priorityClass != "" && len(validation.IsDNS1123Subdomain(p.priorityClass)) > 0 {
		problems.Add(path+".priorityClass", p.priorityClass, "a priority class is named by a DNS subdomain", "use the name of a PriorityClass of the cluster")
	}
	if _, err := copyValues(p.affinity); err != nil {
		problems.Add(path+".affinity", "", "an affinity is maps, lists and scalars: "+err.Error(), "write it as in a pod's spec.affinity")
	}
	for _, key := range slices.Sorted(maps.Keys(p.affinity)) {
		if !slices.Contains([]string{"nodeAffinity", "podAffinity", "podAntiAffinity"}, key) {
			problems.Add(path+".affinity."+key, "", "an affinity has nodeAffinity, podAffinity and podAntiAffinity", "write it as in a pod's spec.affinity")
		}
	}
}
