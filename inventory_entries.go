package planewright

import (
	"cmp"
	"reflect"
	"slices"
)

// desiredInventory is what a stack wants remembered: every step that owns something.
func desiredInventory(s Stack) []InventoryEntry {
	var entries []InventoryEntry
	for _, step := range s.steps {
		if len(step.Objects) > 0 {
			entries = append(entries, InventoryEntry{Step: step.ID, Objects: step.Objects})
		}
	}
	return mergeInventory(nil, entries)
}

// orphaned returns what is in loaded and no longer in desired: whole steps,
// and single objects of steps that still exist.
func orphaned(loaded, desired []InventoryEntry) []InventoryEntry {
	wanted := map[Object]bool{}
	for _, e := range desired {
		for _, o := range e.Objects {
			wanted[o] = true
		}
	}
	var orphans []InventoryEntry
	for _, e := range loaded {
		left := slices.DeleteFunc(slices.Clone(e.Objects), func(o Object) bool { return wanted[o] })
		if len(left) > 0 {
			orphans = append(orphans, InventoryEntry{Step: e.Step, Objects: left})
		}
	}
	return orphans
}

// mergeInventory returns the entries of both, sorted by step, each object once.
func mergeInventory(a, b []InventoryEntry) []InventoryEntry {
	objects := map[string][]Object{}
	for _, e := range slices.Concat(a, b) {
		for _, o := range e.Objects {
			if !slices.Contains(objects[e.Step], o) {
				objects[e.Step] = append(objects[e.Step], o)
			}
		}
	}
	merged := make([]InventoryEntry, 0, len(objects))
	for step, list := range objects {
		merged = append(merged, InventoryEntry{Step: step, Objects: list})
	}
	slices.SortFunc(merged, func(a, b InventoryEntry) int { return cmp.Compare(a.Step, b.Step) })
	return merged
}

func equalInventory(a, b []InventoryEntry) bool {
	a, b = mergeInventory(nil, a), mergeInventory(nil, b)
	return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b)
}
