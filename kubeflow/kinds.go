package kubeflow

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
)

// tellKinds adds to the change of an upgrade what it changes in the operator's
// kinds: definitions that come, go or get another version, keys that their
// description or example gains or loses, and defaults that change.
func (s csvStep) tellKinds(ctx context.Context, change *planewright.Change, installed kube.Ref, offered offer) error {
	if offered.kinds == nil {
		change.Reason += fmt.Sprintf("; the catalog describes %s alone, so what changes in custom resources is known once the operator is there", offered.newest)
		return nil
	}
	csv, err := s.workload.Objects.Get(ctx, installed)
	if err != nil {
		return ignoreMissing(err)
	}
	had := customsOf(mapAt(csv.Object, "spec", "customresourcedefinitions"), mapAt(csv.Object, "metadata", "annotations"))
	change.Diff = append(change.Diff, kindsDiff(had, offered.kinds)...)
	return nil
}

// kindsDiff compares the kinds of two versions of an operator.
func kindsDiff(had, has []custom) []planewright.FieldDiff {
	find := func(list []custom, crd string) custom {
		if i := slices.IndexFunc(list, func(c custom) bool { return c.crd == crd }); i >= 0 {
			return list[i]
		}
		return custom{}
	}
	var names []string
	for _, c := range slices.Concat(had, has) {
		names = append(names, c.crd)
	}
	slices.Sort(names)
	var diff []planewright.FieldDiff
	add := func(path, before, after string) {
		if before != after {
			diff = append(diff, planewright.FieldDiff{Path: path, Before: before, After: after})
		}
	}
	for _, crd := range slices.Compact(names) {
		before, after := find(had, crd), find(has, crd)
		add("definition "+crd, before.apiVersion, after.apiVersion)
		if before.crd == "" || after.crd == "" {
			continue
		}
		old, now := before.keys(), after.keys()
		for _, key := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(sortedKeys(old), sortedKeys(now))))) {
			add(after.kind+": spec."+key, old[key], now[key])
		}
	}
	return diff
}

// keys are the keys of the spec that a kind's description or its example has,
// with the example's value or, where there is none, what people are shown.
func (c custom) keys() map[string]string {
	keys := map[string]string{}
	for _, d := range c.descriptors {
		keys[d.path] = d.displayName
	}
	for _, leaf := range leaves("", c.example) {
		keys[strings.TrimPrefix(leaf.Path, ".")] = leaf.After
	}
	return keys
}
