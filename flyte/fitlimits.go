package flyte

import (
	"fmt"
	"maps"
	"slices"

	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/api/resource"
)

// fitLimits raises limits that are below requests, where the deployment does
// not set them itself: the overlay for Google Cloud asks for more than the
// chart's own limits allow, which an API server refuses, and so does whoever
// raises the requests of a component alone.
func fitLimits(v *layer, overlay, defaults kube.Values) {
	merged := defaults.Merge(overlay).Merge(v.values)
	for _, component := range allComponents() {
		facts, _ := component.facts()
		requests := amounts(merged, facts.key+".resources.requests")
		limits := amounts(merged, facts.key+".resources.limits")
		own := amounts(v.values, facts.key+".resources.limits")
		for _, name := range slices.Sorted(maps.Keys(limits)) {
			if _, said := own[name]; said {
				continue
			}
			request, err := resource.ParseQuantity(requests[name])
			limit, limitErr := resource.ParseQuantity(limits[name])
			if err == nil && limitErr == nil && request.Cmp(limit) > 0 {
				v.set(facts.key+".resources.limits."+name, requests[name])
			}
		}
	}
}

// amounts are the amounts at a path, by their resources.
func amounts(values kube.Values, path string) map[string]string {
	value, _ := values.Get(path)
	m, _ := asMap(value)
	list := map[string]string{}
	for name, amount := range m {
		if amount != nil {
			list[name] = fmt.Sprint(amount)
		}
	}
	return list
}
